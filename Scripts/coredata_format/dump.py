"""The canonical dump of a store: one JSON object for each stored object."""

import json
from collections import defaultdict
from collections.abc import Callable, Iterator
from functools import cache

from . import StoreError
from .layout import Layout, is_stored
from .model import Attribute, Model, Relationship
from .store import Store
from .values import ValueEncoder


def canonical_json(value) -> str:
    """JSON with sorted keys, no spaces and raw non-ASCII text."""
    return json.dumps(value, ensure_ascii=False, allow_nan=False, sort_keys=True, separators=(",", ":"))


class StoreReader:
    """Reads the objects of a store through a model; `note` receives what is odd but survivable."""

    def __init__(self, store: Store, model: Model, note: Callable[[str], None]):
        self.store, self.model, self.note = store, model, note
        self.layout = Layout(model, store)
        self.encoder = ValueEncoder(store.path)
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
            raise StoreError(f"{entity} {row['Z_PK']}, {'.'.join(path)}: {error}") from error

    def _relationship(self, entity: str, row: dict, owner: str, relationship: Relationship):
        """The JSON of a relationship's targets; None where there are none."""
        if relationship.to_many:
            targets = self.targets(owner, relationship.name).get(row["Z_PK"], [])
            return [{"entity": name, "key": key} for name, key in targets]
        column = self.layout.columns[owner, relationship.name]
        if row[column] is None:
            return None
        place = f"{entity} {row['Z_PK']}, {relationship.name}"
        target = self._target_entity(relationship, row[column], place)
        entity_column = self.layout.entity_columns.get((owner, relationship.name))
        if target and entity_column and row[entity_column] != self.layout.numbers[target]:
            self.note(f"{place}: {entity_column} is {row[entity_column]}, the target is {target} {row[column]}")
        return {"entity": target or relationship.destination, "key": row[column]}

    def _target_entity(self, relationship: Relationship, key: int, place: str) -> str | None:
        """The entity of a target's row; None, with a note, where there is no such row."""
        target = self.objects_of_root(self.model.root(relationship.destination)).get(key)
        if target is None:
            self.note(f"{place}: there is no {relationship.destination} {key}")
        return target

    def _objects_of_root(self, root: str) -> dict[int, str]:
        """The entity of every object in a root entity's table, by key."""
        names = self.layout.subtree_numbers(root)
        rows = self.store.rows(f'SELECT Z_PK, Z_ENT FROM "{self.layout.table(root)}"')
        return {key: names[number] for key, number in rows if number in names}

    def _targets(self, owner: str, name: str) -> dict[int, list[tuple[str, int]]]:
        """The targets of a to-many relationship for every owner's key: in their order, or by entity and key."""
        relationship = self.model.entities[owner].properties[name]
        found = defaultdict(set)
        for owner_key, order, key in self._link_rows(owner, relationship):
            place = f"{owner} {owner_key}, {name}"
            target = self._target_entity(relationship, key, place) or relationship.destination
            if relationship.ordered and order is None:
                self.note(f"{place}: {target} {key} has no order key")
            found[owner_key].add((order is None, order or 0, target, key))
        return {owner_key: [target[2:] for target in sorted(targets)] for owner_key, targets in found.items()}

    def _link_rows(self, owner: str, relationship: Relationship) -> Iterator[tuple[int, int | None, int]]:
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


def _without_empty(items: Iterator[tuple]) -> dict:
    """The items whose value is neither None nor an empty list."""
    return {name: value for name, value in items if value is not None and value != []}
