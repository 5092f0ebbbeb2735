"""The canonical dump of a store: one JSON object for each stored object."""

import json
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from functools import cache
from operator import itemgetter

from . import StoreError
from .layout import Layout, is_stored
from .model import Attribute, Model, Relationship
from .store import Store
from .values import ValueEncoder


def canonical_json(value) -> str:
    """JSON with sorted keys, no spaces and raw non-ASCII text."""
    return json.dumps(value, ensure_ascii=False, allow_nan=False, sort_keys=True, separators=(",", ":"))


class StoreReader:
    """Reads the objects of a store through a model.

    `note` receives what is odd but survivable. What is wrong takes the value's place, as `$invalid` with the reason,
    and is counted in `invalid_values`.
    """

    def __init__(self, store: Store, model: Model, note: Callable[[str], None]):
        self.store, self.model, self.note = store, model, note
        self.layout = Layout(model, store)
        self.encoder = ValueEncoder(store.path)
        self.invalid_values = 0
        self.objects_of_root = cache(self._objects_of_root)
        self.targets = cache(self._targets)
        self._note_unexpected_entities()

    def entity_counts(self) -> dict[str, int]:
        """The number of objects of exactly each entity."""
        counts = {}
        for root, table in self.layout.table_of_root.items():
            rows = dict(self.store.rows(f'SELECT Z_ENT, COUNT(*) FROM "{table}" GROUP BY Z_ENT'))
            names = self.layout.subtree_numbers(root)
            counts |= {name: rows.pop(number, 0) for number, name in names.items()}
            for number, count in rows.items():
                self.note(f"{count} row(s) in {table} skipped: Z_ENT {number} is not an entity of that table")
        return counts

    def objects(self) -> Iterator[dict]:
        """All objects, sorted by entity name and key."""
        counts = self.entity_counts()
        for entity in sorted(name for name, count in counts.items() if count > 0):
            yield from self._objects_of_entity(entity)

    def _objects_of_entity(self, entity: str) -> Iterator[dict]:
        cursor = self.store.rows(f'SELECT * FROM "{self.layout.table(entity)}" WHERE Z_ENT = ? ORDER BY Z_PK',
                                 (self.layout.numbers[entity],))
        names = [column[0] for column in cursor.description]
        declarations = [(owner, prop) for owner, prop in self.model.declarations(entity).values() if is_stored(prop)]
        attributes = [item for item in declarations if isinstance(item[1], Attribute)]
        relationships = [item for item in declarations if isinstance(item[1], Relationship)]
        for values in cursor:
            row = dict(zip(names, values))
            yield {"entity": entity, "key": row["Z_PK"],
                   "attributes": _without_empty((prop.name, self._attribute(entity, row, owner, prop))
                                                for owner, prop in attributes),
                   "relationships": _without_empty((prop.name, self._relationship(entity, row, owner, prop))
                                                   for owner, prop in relationships)}

    def _attribute(self, entity: str, row: dict, owner: str, attribute: Attribute, path: tuple = ()):
        """The JSON of an attribute's value; None where it is nil, as is a composite value without any element."""
        path += (attribute.name,)
        if attribute.elements:
            return _without_empty((element.name, self._attribute(entity, row, owner, element, path))
                                  for element in attribute.elements) or None
        value = row[self.layout.columns[owner, *path]]
        try:
            return None if value is None else self.encoder.encode(attribute, value)
        except StoreError as error:
            return self._invalid(f"{entity} {row['Z_PK']}, {'.'.join(path)}", str(error))

    def _invalid(self, place: str, reason: str) -> dict:
        """What stands in the place of a wrong value."""
        self.invalid_values += 1
        self.note(f"{place}: {reason}")
        return {"$invalid": reason}

    def _relationship(self, entity: str, row: dict, owner: str, relationship: Relationship):
        """The JSON of a relationship's targets; None where there are none."""
        place = f"{entity} {row['Z_PK']}, {relationship.name}"
        if relationship.to_many:
            return self._members(relationship, self.targets(owner, relationship.name)[row["Z_PK"]], place)
        key = row[self.layout.columns[owner, relationship.name]]
        if key is None:
            return None
        target = self._target_entity(relationship, key)
        entity_column = self.layout.entity_columns.get((owner, relationship.name))
        if target and entity_column and row[entity_column] != self.layout.numbers[target]:
            self.note(f"{place}: {entity_column} is {row[entity_column]}, the target is {target} {key}")
        return self._reference(relationship, key, place)

    def _members(self, relationship: Relationship, rows: set[tuple], place: str) -> list | dict:
        """The JSON of a to-many's targets from their (order key, key): in their order, or by entity and key."""
        if not relationship.ordered:
            return [self._reference(relationship, key, place) for _, key in sorted(
                rows, key=lambda row: (self._target_entity(relationship, row[1]) or relationship.destination,
                                       *_sortable(row[1])))]
        orders = Counter(order for order, _ in rows)
        for order, key in sorted(rows, key=repr):
            if not isinstance(order, int):
                return self._invalid(place, f"{relationship.destination} {key} has no order key")
            if orders[order] > 1:
                return self._invalid(place, f"{orders[order]} members have the order key {order}")
        return [self._reference(relationship, key, place) for _, key in sorted(rows, key=itemgetter(0))]

    def _reference(self, relationship: Relationship, key, place: str) -> str | dict:
        """The JSON of one target."""
        target = self._target_entity(relationship, key)
        if target is None:
            return self._invalid(place, f"there is no {relationship.destination} {key}")
        return f"{target}/p{key}"

    def _target_entity(self, relationship: Relationship, key) -> str | None:
        """The entity of a target's row; None where there is no such row that the relationship can lead to."""
        if not isinstance(key, int) or key <= 0:
            return None
        target = self.objects_of_root(self.model.root(relationship.destination)).get(key)
        return target if target in self.model.subtree(relationship.destination) else None

    def _objects_of_root(self, root: str) -> dict[int, str]:
        """The entity of every object in a root entity's table, by key."""
        names = self.layout.subtree_numbers(root)
        rows = self.store.rows(f'SELECT Z_PK, Z_ENT FROM "{self.layout.table(root)}"')
        return {key: names[number] for key, number in rows if number in names}

    def _targets(self, owner: str, name: str) -> dict[int, set[tuple]]:
        """The (order key, key) of the targets of a to-many relationship, for every owner's key."""
        found = defaultdict(set)
        for owner_key, order, key in self._link_rows(owner, self.model.entities[owner].properties[name]):
            found[owner_key].add((order, key))
        return found

    def _link_rows(self, owner: str, relationship: Relationship) -> Iterator[tuple]:
        """The rows (owner's key, order key, target's key) of a to-many relationship."""
        link = self.layout.links[owner, relationship.name]
        columns = f"{link.owner}, {link.order or 'NULL'}, {link.target}"
        sql = f'SELECT {columns} FROM "{link.table}" WHERE {link.owner} NOTNULL'
        if link.target == "Z_PK":
            numbers = self.layout.subtree_numbers(relationship.destination)
            sql += f" AND Z_ENT IN ({', '.join(map(str, numbers))})"
        for owner_key, order, key in self.store.rows(sql):
            yield owner_key, order, key
            if link.reflexive:
                yield key, order, owner_key

    def _note_unexpected_entities(self) -> None:
        """Notes the entities that only the model or only the store's metadata has."""
        hashed = set(self.store.metadata().get("NSStoreModelVersionHashes", {}))
        for name in sorted(hashed ^ set(self.model.entities)):
            self.note(f"entity {name} is only in {'the metadata' if name in hashed else 'the model'}")


def _sortable(key) -> tuple:
    """Sorts keys as numbers, and after them what should have been one."""
    return (0, key) if isinstance(key, int) else (1, repr(key))


def _without_empty(items: Iterator[tuple]) -> dict:
    """The items whose value is neither None nor an empty list."""
    return {name: value for name, value in items if value is not None and value != []}
