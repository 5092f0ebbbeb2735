"""The rows of a store: every object and every pair of a many-to-many relationship as columns and values."""

from __future__ import annotations

import uuid
from pathlib import Path
from random import Random

from .model import Attribute
from .objects import FileData, Object, World
from .schema import Join, Layout
from .values import column_value

FIRST_ORDER_KEY, ORDER_STEP = 2048, 1024


class RowMaker:
    """Makes rows; data that lies outside the store goes to `external_folder` as it is met."""

    def __init__(self, world: World, layout: Layout, random: Random, external_folder: Path):
        self.world, self.layout, self.random, self.external_folder = world, layout, random, external_folder
        self.leaves = {name: self._leaves(name) for name in world.model.entities}
        self.from_owners = self._columns_from_owners()

    def row(self, item: Object) -> dict:
        """Every column of the object's table that the object has a value for."""
        found = {"Z_PK": item.key, "Z_ENT": self.layout.numbers[item.entity], "Z_OPT": item.version}
        for path, column, attribute in self.leaves[item.entity]:
            value = _value_at(item.values, path)
            if value is not None:
                found[column] = self._stored(attribute, value)
        for name, target in item.one.items():
            key = self.world.declared[item.entity][name][0], name
            found[self.layout.columns[key]] = target.key
            if key in self.layout.entity_columns:
                found[self.layout.entity_columns[key]] = self.layout.numbers[target.entity]
        found.update(self.from_owners.get(item, {}))
        return found

    def _leaves(self, entity: str) -> list[tuple[tuple[str, ...], str, Attribute]]:
        """(path below the object, column, attribute) of every stored attribute and composite element."""
        found = []

        def collect(path: tuple[str, ...], attribute: Attribute) -> None:
            if attribute.elements:
                for element in attribute.elements:
                    collect((*path, element.name), element)
            elif not attribute.transient:
                found.append((path[1:], self.layout.columns[path], attribute))

        for owner, item in self.world.declared[entity].values():
            if isinstance(item, Attribute):
                collect((owner, item.name), item)
        return found

    def _stored(self, attribute: Attribute, value):
        if not attribute.external:
            return column_value(attribute, value)
        if not isinstance(value, FileData):
            return b"\x01" + value
        name = str(uuid.UUID(int=self.random.getrandbits(128), version=4)).upper()
        self.external_folder.mkdir(parents=True, exist_ok=True)
        (self.external_folder / name).write_bytes(value)
        return b"\x02" + name.encode() + b"\x00"

    def _columns_from_owners(self) -> dict[Object, dict]:
        """What objects hold for the to-many relationships that end in them: order keys and owners without inverse."""
        found: dict[Object, dict] = {}
        for owner in self.world.objects:
            for name in owner.many:
                key = self.world.declared[owner.entity][name][0], name
                if key in self.layout.joins:
                    continue
                targets, column, order = owner.targets(name), self.layout.columns.get(key), \
                    self.layout.order_columns.get(key)
                for target, order_key in zip(targets, self.order_keys(len(targets))):
                    values = found.setdefault(target, {})
                    if column is not None:
                        values[column] = owner.key
                    if order is not None:
                        values[order] = order_key
        return found

    def order_keys(self, count: int) -> list[int]:
        """Ascending order keys of the kinds that real stores show."""
        style = self.random.choice(("fresh", "front", "gap", "small", "large", "negative"))
        if style == "small":
            return sorted(self.random.sample(range(count * 3), count))
        if style == "gap" and count > 3:
            spaced = self.order_keys_from(FIRST_ORDER_KEY, count - 2)
            return spaced[:1] + [spaced[0] + 341, spaced[0] + 682] + spaced[1:]
        start = {"front": FIRST_ORDER_KEY - ORDER_STEP * min(count, 2), "large": 1049600,
                 "negative": -ORDER_STEP * 5}.get(style, FIRST_ORDER_KEY)
        return self.order_keys_from(start, count)

    @staticmethod
    def order_keys_from(start: int, count: int) -> list[int]:
        return [start + ORDER_STEP * index for index in range(count)]

    # Many-to-many

    def join_rows(self, join: Join) -> list[dict]:
        name = join.relationship.name
        owners = [item for item in self.world.objects if name in item.many
                  and self.world.declared[item.entity][name][0] == join.owner]
        if join.reflexive:
            return self._reflexive_rows(join, owners)
        pairs = {(owner, target): {join.owner_column: owner.key, join.target_column: target.key}
                 for owner in owners for target in owner.many[name]}
        if join.target_order:
            for owner in owners:
                targets = owner.targets(name)
                for target, order_key in zip(targets, self.order_keys(len(targets))):
                    pairs[owner, target][join.target_order] = order_key
        if join.owner_order:
            self._order_inverse(join, pairs)
        return list(pairs.values())

    def _order_inverse(self, join: Join, pairs: dict) -> None:
        inverse = join.relationship.inverse
        for target in self.world.objects:
            if self.world.declared[target.entity].get(inverse, ("",))[0] == join.relationship.destination:
                owners = target.targets(inverse)
                for owner, order_key in zip(owners, self.order_keys(len(owners))):
                    pairs[owner, target][join.owner_order] = order_key

    def _reflexive_rows(self, join: Join, owners: list[Object]) -> list[dict]:
        """A pair once, the smaller or the larger key first, or twice: a reader has to take the union."""
        rows = []
        for owner in owners:
            for target in owner.many[join.relationship.name]:
                if owner.key > target.key:
                    continue
                rows += [{join.owner_column: first, join.target_column: second}
                         for first, second in self._ways(owner.key, target.key)]
        return rows

    def _ways(self, smaller: int, larger: int) -> list[tuple[int, int]]:
        if smaller == larger:
            return [(smaller, larger)]
        both = [(smaller, larger), (larger, smaller)]
        return self.random.choice((both[:1], both[:1], both[1:], both))


def _value_at(values: dict, path: tuple[str, ...]):
    """The value at a path of composite elements; None where it is nil."""
    for name in path:
        values = values.get(name)
        if values is None:
            return None
    return values
