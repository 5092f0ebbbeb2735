"""The judge's comparison of entity tables: touched rows change as they should, all others not at all."""

from collections.abc import Iterator
from functools import cache

from .contents import Contents, Row, exact, shown
from .findings import Findings
from .touched import Touched

class ObjectComparison:
    """Compares the rows of every entity table."""

    def __init__(self, before: Contents, after: Contents, touched: Touched, findings: Findings):
        self.before, self.after, self.touched, self.findings = before, after, touched, findings
        self.model, self.layout = before.model, before.layout
        self.used = {entity: before.columns(entity) for entity in self.model.entities}
        # The columns that belong to an owner although they are in its members' rows: (owner's column, owner's table).
        self.owners = {(link.table, column): (link.owner, self.layout.table(owner))
                       for owner, relationship, link in before.links() if link.target == "Z_PK"
                       for column in (link.order, link.owner if relationship.inverse is None else None) if column}

        self.used_keys = cache(self._used_keys)

    def run(self) -> None:
        self.findings.run("the rows of before and after", self._rows)

    def _rows(self) -> None:
        for table, old in self.before.tables.items():
            new = self.after.tables[table]
            for key in sorted(old.keys() | new.keys() | {key for name, key in self.touched if name == table}):
                if (table, key) in self.touched:
                    entity, change = self.touched[table, key]
                    getattr(self, f"_{change}")(entity, table, key, old.get(key), new.get(key))
                else:
                    self._untouched(table, key, old.get(key), new.get(key))

    # Touched rows

    def _insert(self, entity: str, table: str, key: int, old: Row | None, new: Row | None) -> None:
        place = f"{entity} {key}"
        if old is not None or new is None:
            self.findings.find("insert", f"{place}: {'it was there before' if old else 'there is no row'}")
            return
        self._numbers("insert", place, entity, new, 1)
        if key <= self.used_keys(table):
            self.findings.find("insert-key", f"{place}: keys up to {self.used_keys(table)} were used before")
        for column in sorted(new.keys() - self.used[entity]):
            if new[column] is not None:
                self.findings.find("insert-column", f"{place}: {column}, which {entity} does not have, "
                                   f"is {shown(new[column])}")

    def _used_keys(self, table: str) -> int:
        """The highest key that was handed out before, even if its object is gone."""
        roots = {self.layout.numbers[root] for root, name in self.layout.table_of_root.items() if name == table}
        highest = [key for number, key in self.before.highest_keys().items()
                   if number in roots and isinstance(key, int)]
        return max([*highest, *self.before.tables[table]], default=0)

    def _update(self, entity: str, table: str, key: int, old: Row | None, new: Row | None) -> None:
        place = f"{entity} {key}"
        if old is None or new is None:
            self.findings.find("update", f"{place}: there {'was' if old is None else 'is'} no row")
            return
        self._numbers("update", place, entity, new, (old["Z_OPT"] if isinstance(old["Z_OPT"], int) else 0) + 1)
        for column in _differences(old, new):
            if column not in self.used[entity]:
                self.findings.find("update-column", f"{place}: {column}, which {entity} does not have, "
                                   f"was {shown(old.get(column))} and is {shown(new.get(column))}")

    def _delete(self, entity: str, table: str, key: int, old: Row | None, new: Row | None) -> None:
        if old is None or new is not None:
            reason = "there was no row" if old is None else "it is still there"
            self.findings.find("delete", f"{entity} {key}: {reason}")

    def _numbers(self, check: str, place: str, entity: str, row: Row, version: int) -> None:
        for column, expected in (("Z_ENT", self.layout.numbers[entity]), ("Z_OPT", version)):
            if exact(row[column]) != exact(expected):
                self.findings.find(check, f"{place}: {column} is {shown(row[column])}, not {expected}")

    # Untouched rows

    def _untouched(self, table: str, key: int, old: Row | None, new: Row | None) -> None:
        if old is None or new is None:
            self.findings.find("untouched", f"{table} {key} was {'added' if old is None else 'removed'}")
            return
        changed = _differences(old, new)
        forbidden = [column for column in changed if not self._is_of_touched_owner(table, column, old, new)]
        derived = self._derived(table, old)
        if forbidden and set(forbidden) <= derived and self._has_touched_neighbour(table, old, new):
            self.findings.note("derived", f"{table} {key}: {', '.join(forbidden)} changed with a touched object")
            return
        for column in forbidden:
            self.findings.find("untouched", f"{table} {key}: {column} was {shown(old.get(column))} "
                               f"and is {shown(new.get(column))}")

    def _is_of_touched_owner(self, table: str, column: str, old: Row, new: Row) -> bool:
        """Whether a change is that of an order key or of a one-way membership, and the owner is touched."""
        if (table, column) not in self.owners:
            return False
        owner_column, owner_table = self.owners[table, column]
        return any((owner_table, row[owner_column]) in self.touched for row in (old, new))

    def _derived(self, table: str, row: Row) -> set[str]:
        entity = self.before.entity(table, row)
        if entity is None:
            return set()
        return {column for _, column, attribute in self.before.attributes(entity) if attribute.derived}

    def _has_touched_neighbour(self, table: str, old: Row, new: Row) -> bool:
        entity = self.before.entity(table, old)
        return any(place in self.touched for contents, row in ((self.before, old), (self.after, new))
                   for place in self._neighbours(contents, entity, row))

    def _neighbours(self, contents: Contents, entity: str, row: Row) -> Iterator[tuple[str, int]]:
        """The objects that an object has relationships to, by table and key."""
        for owner, relationship in contents.relationships(entity, to_many=False):
            yield self.layout.table(relationship.destination), row[self.layout.columns[owner, relationship.name]]
        for owner, relationship in contents.relationships(entity, to_many=True):
            link = contents.layout.links[owner, relationship.name]
            for key, in contents.store.rows(
                    f'SELECT "{link.target}" FROM "{link.table}" WHERE "{link.owner}" = ?', (row["Z_PK"],)):
                yield self.layout.table(relationship.destination), key


def _differences(old: Row, new: Row) -> list[str]:
    """The columns whose values differ in anything, storage class included."""
    return [column for column in dict.fromkeys([*old, *new])
            if exact(old.get(column)) != exact(new.get(column))]
