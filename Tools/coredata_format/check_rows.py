"""The judge's checks of the rows of entity tables: entity, version, values, references and external data."""

import time
from collections import Counter, defaultdict
from functools import cache
from pathlib import Path

from . import StoreError
from .contents import Contents, Row, shown
from .findings import Findings
from .model import (BINARY, BOOLEAN, DATE, DECIMAL, DOUBLE, FLOAT, INTEGER_TYPES, STRING, TRANSFORMABLE, URI, UUID,
                    Attribute, Relationship)
from .values import ValueEncoder, external_name

# What Core Data writes; a reader accepts more.
STORAGE = {BOOLEAN: (int,), DOUBLE: (float,), FLOAT: (float,), DECIMAL: (int, float), DATE: (int, float),
           STRING: (str,), URI: (str,), UUID: (bytes,), TRANSFORMABLE: (bytes,), BINARY: (bytes,)
           } | {type: (int,) for type in INTEGER_TYPES}


class RowChecks:
    """Checks every row of every entity table."""

    def __init__(self, contents: Contents, findings: Findings):
        self.contents, self.findings = contents, findings
        self.layout, self.model = contents.layout, contents.model
        self.encoder = ValueEncoder(contents.store.path)
        self.named_files: dict[str, list[str]] = defaultdict(list)
        self.attributes = cache(contents.attributes)
        self.relationships = cache(contents.relationships)
        self.sibling_columns = cache(contents.sibling_columns)

    def run(self) -> None:
        for name, check in {"the rows": self._rows, "the values": self._values, "the references": self._references,
                            "the columns": self._columns, "the external data": self._external_files}.items():
            self.findings.run(name, check)

    def _rows(self) -> None:
        for table, rows in self.contents.tables.items():
            for key, row in rows.items():
                entity = self.contents.entity(table, row)
                if entity is None:
                    self.findings.find("row-entity", f"{table} {key}: Z_ENT {shown(row['Z_ENT'])} is no entity of it")
                elif self.model.entities[entity].abstract:
                    self.findings.find("row-entity", f"{table} {key}: its entity {entity} is abstract")
                if not isinstance(row["Z_OPT"], int) or row["Z_OPT"] < 1:
                    self.findings.find("row-version", f"{table} {key}: Z_OPT is {shown(row['Z_OPT'])}")
                if key <= 0:
                    self.findings.find("row-entity", f"{table} {key}: a key is positive")

    # Values

    def _values(self) -> None:
        for entity, _, row in self.contents.objects():
            for path, column, attribute in self.attributes(entity):
                if row[column] is not None:
                    self._value(f"{entity} {row['Z_PK']}, {path}", attribute, row[column])

    def _value(self, place: str, attribute: Attribute, value) -> None:
        if attribute.type == DECIMAL and isinstance(value, str) and value.endswith("d"):
            self.findings.note("value", f"{place}: the decimal {value!r} is a text; none is in real stores")
        elif not isinstance(value, STORAGE.get(attribute.type, ())):
            self.findings.find("value", f"{place}: {shown(value)} is not what type {attribute.type} is stored as")
            return
        if attribute.external and value[:1] == b"\x02":
            self._external_reference(place, value)
            return
        try:
            self.encoder.encode(attribute, value)
        except StoreError as error:
            self.findings.find("external" if attribute.external else "value", f"{place}: {error}")

    def _external_reference(self, place: str, value: bytes) -> None:
        try:
            name = external_name(value)
        except StoreError as error:
            self.findings.find("external", f"{place}: {error}")
            return
        self.named_files[name].append(place)
        if not (self.encoder.external_folder / name).is_file():
            self.findings.find("external", f"{place}: there is no file {name}")

    def _external_files(self) -> None:
        """Files and rows name each other one to one."""
        for name, places in self.named_files.items():
            if len(places) > 1:
                self.findings.find("external", f"the file {name} belongs to {' and '.join(places)}")
        for file in sorted(_members(self.encoder.external_folder)):
            age = time.time() - file.stat().st_mtime
            if file.name not in self.named_files and age >= self.findings.grace:
                self.findings.find("external-orphan", f"no row names {file.name}")

    # References

    def _references(self) -> None:
        for entity, _, row in self.contents.objects():
            for owner, relationship in self.relationships(entity, to_many=False):
                self._reference(entity, row, owner, relationship)
        for owner, relationship, link in self.contents.links():
            if relationship.inverse is None:
                self._owners(owner, relationship, link.table, link.owner)

    def _reference(self, entity: str, row: Row, owner: str, relationship: Relationship) -> None:
        column = self.layout.columns[owner, relationship.name]
        entity_column = self.layout.entity_columns.get((owner, relationship.name))
        place, key = f"{entity} {row['Z_PK']}, {relationship.name}", row[column]
        target = self.contents.target(relationship.destination, key)
        if key is not None and target is None:
            self.findings.find("to-one", f"{place}: there is no {relationship.destination} {shown(key)}")
            return
        expected = target["Z_ENT"] if target else None
        if entity_column and row[entity_column] != expected:
            self.findings.find("to-one-entity",
                               f"{place}: {entity_column} is {shown(row[entity_column])}, not {shown(expected)}")
        if target and relationship.inverse:
            self._one_to_one(place, row["Z_PK"], target, relationship)

    def _one_to_one(self, place: str, key: int, target: Row, relationship: Relationship) -> None:
        owner, inverse = self.model.declarations(relationship.destination)[relationship.inverse]
        if not inverse.to_many:
            back = target[self.layout.columns[owner, inverse.name]]
            if back != key:
                self.findings.find("one-to-one", f"{place} is {relationship.destination} {target['Z_PK']}, "
                                   f"whose {inverse.name} is {shown(back)}")

    def _owners(self, owner: str, relationship: Relationship, table: str, column: str) -> None:
        """The owner's key that a one-way to-many puts into its members' rows."""
        for entity, table_of_row, row in self.contents.objects():
            if (table_of_row == table and row[column] is not None
                    and entity in self.model.subtree(relationship.destination)
                    and self.contents.target(owner, row[column]) is None):
                self.findings.find("one-way", f"{entity} {row['Z_PK']}, member of {owner}.{relationship.name}: "
                                   f"there is no {owner} {shown(row[column])}")

    # Columns

    def _columns(self) -> None:
        """A value in a sibling's column is only odd: migration fills a new column in all rows of the table."""
        counts = Counter((table, column, entity) for entity, table, row in self.contents.objects()
                         for column in self.sibling_columns(entity) if row[column] is not None)
        for (table, column, entity), count in sorted(counts.items()):
            self.findings.note("sibling-column", f"{table}.{column} has values in {count} row(s) of {entity}")


def _members(folder: Path) -> list[Path]:
    return list(folder.iterdir()) if folder.is_dir() else []
