"""The judge's checks of tables, columns and the indexes that every store has."""

from .contents import HISTORY_ENTITIES, Contents
from .findings import Findings
from .model import (BINARY, BOOLEAN, DATE, DECIMAL, DOUBLE, FLOAT, INTEGER_TYPES, STRING, TRANSFORMABLE, URI, UUID,
                    FetchIndex)

DECLARED = {BOOLEAN: "INTEGER", DOUBLE: "FLOAT", FLOAT: "FLOAT", DECIMAL: "DECIMAL", DATE: "TIMESTAMP",
            STRING: "VARCHAR", URI: "VARCHAR", UUID: "BLOB", TRANSFORMABLE: "BLOB", BINARY: "BLOB"
            } | dict.fromkeys(INTEGER_TYPES, "INTEGER")
# The join tables of framework 419 have no index of their own, those of 637 have one.
REVERSE_INDEX_FROM = 637
SYSTEM_TABLES = {"Z_PRIMARYKEY", "Z_METADATA", "Z_MODELCACHE"} | {table for _, table in HISTORY_ENTITIES.values()}


class SchemaChecks:
    """Checks that the tables are declared as the model's layout asks."""

    def __init__(self, contents: Contents, findings: Findings):
        self.contents, self.findings = contents, findings
        self.layout = contents.layout
        self.tables = {name: dict(columns) for name, columns in contents.store.tables().items()}
        self.indexed = {(table, tuple(columns)) for table, columns in _indexes(contents)}

    def run(self) -> None:
        self.findings.run("the columns' declarations", self._columns)
        self.findings.run("the indexes", self._indexes)

    def _columns(self) -> None:
        expected = {table: {"Z_PK": "INTEGER", "Z_ENT": "INTEGER", "Z_OPT": "INTEGER"}
                    for table in self.layout.table_of_root.values()}
        for entity in self.contents.model.entities:
            columns = expected[self.layout.table(entity)]
            columns |= dict.fromkeys(self.contents.columns(entity), "INTEGER")
            columns |= {column: DECLARED.get(attribute.type, "")
                        for _, column, attribute in self.contents.attributes(entity)}
        for _, _, link in self.contents.links():
            columns = expected.setdefault(link.table, {})
            columns |= {column: "INTEGER" for column in (link.owner, link.target, link.order) if column}
        for table, columns in expected.items():
            for column, declared in columns.items():
                if self.tables[table][column] != declared:
                    self.findings.find("schema",
                                       f"{table}.{column} is declared {self.tables[table][column]}, not {declared}")
            for column in self.tables[table].keys() - columns.keys():
                self.findings.note("schema", f"{table}.{column} belongs to no property of the model")
        for table in self.tables.keys() - expected.keys() - SYSTEM_TABLES:
            if not table.startswith("Z_RT_"):
                self.findings.note("schema", f"the table {table} belongs to nothing of the model")

    def _indexes(self) -> None:
        expected = {(self.layout.table(entity), (self.layout.columns[owner, relationship.name],))
                    for entity in self.contents.model.entities
                    for owner, relationship in self.contents.relationships(entity, to_many=False)}
        without_reverse_index = self.contents.store.metadata()["NSPersistenceFrameworkVersion"] < REVERSE_INDEX_FROM
        for _, _, link in self.contents.links():
            if link.target == "Z_PK":
                expected.add((link.table, (link.owner,)))
            elif not without_reverse_index and (link.table, (link.owner, link.target)) not in self.indexed:
                self.findings.find("schema", f"{link.table} has no index on ({link.owner}, {link.target})")
        expected |= {(table, ("Z_ENT",)) for root, table in self.layout.table_of_root.items()
                     if len(self.contents.model.subtree(root)) > 1}
        for table, columns in sorted(expected - self.indexed):
            self.findings.find("schema", f"{table} has no index on {columns[0]}")


def _indexes(contents: Contents):
    """Every index as its table and columns."""
    for table in contents.store.tables():
        for name, in contents.store.rows("SELECT name FROM pragma_index_list(?)", (table,)).fetchall():
            yield table, [column for column, in contents.store.rows("SELECT name FROM pragma_index_info(?)", (name,))]


def fetch_indexes(contents: Contents) -> dict[str, tuple[str, FetchIndex, list[tuple[str, int]] | None]]:
    """The fetch indexes of the model by their names in the store: table, description and (column, descending).

    No columns where an element is none of the entity's columns: what such an index looks like is not known.
    """
    found = {}
    for entity in contents.model.entities.values():
        columns = {path: column for path, column, _ in contents.attributes(entity.name)}
        columns |= {relationship.name: contents.layout.columns[owner, relationship.name]
                    for owner, relationship in contents.relationships(entity.name, to_many=False)}
        for index in entity.indexes:
            known = all(name in columns for name, _ in index.elements)
            terms = [(columns[name], int(not ascending)) for name, ascending in index.elements] if known else None
            prefix = "Z_RT" if index.rtree else "Z"
            found[f"{prefix}_{entity.name}_{index.name}"] = contents.layout.table(entity.name), index, terms
    return found
