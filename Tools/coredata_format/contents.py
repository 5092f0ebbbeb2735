"""The rows of a store as its model reads them: what every check of the judge asks."""

from collections.abc import Iterator
from functools import cached_property

from .layout import Layout, Link, is_stored
from .model import Attribute, Model, Relationship
from .store import Store

HISTORY_ENTITIES = {16001: ("CHANGE", "ACHANGE"), 16002: ("TRANSACTION", "ATRANSACTION"),
                    16003: ("TRANSACTIONSTRING", "ATRANSACTIONSTRING")}
_TRANSACTION_COLUMNS = ("ZAUTHORTS INTEGER, ZBUNDLEIDTS INTEGER, ZCONTEXTNAMETS INTEGER, ZPROCESSIDTS INTEGER, "
                        "ZTIMESTAMP FLOAT, ZAUTHOR VARCHAR, ZBUNDLEID VARCHAR, ZCONTEXTNAME VARCHAR, "
                        "ZPROCESSID VARCHAR, ZQUERYGEN BLOB")
HISTORY_STATEMENTS = [
    "CREATE TABLE ACHANGE ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZCHANGETYPE INTEGER, "
    "ZENTITY INTEGER, ZENTITYPK INTEGER, ZTRANSACTIONID INTEGER, ZCOLUMNS BLOB )",
    f"CREATE TABLE ATRANSACTION ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, {_TRANSACTION_COLUMNS} )",
    "CREATE TABLE ATRANSACTIONSTRING ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZNAME VARCHAR )",
    "CREATE INDEX ACHANGE_ZTRANSACTIONID_INDEX ON ACHANGE (ZTRANSACTIONID)",
    "CREATE INDEX ATRANSACTION_ZAUTHORTS_INDEX ON ATRANSACTION (ZAUTHORTS)",
    "CREATE INDEX ATRANSACTION_ZBUNDLEIDTS_INDEX ON ATRANSACTION (ZBUNDLEIDTS)",
    "CREATE INDEX ATRANSACTION_ZCONTEXTNAMETS_INDEX ON ATRANSACTION (ZCONTEXTNAMETS)",
    "CREATE INDEX ATRANSACTION_ZPROCESSIDTS_INDEX ON ATRANSACTION (ZPROCESSIDTS)",
    "CREATE INDEX Z_TRANSACTION_TransactionAuthorIndex ON ATRANSACTION (ZAUTHOR COLLATE BINARY ASC)",
    "CREATE INDEX Z_TRANSACTION_TransactionTimestampIndex ON ATRANSACTION (ZTIMESTAMP COLLATE BINARY ASC)",
    "CREATE UNIQUE INDEX Z_TRANSACTIONSTRING_UNIQUE_NAME ON ATRANSACTIONSTRING (ZNAME COLLATE BINARY ASC)"]
Row = dict[str, object]


def exact(value) -> tuple:
    """A value with its storage class, so that 1, 1.0 and '1' differ."""
    return type(value).__name__, repr(value) if isinstance(value, float) else value


def shown(value) -> str:
    """A value for a message."""
    if isinstance(value, bytes):
        return f"x'{value[:20].hex()}{'…' if len(value) > 20 else ''}'"
    return "NULL" if value is None else repr(value)


class Contents:
    """A store, its model, where the model's things are, and all rows of the entity tables."""

    def __init__(self, store: Store, model: Model):
        self.store, self.model = store, model
        self.layout = Layout(model, store)
        self.entity_names = {number: name for name, number in self.layout.numbers.items()}

    @cached_property
    def tables(self) -> dict[str, dict[int, Row]]:
        """The rows of each entity table by key."""
        return {table: {row["Z_PK"]: row for row in self.rows(table)} for table in self.layout.table_of_root.values()}

    def rows(self, table: str) -> Iterator[Row]:
        cursor = self.store.rows(f'SELECT * FROM "{table}"')
        names = [column[0] for column in cursor.description]
        return (dict(zip(names, values)) for values in cursor)

    def entity(self, table: str, row: Row) -> str | None:
        """The entity of a row; None where its number is not one of the table's entities."""
        name = self.entity_names.get(row["Z_ENT"]) if isinstance(row["Z_ENT"], int) else None
        return name if name is not None and self.layout.table(name) == table else None

    def objects(self) -> Iterator[tuple[str, str, Row]]:
        """Every object as (entity, table, row)."""
        for table, rows in self.tables.items():
            for row in rows.values():
                entity = self.entity(table, row)
                if entity is not None:
                    yield entity, table, row

    def target(self, destination: str, key) -> Row | None:
        """The row that a reference leads to; None where it leads nowhere or to another entity."""
        if not isinstance(key, int) or key <= 0:
            return None
        table = self.layout.table(destination)
        row = self.tables[table].get(key)
        return row if row and self.entity(table, row) in self.model.subtree(destination) else None

    def attributes(self, entity: str) -> list[tuple[str, str, Attribute]]:
        """The stored attributes of an entity as (path, column, attribute), composite ones by their elements."""
        return [leaf for owner, prop in self.model.declarations(entity).values()
                if isinstance(prop, Attribute) and is_stored(prop) for leaf in self._leaves((owner,), prop)]

    def _leaves(self, path: tuple[str, ...], attribute: Attribute) -> list[tuple[str, str, Attribute]]:
        path += (attribute.name,)
        if attribute.elements:
            return [leaf for element in attribute.elements for leaf in self._leaves(path, element)]
        return [(".".join(path[1:]), self.layout.columns[path], attribute)]

    def relationships(self, entity: str, to_many: bool) -> list[tuple[str, Relationship]]:
        """The stored relationships of an entity with the entities that declare them."""
        return [(owner, prop) for owner, prop in self.model.declarations(entity).values()
                if isinstance(prop, Relationship) and is_stored(prop) and prop.to_many == to_many]

    def links(self) -> Iterator[tuple[str, Relationship, Link]]:
        """Every to-many relationship with the entity that declares it."""
        for (owner, name), link in self.layout.links.items():
            yield owner, self.model.entities[owner].properties[name], link

    def join_tables(self) -> dict[str, tuple[str, Relationship, Link]]:
        """The join tables, each with one of its directions."""
        found: dict[str, tuple[str, Relationship, Link]] = {}
        for owner, relationship, link in self.links():
            if link.target != "Z_PK":
                found.setdefault(link.table, (owner, relationship, link))
        return found

    def columns(self, entity: str) -> set[str]:
        """The columns of its table that an entity uses."""
        used = {"Z_PK", "Z_ENT", "Z_OPT"} | {column for _, column, _ in self.attributes(entity)}
        for owner, relationship in self.relationships(entity, to_many=False):
            used |= {self.layout.columns[owner, relationship.name],
                     self.layout.entity_columns.get((owner, relationship.name))}
        line = self.model.lines[entity]
        for _, relationship, link in self.links():
            if link.target == "Z_PK" and relationship.destination in line:
                used |= {link.owner, link.order}
        return used - {None}

    def sibling_columns(self, entity: str) -> set[str]:
        """The columns that other entities of the same table use and this one does not."""
        family = self.model.subtree(self.model.root(entity))
        return set().union(*map(self.columns, family)) - self.columns(entity)

    def highest_keys(self) -> dict[int, object]:
        """Z_MAX by entity number."""
        return dict(self.store.rows("SELECT Z_ENT, Z_MAX FROM Z_PRIMARYKEY"))
