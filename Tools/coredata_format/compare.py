"""The judge of a write: whether it changed in a store what it meant to change, and nothing else."""

from collections import Counter
from collections.abc import Iterator

from .check_schema import SYSTEM_TABLES
from .compare_rows import ObjectComparison
from .compare_system import SystemComparison
from .contents import HISTORY_ENTITIES, Contents, exact, shown
from .findings import Findings
from .touched import Touched

CHANGE_TYPES = {"insert": 0, "update": 1, "delete": 2}


class Comparison:
    """Compares a store with its former state and the list of the touched objects."""

    def __init__(self, before: Contents, after: Contents, touched: Touched, metadata_keys: set[str],
                 findings: Findings):
        self.before, self.after, self.touched, self.findings = before, after, touched, findings
        self.objects = ObjectComparison(before, after, touched, findings)
        self.system = SystemComparison(before, after, metadata_keys, findings)

    def run(self) -> None:
        self.system.run()
        self.objects.run()
        self.findings.run("the join tables of before and after", self._joins)
        self.findings.run("the history of before and after", self._history)
        self.findings.run("the other tables of before and after", self._others)

    def _joins(self) -> None:
        """A row of a join table changes with one of its two ends."""
        tables = self.before.join_tables()
        for table, (owner, relationship, link) in tables.items():
            ends = ((link.owner, self.before.layout.table(owner)),
                    (link.target, self.before.layout.table(relationship.destination)))
            for sign, row in _changed_rows(self.before, self.after, table):
                if not any((end_table, row[column]) in self.touched for column, end_table in ends):
                    self.findings.find("join-untouched", f"{table} ({shown(row[link.owner])}, "
                                       f"{shown(row[link.target])}) was {sign}, and neither end is touched")

    def _history(self) -> None:
        """History is only added to, and what is added is of the touched objects."""
        for _, table in HISTORY_ENTITIES.values():
            if table not in self.before.store.tables():
                continue
            old = {row["Z_PK"]: row for row in self.before.rows(table)}
            new = {row["Z_PK"]: row for row in self.after.rows(table)}
            for key, row in old.items():
                if _exact(row) != _exact(new.get(key, {})):
                    self.findings.find("history-changed", f"the old row {key} of {table} is not what it was")
            for key in new.keys() - old.keys():
                if key <= max(old, default=0):
                    self.findings.find("history-changed", f"the new row {key} of {table} is among the old ones")
            if table == "ACHANGE":
                self._changes([new[key] for key in new.keys() - old.keys()])

    def _changes(self, rows: list[dict]) -> None:
        if not rows:
            if self.touched:
                self.findings.note("history-change", "the store has a history, and nothing was added to it")
            return
        recorded: dict[tuple, set] = {}
        for row in rows:
            entity = self.after.entity_names.get(row["ZENTITY"])
            if entity is not None:
                place = self.after.layout.table(entity), row["ZENTITYPK"]
                recorded.setdefault(place, set()).add(row["ZCHANGETYPE"])
                if place not in self.touched:
                    self.findings.note("history-untouched", f"ACHANGE {row['Z_PK']} is of {entity} "
                                       f"{shown(row['ZENTITYPK'])}, which is not touched")
        for place, (entity, change) in self.touched.items():
            if CHANGE_TYPES[change] not in recorded.get(place, set()):
                self.findings.find("history-change", f"the {change} of {entity} {place[1]} is not recorded")

    def _others(self) -> None:
        """Tables of others, SQLite's own ones included, keep every row; R-trees follow their entity's rows."""
        known = (SYSTEM_TABLES | self.before.join_tables().keys() | set(self.before.layout.table_of_root.values())
                 | {"sqlite_master", "sqlite_schema"})
        names = {name for name, in self.before.store.rows("SELECT name FROM sqlite_master WHERE type = 'table'")}
        for table in sorted(names - known):
            if not table.startswith("Z_RT_"):
                for sign, row in _changed_rows(self.before, self.after, table):
                    self.findings.find("other-table", f"a row of {table} was {sign}: "
                                       f"({', '.join(map(shown, row.values()))})")
            elif not table.endswith(("_rowid", "_node", "_parent")):
                self._rtree(table)

    def _rtree(self, table: str) -> None:
        tables = {self.before.layout.table(name) for name in self.before.model.entities
                  if table.startswith(f"Z_RT_{name}_")}
        for sign, row in _changed_rows(self.before, self.after, table):
            if not any((owner, row["Z_PK"]) in self.touched for owner in tables):
                self.findings.find("other-table", f"row {row['Z_PK']} of {table} was {sign}, and is not touched")


def _exact(row: dict) -> dict:
    return {column: exact(value) for column, value in row.items()}


def _changed_rows(before: Contents, after: Contents, table: str) -> Iterator[tuple[str, dict]]:
    """The rows that only one of the two states has."""
    old, new = (_counted(contents, table) for contents in (before, after))
    for sign, rows in (("removed", old - new), ("added", new - old)):
        for items in rows:
            yield sign, {column: value for column, (_, _, value) in items}


def _counted(contents: Contents, table: str) -> Counter:
    if not contents.store.rows("SELECT 1 FROM sqlite_master WHERE name = ?", (table,)).fetchone():
        return Counter()
    return Counter(tuple((column, (*exact(value), value)) for column, value in row.items())
                   for row in contents.rows(table))
