"""Judges what a save has left in a SQLite store: all that it reported, and all that it did not touch."""

from __future__ import annotations

import base64
import math
import struct

from .sqlite_state import (
    COLUMN_LINKS,
    DERIVED,
    ENTITY_TABLES,
    HISTORY_NUMBERS,
    HISTORY_TABLES,
    PAIR_LINKS,
    TO_ONES,
    Cell,
    State,
    difference,
    lost_files,
)

MOST = (1 << 63) - 1
NULL: Cell = ("null", None)


def judge(before: State, after: State, report: dict) -> list[str]:
    """What is wrong with a step: an error that is not typed, or a file that is not as the report says."""
    wrong = [f"an untyped error: {error}" for error in _errors(report) if not error.get("isTyped")]
    if report["outcome"] != "saved":
        if text := difference(before, after):
            wrong.append(f"the step ended as {report['outcome']}, and changed the file: {text}")
        return wrong
    return wrong + SaveJudge(before, after, report).problems()[:5]


def _errors(report: dict) -> list[dict]:
    return report.get("errors", []) + ([report["error"]] if "error" in report else [])


class SaveJudge:
    """Compares two states with what the context reported to have saved between them."""

    def __init__(self, before: State, after: State, report: dict):
        self.before, self.after, self.report = before, after, report
        self.updated = {(ENTITY_TABLES[item["entity"]], item["key"]): item for item in report["updated"]}
        self.inserted = {(ENTITY_TABLES[item["entity"]], item["key"]): item for item in report["inserted"]}
        self.numbers = _numbers(before)
        # An object whose row is of no entity cannot be reached, and counts as deleted where something leads to it.
        self.deleted = {
            (table, key)
            for table, key in ((ENTITY_TABLES[entity], key) for entity, key in report["deleted"])
            if self._is_object(before, table, key)
        }
        # Owners whose to-many relationships were changed, by the columns or tables that hold the links.
        self.owners: dict[tuple, set[int]] = {}
        for item in report["updated"] + report["inserted"]:
            for name in item["toManys"]:
                self.owners.setdefault(_link(item["entity"], name), set()).add(item["key"])

    def _is_object(self, state: State, table: str, key: object) -> bool:
        """Whether a row is an object: keys count from 1, and its number is that of an entity of the table."""
        row = state.tables[table].get(key)
        return row is not None and key > 0 and row["Z_ENT"] in self.numbers.get(table, ())

    def problems(self) -> list[str]:
        found = []
        if self.before.schema != self.after.schema:
            found.append("the schema has changed")
        for table, rows in self.before.tables.items():
            found += self._table(table, rows, self.after.tables.get(table, {}))
        found += self._written()
        if text := lost_files(self.before, self.after):
            found.append(text)
        return found

    # What nobody has touched.

    def _table(self, table: str, old: dict, new: dict) -> list[str]:
        found = []
        for key in old.keys() - new.keys():
            if not self._may_go(table, key, old[key]):
                found.append(f"lost: row {key} of {table}")
        for key in new.keys() - old.keys():
            if not self._may_come(table, key, new[key]):
                found.append(f"row {key} of {table} appeared: {new[key]}"[:300])
        for key in old.keys() & new.keys():
            for column, value in old[key].items():
                other = new[key][column]
                if other != value and not self._may_change(table, key, column, old[key], new[key]):
                    found.append(f"{table}.{column} of row {key} was {value}, and is {other}"[:300])
        return found

    def _may_go(self, table: str, key: object, row: dict[str, Cell]) -> bool:
        return (table, key) in self.deleted or self._is_pair_of_changed(table, row)

    def _may_come(self, table: str, key: object, row: dict[str, Cell]) -> bool:
        if table in HISTORY_TABLES:
            return True
        if table == "Z_PRIMARYKEY":
            return key in HISTORY_NUMBERS
        return (table, key) in self.inserted or self._is_pair_of_changed(table, row)

    def _is_pair_of_changed(self, table: str, row: dict[str, Cell]) -> bool:
        """Whether one of a pair was deleted, or is an object with this relationship changed."""
        for (entity, name), (join, owner, member, _) in PAIR_LINKS.items():
            if join != table:
                continue
            for kind, number in {row[owner], row[member] if name == "friends" else row[owner]}:
                if (ENTITY_TABLES[entity], number) in self.deleted:
                    return True
                if kind == "integer" and number in self.owners.get(_link(entity, name), ()):
                    return True
        return False

    def _may_change(self, table: str, key: object, column: str, old: dict, new: dict) -> bool:
        if table == "Z_PRIMARYKEY":
            return column == "Z_MAX" and self._is_higher(key, old, new)
        if (table, column) in DERIVED:
            return True
        item = self.updated.get((table, key))
        if item and (column == "Z_OPT" or column in _columns_of(item)):
            return column != "Z_OPT" or _is_next(old[column], new[column])
        if table == "ZITEM" and column == "ZBOX":
            return False
        return self._is_order_or_owner(table, column, old, new)

    def _is_order_or_owner(self, table: str, column: str, old: dict, new: dict) -> bool:
        """Whether a column has the order among the objects of an owner whose objects have changed, or such an owner
        where the link has no other side."""
        for (entity, name), (members, owner, order) in COLUMN_LINKS.items():
            is_one_way = name == "desks"
            if members != table or not (column == order or is_one_way and column == owner):
                continue
            keys = {row[owner][1] for row in (old, new)}
            if keys & self.owners.get(_link(entity, name), set()):
                return True
            if any((ENTITY_TABLES[entity], key) in self.deleted for key in keys):
                return True
        for (entity, name), (join, owner, _, order) in PAIR_LINKS.items():
            if join == table and order == column and old[owner][1] in self.owners.get(_link(entity, name), ()):
                return True
        return False

    def _is_higher(self, number: object, old: dict, new: dict) -> bool:
        """Whether a greater key was recorded, of an entity that has new objects."""
        kind, value = new["Z_MAX"]
        if kind != "integer" or old["Z_MAX"][0] == "integer" and value <= old["Z_MAX"][1]:
            return False
        return number in HISTORY_NUMBERS or bool(self.inserted)

    # What was reported.

    def _written(self) -> list[str]:
        found = []
        for (table, key), item in [*self.updated.items(), *self.inserted.items()]:
            row = self.after.tables[table].get(key)
            if row is None:
                found.append(f"lost: {item['entity']} {key} was saved, and has no row")
                continue
            for name, value in item["changed"].items():
                if not _is_stored(row[f"Z{name.upper()}"], value):
                    found.append(f"lost: {item['entity']} {key}.{name} = {value} is {row[f'Z{name.upper()}']}"[:300])
            for name, target in item["toOnes"].items():
                column = TO_ONES[name][0]
                wanted = NULL if target is None else ("integer", target[1])
                if row[column] != wanted:
                    found.append(f"lost: {item['entity']} {key}.{name} = {target} is {row[column]}")
            for name, members in item["toManys"].items():
                found += self._members_wrong(item["entity"], key, name, members)
        for table, key in self.deleted:
            if key in self.after.tables[table]:
                found.append(f"row {key} of {table} was deleted, and is there")
        return found

    def _members_wrong(self, entity: str, key: int, name: str, members: list[int]) -> list[str]:
        """Compares the members of an owner with those of the file, without rows that are no objects."""
        link, mine = _link(entity, name), ("integer", key)
        order = (COLUMN_LINKS.get(link) or PAIR_LINKS.get(link))[-1]
        # The order's value, and the key.
        found: list[tuple[Cell, object]] = []
        if link in COLUMN_LINKS:
            table, owner, _ = COLUMN_LINKS[link]
            rows = self.after.tables[table].items()
            found += [(row.get(order, NULL), number) for number, row in rows if row[owner] == mine]
        else:
            join, owner, member, _ = PAIR_LINKS[link]
            table, rows = "ZTAG" if name == "tags" else "ZITEM", self.after.tables[join].values()
            found += [(row.get(order, NULL), row[member][1]) for row in rows if row[owner] == mine]
            if name == "friends":
                # A pair of a relationship that is its own inverse is stored once.
                found += [(NULL, row[owner][1]) for row in rows if row[member] == mine and row[owner] != mine]
        found = sorted((_rank(value), number) for value, number in found if self._is_object(self.after, table, number))
        numbers = [number for _, number in found]
        if (numbers == members) if order else (sorted(set(numbers)) == sorted(members)):
            return []
        return [f"lost: {entity} {key}.{name} = {members} is {numbers}"]


def _numbers(state: State) -> dict[str, set[Cell]]:
    """The numbers of the entities of each table."""
    found: dict[str, set[Cell]] = {}
    for number, row in state.tables["Z_PRIMARYKEY"].items():
        kind, name = row["Z_NAME"]
        if kind == "text" and (table := ENTITY_TABLES.get(name.decode(errors="replace"))):
            found.setdefault(table, set()).add(("integer", number))
    return found


def _link(entity: str, name: str) -> tuple[str, str]:
    return ("Item" if entity == "SubItem" else entity, name)


def _columns_of(item: dict) -> set[str]:
    columns = {f"Z{name.upper()}" for name in item["changed"]}
    for name in item["toOnes"]:
        columns |= {TO_ONES[name][0], *TO_ONES[name][1]}
    return columns


def _is_next(old: Cell, new: Cell) -> bool:
    """A version counts the saves; one that is no number counts as 0, and the greatest is followed by the least."""
    number = old[1] if old[0] == "integer" else 0
    return new == ("integer", number + 1 if number < MOST else -MOST - 1)


def _rank(value: Cell) -> tuple:
    """SQLite's order of values of different types."""
    kind, content = value
    rank = {"null": 0, "integer": 1, "real": 1, "text": 2, "blob": 3}[kind]
    if kind == "real":
        content = struct.unpack("d", content)[0]
    return rank, 0 if content is None else content


def _is_stored(stored: Cell, wanted: list) -> bool:
    kind, *value = wanted
    if kind == "null":
        return stored == NULL
    if kind == "some":
        return stored[0] == "blob"
    if kind == "text":
        return stored == ("text", value[0].encode())
    if kind == "blob":
        return stored == ("blob", base64.b64decode(value[0]))
    if kind == "large":
        data = bytes(value[:1]) * value[1]
        return stored[0] == "blob" and (stored[1] == b"\1" + data or len(data) > 100_000 and stored[1][:1] == b"\2")
    number = struct.unpack("d", stored[1])[0] if stored[0] == "real" else stored[1]
    if stored[0] not in ("integer", "real"):
        return False
    return number == (float(value[0]) if stored[0] == "real" else _number(value[0])) or math.isclose(
        number, float(value[0]), rel_tol=1e-15)


def _number(text: str) -> float | int:
    try:
        return int(text)
    except ValueError:
        return float(text)
