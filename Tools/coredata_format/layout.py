"""Where a model's entities and properties are found in a store: numbers, tables, columns and join tables."""

import re
from dataclasses import dataclass

from . import StoreError
from .model import (BINARY, BOOLEAN, DATE, DECIMAL, DOUBLE, FLOAT, INTEGER_TYPES, STRING, TRANSFORMABLE, URI, UUID,
                    Attribute, Model, Relationship)
from .store import Store

TYPE_RANKS = {type: rank for rank, types in enumerate(
    [{*INTEGER_TYPES, BOOLEAN}, {DOUBLE, FLOAT, DATE}, {DECIMAL}, {STRING}, {URI}, {UUID}, {TRANSFORMABLE}, {BINARY}])
    for type in types}


@dataclass
class Link:
    """The table of a to-many relationship: the owner's key, the target's key and, if ordered, the order key."""
    table: str
    owner: str
    target: str
    order: str | None
    reflexive: bool = False


class Layout:
    """The layout of one model in one store; everything it names exists there.

    `columns` is by declaring entity and path: an attribute, a composite attribute's element or a to-one relationship.
    `entity_columns` names the column with the actual entity of a polymorphic to-one's target, and `links` the table
    of each to-many, both by declaring entity and relationship.
    """

    def __init__(self, model: Model, store: Store):
        self.model = model
        self.tables = {name: {column for column, _ in columns} for name, columns in store.tables().items()}
        self.numbers = self._entity_numbers({name: number for number, name, _ in store.primary_keys()})
        self.table_of_root = {name: self._root_table(name) for name in model.entities if model.root(name) == name}
        self.columns: dict[tuple, str] = {}
        self.entity_columns: dict[tuple, str] = {}
        self.links: dict[tuple, Link] = {}
        for root in self.table_of_root:
            self._assign_columns(root)
        for entity in model.entities:
            for prop in model.own_properties(entity):
                if isinstance(prop, Relationship) and prop.stored:
                    self._place(entity, prop)

    def table(self, entity: str) -> str:
        return self.table_of_root[self.model.root(entity)]

    def subtree_numbers(self, entity: str) -> dict[int, str]:
        """The entity numbers of the entity and those below it, with their names."""
        return {self.numbers[name]: name for name in self.model.subtree(entity)}

    def _place(self, entity: str, relationship: Relationship) -> None:
        """Finds what a relationship has besides its own column."""
        if relationship.to_many:
            self.links[entity, relationship.name] = self._link(entity, relationship)
        elif len(self.model.subtree(relationship.destination)) > 1:
            column = f"Z{self.numbers[relationship.destination]}_{self.columns[entity, relationship.name][1:]}"
            self.entity_columns[entity, relationship.name] = self._existing(self.table(entity), column)

    def _link(self, entity: str, relationship: Relationship) -> Link:
        if relationship.inverse is None:
            return self._foreign_key_link(relationship, f"Z{self.numbers[entity]}{relationship.name.upper()}")
        owner, inverse = self.model.declarations(relationship.destination)[relationship.inverse]
        if inverse.to_many:
            return self._join_link(entity, relationship, owner, inverse)
        return self._foreign_key_link(relationship, self.columns[owner, inverse.name])

    def _foreign_key_link(self, relationship: Relationship, column: str) -> Link:
        table = self.table(relationship.destination)
        order = self._existing(table, f"Z_FOK_{column[1:]}") if relationship.ordered else None
        return Link(table, self._existing(table, column), "Z_PK", order)

    def _join_link(self, entity: str, relationship: Relationship, other: str, inverse: Relationship) -> Link:
        """The join table, probed under the names of both sides, and its columns by name, suffixed ones included."""
        names = [f"Z_{self.numbers[entity]}{relationship.name.upper()}",
                 f"Z_{self.numbers[other]}{inverse.name.upper()}"]
        table = next((name for name in names if name in self.tables), None)
        if table is None:
            raise StoreError(f"no join table for {entity}.{relationship.name}: neither of {', '.join(names)} exists")
        target = self._join_column(table, f"Z_{self.numbers[relationship.destination]}{relationship.name.upper()}")
        if entity == other and relationship.name == inverse.name:
            if relationship.ordered:
                raise StoreError(f"{entity}.{relationship.name} is ordered and its own inverse: no layout is known")
            return Link(table, target, self._existing(table, "REFLEXIVE"), None, reflexive=True)
        owner = self._join_column(table, f"Z_{self.numbers[inverse.destination]}{inverse.name.upper()}")
        order = self._existing(table, f"Z_FOK_{target[2:]}") if relationship.ordered else None
        return Link(table, owner, target, order)

    def _join_column(self, table: str, bare: str) -> str:
        if bare in self.tables[table]:
            return bare
        suffixed = [column for column in self.tables[table] if re.fullmatch(re.escape(bare) + r"\d+", column)]
        if len(suffixed) != 1:
            raise StoreError(f"table {table} has no column {bare}, nor exactly one with a suffix")
        return suffixed[0]

    def _existing(self, table: str, column: str) -> str:
        if column not in self.tables[table]:
            raise StoreError(f"table {table} has no column {column}")
        return column

    def _entity_numbers(self, stored: dict[str, int]) -> dict[str, int]:
        """Z_ENT by entity name; a renamed entity may still have its former name in the store."""
        numbers = {}
        for name, entity in self.model.entities.items():
            number = stored.get(name, stored.get(entity.renaming_identifier))
            if number is None:
                raise StoreError(f"entity {name} of the model has no row in Z_PRIMARYKEY")
            numbers[name] = number
        return numbers

    def _root_table(self, root: str) -> str:
        names = ["Z" + name.upper() for name in (root, self.model.entities[root].renaming_identifier)]
        for name in names:
            if name in self.tables:
                return name
        raise StoreError(f"the store has no table {names[0]} for entity {root}")

    def _assign_columns(self, root: str) -> None:
        """Hands out the columns of one table in the order that decides which property gets which suffix."""
        taken = set()
        for _, entity in sorted(self.subtree_numbers(root).items()):
            for path in _stored_paths(self.model.own_properties(entity)):
                bare = column = "Z" + path[-1].upper()
                suffix = 0
                while column in taken:
                    suffix += 1
                    column = f"{bare}{suffix}"
                taken.add(column)
                self.columns[entity, *path] = self._existing(self.table_of_root[root], column)


def is_stored(prop: Attribute | Relationship) -> bool:
    """Whether a property has a place in the store: not transient, and not of undefined type."""
    return prop.stored and (isinstance(prop, Relationship) or prop.type != 0)


def _stored_paths(properties: list[Attribute | Relationship]) -> list[tuple[str, ...]]:
    """The properties with a column of their own: attributes by type and name, then to-one relationships by name."""
    stored = [prop for prop in properties if is_stored(prop)]
    leaves = [leaf for prop in stored if isinstance(prop, Attribute) for leaf in _leaves(prop)]
    leaves.sort(key=lambda leaf: (TYPE_RANKS.get(leaf[0], len(TYPE_RANKS)), leaf[1][-1]))
    to_ones = sorted(prop.name for prop in stored if isinstance(prop, Relationship) and not prop.to_many)
    return [path for _, path in leaves] + [(name,) for name in to_ones]


def _leaves(attribute: Attribute, path: tuple[str, ...] = ()) -> list[tuple[int, tuple[str, ...]]]:
    """The type and path of an attribute, or of each element of a composite one."""
    path += (attribute.name,)
    if not attribute.elements:
        return [(attribute.type, path)]
    return [leaf for element in attribute.elements for leaf in _leaves(element, path)]
