"""Persistent history: transactions as they are recorded, their tables, and what a reader must make of them."""

from __future__ import annotations

from dataclasses import dataclass, field
from sqlite3 import Connection

from .expected import canonical_json
from .model import Attribute
from .objects import Object, World
from .schema import Layout
from .values import column_value, dumped

CHANGE, TRANSACTION, STRING = 16001, 16002, 16003
KINDS = ("insert", "update", "delete")
LAST_WITHOUT_STRINGS = 851
TRANSACTION_TEXTS = {"author": "ZAUTHOR", "bundle": "ZBUNDLEID", "context": "ZCONTEXTNAME", "process": "ZPROCESSID"}


@dataclass
class Change:
    """One object's change; the names of changed properties or the preserved values are those of its kind."""
    kind: str
    entity: str
    key: int
    names: set[str] = field(default_factory=set)
    preserved: dict[str, object] = field(default_factory=dict)
    number: int = 0


@dataclass
class Transaction:
    """What one save did; `texts` may lack some of author, bundle, context and process."""
    number: int
    timestamp: float
    texts: dict[str, str]
    changes: dict[Object, Change] = field(default_factory=dict)


class History:
    """Records the changes of a world's objects, one change for each object in a transaction."""

    def __init__(self, world: World):
        self.world = world
        self.transactions: list[Transaction] = []
        self.last_change = 0
        self.ancillary_hashes = False

    def begin(self, timestamp: float, **texts: str) -> None:
        self.transactions.append(Transaction(len(self.transactions) + 1, timestamp, texts))

    def insert(self, item: Object) -> None:
        self._changes()[item] = Change("insert", item.entity, item.key)

    def update(self, item: Object, *names: str) -> None:
        """Notes changed properties; an object that the same transaction made stays inserted."""
        changes = self._changes()
        change = changes.setdefault(item, Change("update", item.entity, item.key))
        if change.kind == "update":
            item.version += not change.names
            change.names.update(names)

    def delete(self, item: Object) -> None:
        """Notes a deletion, before it is done."""
        changes = self._changes()
        if item in changes and changes.pop(item).kind == "insert":
            return
        changes[item] = Change("delete", item.entity, item.key, preserved={
            name: item.values[name] for name in self.preserved_names(item.entity) if name in item.values})

    def preserved_names(self, entity: str) -> list[str]:
        return [name for name, (_, item) in self.world.declared[entity].items()
                if isinstance(item, Attribute) and item.preserved]

    def number_changes(self) -> None:
        """Gives every change its key, once everything is recorded."""
        for transaction in self.transactions:
            for change in transaction.changes.values():
                self.last_change += 1
                change.number = self.last_change

    def purge(self, count: int) -> None:
        """Forgets the oldest transactions; their keys stay used."""
        del self.transactions[:count]

    def _changes(self) -> dict[Object, Change]:
        return self.transactions[-1].changes


def statements(history: History, framework: int) -> list[str]:
    """The tables and indexes of the framework's generation."""
    slots = 0 if framework <= LAST_WITHOUT_STRINGS else max(
        len(history.preserved_names(entity)) for entity in history.world.model.entities)
    tombstones = "".join(f", ZTOMBSTONE{slot} BLOB" for slot in range(slots))
    changes = ("CREATE TABLE ACHANGE ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZCHANGETYPE INTEGER, "
               "ZENTITY INTEGER, ZENTITYPK INTEGER, ZTRANSACTIONID INTEGER, ZCOLUMNS BLOB"
               f"{tombstones} )")
    numbers = "" if framework <= LAST_WITHOUT_STRINGS else \
        "ZAUTHORTS INTEGER, ZBUNDLEIDTS INTEGER, ZCONTEXTNAMETS INTEGER, ZPROCESSIDTS INTEGER, "
    transactions = ("CREATE TABLE ATRANSACTION ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, "
                    f"{numbers}ZTIMESTAMP FLOAT, ZAUTHOR VARCHAR, ZBUNDLEID VARCHAR, ZCONTEXTNAME VARCHAR, "
                    "ZPROCESSID VARCHAR, ZQUERYGEN BLOB )")
    indexes = ["CREATE INDEX ACHANGE_ZTRANSACTIONID_INDEX ON ACHANGE (ZTRANSACTIONID)"]
    if framework <= LAST_WITHOUT_STRINGS:
        return [changes, transactions, *indexes]
    strings = ("CREATE TABLE ATRANSACTIONSTRING ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, "
               "ZNAME VARCHAR )")
    indexes += [f"CREATE INDEX ATRANSACTION_{column}TS_INDEX ON ATRANSACTION ({column}TS)"
                for column in TRANSACTION_TEXTS.values()]
    return [changes, transactions, strings, *indexes,
            "CREATE INDEX Z_TRANSACTION_TransactionAuthorIndex ON ATRANSACTION (ZAUTHOR COLLATE BINARY ASC)",
            "CREATE INDEX Z_TRANSACTION_TransactionTimestampIndex ON ATRANSACTION (ZTIMESTAMP COLLATE BINARY ASC)",
            "CREATE UNIQUE INDEX Z_TRANSACTIONSTRING_UNIQUE_NAME ON ATRANSACTIONSTRING (ZNAME COLLATE BINARY ASC)"]


def write(history: History, layout: Layout, connection: Connection) -> None:
    """Fills the history tables and their rows in Z_PRIMARYKEY."""
    strings: dict[str, int] = {}
    has_strings = layout.framework > LAST_WITHOUT_STRINGS
    for transaction in history.transactions:
        row = {"Z_PK": transaction.number, "Z_ENT": TRANSACTION, "ZTIMESTAMP": transaction.timestamp}
        for kind, text in transaction.texts.items():
            column = TRANSACTION_TEXTS[kind]
            if has_strings:
                row[column + "TS"] = strings.setdefault(text, len(strings) + 1)
            else:
                row[column] = text
        insert_row(connection, "ATRANSACTION", row)
        for change in transaction.changes.values():
            insert_row(connection, "ACHANGE", _change_row(history, layout, transaction, change))
    for text, number in strings.items():
        insert_row(connection, "ATRANSACTIONSTRING", {"Z_PK": number, "Z_ENT": STRING, "ZNAME": text})
    numbers = [(CHANGE, "CHANGE", 0, history.last_change),
               (TRANSACTION, "TRANSACTION", 0, history.transactions[-1].number)]
    numbers += [(STRING, "TRANSACTIONSTRING", 0, len(strings))] * has_strings
    connection.executemany("INSERT INTO Z_PRIMARYKEY VALUES (?, ?, ?, ?)", numbers)


def _change_row(history: History, layout: Layout, transaction: Transaction, change: Change) -> dict:
    row = {"Z_PK": change.number, "Z_ENT": CHANGE, "ZCHANGETYPE": KINDS.index(change.kind),
           "ZENTITY": layout.numbers[change.entity], "ZENTITYPK": change.key, "ZTRANSACTIONID": transaction.number}
    if change.kind == "update":
        row["ZCOLUMNS"] = column_mask(list(history.world.declared[change.entity]), change.names)
    for slot, name in enumerate(history.preserved_names(change.entity)):
        if name in change.preserved and layout.framework > LAST_WITHOUT_STRINGS:
            attribute = history.world.declared[change.entity][name][1]
            row[f"ZTOMBSTONE{slot}"] = column_value(attribute, change.preserved[name])
    return row


def column_mask(names: list[str], changed: set[str]) -> bytes:
    """A bit for each property by name, the first one the highest bit of the first byte."""
    mask = bytearray(len(names) // 8 + 1)
    for index, name in enumerate(sorted(names)):
        if name in changed:
            mask[index // 8] |= 0x80 >> index % 8
    return bytes(mask)


def insert_row(connection: Connection, table: str, row: dict) -> None:
    marks = ", ".join("?" * len(row))
    connection.execute(f"INSERT INTO {table} ({', '.join(row)}) VALUES ({marks})", list(row.values()))


def expected_history(history: History, framework: int) -> str:
    """One line for each transaction, with what its changes say to a reader."""
    lines = []
    for transaction in history.transactions:
        changes = [_expected_change(history, change, framework) for change in transaction.changes.values()]
        lines.append(canonical_json({"transaction": transaction.number, "timestamp": transaction.timestamp,
                                     **transaction.texts, "changes": changes}) + "\n")
    return "".join(lines)


def _expected_change(history: History, change: Change, framework: int) -> dict:
    found = {"change": change.number, "entity": change.entity, "key": change.key, "type": change.kind}
    if change.kind == "update":
        found["updated"] = sorted(change.names)
    if change.kind == "delete" and framework > LAST_WITHOUT_STRINGS:
        declared = history.world.declared[change.entity]
        found["tombstone"] = {name: dumped(declared[name][1], value) for name, value in change.preserved.items()}
    return found
