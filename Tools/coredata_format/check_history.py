"""The judge's checks of the persistent history."""

from functools import cache

from .contents import HISTORY_ENTITIES, Contents, Row, shown
from .findings import Findings

INSERT, UPDATE, DELETE = 0, 1, 2
STRING_COLUMNS = ("ZAUTHORTS", "ZBUNDLEIDTS", "ZCONTEXTNAMETS", "ZPROCESSIDTS")
TEXT_COLUMNS = ("ZAUTHOR", "ZBUNDLEID", "ZCONTEXTNAME", "ZPROCESSID", "ZQUERYGEN")


class HistoryChecks:
    """Checks the history tables where the store has them."""

    def __init__(self, contents: Contents, findings: Findings):
        self.contents, self.findings = contents, findings
        self.tables = contents.store.tables()
        self.used_keys = cache(self._used_keys)

    def run(self) -> None:
        self.findings.run("the history", self._history)

    def _find(self, text: str) -> None:
        self.findings.find("history", text)

    def _history(self) -> None:
        rows = {table: {row["Z_PK"]: row for row in self.contents.rows(table)}
                for _, table in HISTORY_ENTITIES.values() if table in self.tables}
        for number, (_, table) in HISTORY_ENTITIES.items():
            for key, row in rows.get(table, {}).items():
                if (row["Z_ENT"], row["Z_OPT"]) != (number, None):
                    self._find(f"{table} {key}: Z_ENT {shown(row['Z_ENT'])} and Z_OPT {shown(row['Z_OPT'])}, "
                               f"not {number} and NULL")
        for row in rows.get("ATRANSACTION", {}).values():
            self._transaction(row, rows.get("ATRANSACTIONSTRING", {}))
        for row in rows.get("ACHANGE", {}).values():
            self._change(row, rows.get("ATRANSACTION", {}))

    def _transaction(self, row: Row, strings: dict[int, Row]) -> None:
        place = f"ATRANSACTION {row['Z_PK']}"
        if not isinstance(row["ZTIMESTAMP"], float):
            self._find(f"{place}: ZTIMESTAMP is {shown(row['ZTIMESTAMP'])}")
        for column in STRING_COLUMNS:
            if row.get(column) is not None and row[column] not in strings:
                self._find(f"{place}: {column} is {shown(row[column])}, and there is no such ATRANSACTIONSTRING")
        if "ZAUTHORTS" in row:
            for column in TEXT_COLUMNS:
                if row[column] is not None:
                    self._find(f"{place}: {column} is {shown(row[column])} beside the columns with keys of texts")

    def _change(self, row: Row, transactions: dict[int, Row]) -> None:
        place, kind = f"ACHANGE {row['Z_PK']}", row["ZCHANGETYPE"]
        if row["ZTRANSACTIONID"] not in transactions:
            self._find(f"{place}: there is no ATRANSACTION {shown(row['ZTRANSACTIONID'])}")
        if kind not in (INSERT, UPDATE, DELETE):
            self._find(f"{place}: ZCHANGETYPE is {shown(kind)}")
        entity = self.contents.entity_names.get(row["ZENTITY"])
        if entity is None or self.contents.model.entities[entity].abstract:
            self._find(f"{place}: ZENTITY is {shown(row['ZENTITY'])}, no entity that objects have")
            return
        key = row["ZENTITYPK"]
        if not isinstance(key, int) or not 0 < key <= self.used_keys(self.contents.model.root(entity)):
            self._find(f"{place}: ZENTITYPK is {shown(key)}, no key of {entity} until now")
        self._columns(place, kind, entity, row["ZCOLUMNS"])
        for column in row:
            if column.startswith("ZTOMBSTONE") and row[column] is not None and kind != DELETE:
                self._find(f"{place}: {column} has a value, and the change is no deletion")

    def _used_keys(self, root: str) -> int:
        """The highest key until now, even where Z_MAX does not tell it."""
        highest = self.contents.highest_keys().get(self.contents.layout.numbers[root])
        present = self.contents.tables[self.contents.layout.table(root)]
        return max([highest if isinstance(highest, int) else 0, *present])

    def _columns(self, place: str, kind, entity: str, columns) -> None:
        """The changed properties of an update: a bit for each of the entity's properties and at least one more."""
        if kind != UPDATE:
            if columns is not None:
                self._find(f"{place}: ZCOLUMNS is {shown(columns)}, and the change is no update")
            return
        count = len(self.contents.model.declarations(entity))
        if not isinstance(columns, bytes) or len(columns) != count // 8 + 1:
            self._find(f"{place}: ZCOLUMNS is {shown(columns)}, not {count // 8 + 1} byte(s) for {count} properties")
        elif int.from_bytes(columns) & (1 << len(columns) * 8 - count) - 1:
            self._find(f"{place}: ZCOLUMNS {shown(columns)} names more than the {count} properties of {entity}")
