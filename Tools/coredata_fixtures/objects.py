"""The objects of a fixture in memory: the truth that both the store and the expected dump are written from."""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random

from .model import Model, Relationship


class FileData(bytes):
    """Binary data that lies in a file of its own, whatever its size."""


@dataclass(eq=False)
class Object:
    """An object; to-many targets are kept as the keys of a dictionary, which are unique and have an order."""
    entity: str
    key: int
    version: int
    values: dict[str, object] = field(default_factory=dict)
    one: dict[str, Object] = field(default_factory=dict)
    many: dict[str, dict[Object, None]] = field(default_factory=dict)

    @property
    def place(self) -> tuple[bytes, int]:
        """What objects are sorted by."""
        return self.entity.encode(), self.key

    def targets(self, name: str) -> list[Object]:
        return list(self.many.get(name, ()))


class World:
    """All objects of a store; it hands out keys with gaps and keeps both sides of relationships in step."""

    def __init__(self, model: Model, random: Random, gaps: float = 0.03):
        self.model, self.random, self.gaps = model, random, gaps
        self.objects: dict[Object, None] = {}
        self.highest = {name: 0 for name in model.children(None)}
        self.declared = {name: model.declared(name) for name in model.entities}

    def new(self, entity: str, **values) -> Object:
        """A new object; nil values are left out."""
        if self.model.entities[entity].abstract:
            raise ValueError(f"{entity} is abstract")
        root = self.model.root(entity)
        self.highest[root] += 1 + (self.random.randint(1, 40) if self.random.random() < self.gaps else 0)
        made = Object(entity, self.highest[root], self.random.choice((1, 1, 1, 2, 3, 17)))
        for name, value in values.items():
            self.set(made, name, value)
        self.objects[made] = None
        return made

    def set(self, owner: Object, name: str, value) -> None:
        """Sets an attribute."""
        if name not in self.declared[owner.entity]:
            raise ValueError(f"{owner.entity} has no {name}")
        owner.values.pop(name, None)
        if value is not None:
            owner.values[name] = value

    def link(self, owner: Object, name: str, target: Object) -> None:
        """Relates two objects; what a to-one side pointed at before is let go."""
        relationship = self._relationship(owner, name)
        inverse = self._inverse(relationship)
        if relationship.destination not in self.model.line(target.entity):
            raise ValueError(f"{owner.entity}.{name} cannot point at a {target.entity}")
        self._release(owner, relationship)
        if inverse is not None:
            self._release(target, inverse)
            self._put(target, inverse, owner)
        self._put(owner, relationship, target)

    def unlink(self, owner: Object, name: str, target: Object) -> None:
        relationship = self._relationship(owner, name)
        inverse = self._inverse(relationship)
        self._remove(owner, relationship, target)
        if inverse is not None:
            self._remove(target, inverse, owner)

    def reorder(self, owner: Object, name: str) -> None:
        """Shuffles the targets of an ordered relationship."""
        targets = owner.targets(name)
        self.random.shuffle(targets)
        owner.many[name] = dict.fromkeys(targets)

    def delete(self, gone: Object) -> None:
        """Deletes an object and nullifies what has a link to it; its key stays used."""
        for name in list(gone.one):
            self.unlink(gone, name, gone.one[name])
        for name in list(gone.many):
            for target in gone.targets(name):
                self.unlink(gone, name, target)
        del self.objects[gone]

    def sorted_objects(self) -> list[Object]:
        return sorted(self.objects, key=lambda item: item.place)

    def of(self, entity: str) -> list[Object]:
        """The objects of an entity and of those below it."""
        names = set(self.model.subtree(entity))
        return [item for item in self.objects if item.entity in names]

    def _relationship(self, owner: Object, name: str) -> Relationship:
        return self.declared[owner.entity][name][1]

    def _inverse(self, relationship: Relationship) -> Relationship | None:
        return self.declared[relationship.destination][relationship.inverse][1] if relationship.inverse else None

    def _release(self, owner: Object, relationship: Relationship) -> None:
        if not relationship.many and relationship.name in owner.one:
            self.unlink(owner, relationship.name, owner.one[relationship.name])

    @staticmethod
    def _put(owner: Object, relationship: Relationship, target: Object) -> None:
        if relationship.many:
            owner.many.setdefault(relationship.name, {})[target] = None
        else:
            owner.one[relationship.name] = target

    @staticmethod
    def _remove(owner: Object, relationship: Relationship, target: Object) -> None:
        if relationship.many:
            owner.many.get(relationship.name, {}).pop(target, None)
        elif owner.one.get(relationship.name) is target:
            del owner.one[relationship.name]
