"""The managed object model of a fixture: what its three written forms and its store are made from."""

from __future__ import annotations

from dataclasses import dataclass, field

ATTRIBUTE_TYPES = {
    "Integer 16": 100, "Integer 32": 200, "Integer 64": 300, "Decimal": 400, "Double": 500, "Float": 600,
    "String": 700, "Boolean": 800, "Date": 900, "Binary": 1000, "UUID": 1100, "URI": 1200, "Transformable": 1800,
    "Composite": 2100}


@dataclass(frozen=True)
class Attribute:
    """An attribute; `elements` are those of its composite, whose name is `composite`."""
    name: str
    type: str
    optional: bool = True
    default: str | None = None
    transient: bool = False
    external: bool = False
    preserved: bool = False
    indexed: bool = False
    modifier: str | None = None
    renaming: str | None = None
    transformer: str | None = None
    composite: str | None = None
    elements: tuple[Attribute, ...] = ()

    @property
    def code(self) -> int:
        return ATTRIBUTE_TYPES[self.type]


@dataclass(frozen=True)
class Relationship:
    """A relationship; without an inverse it is one-way."""
    name: str
    destination: str
    inverse: str | None = None
    many: bool = False
    ordered: bool = False
    optional: bool = True
    minimum: int = 0
    rule: str = "Nullify"
    modifier: str | None = None

    @property
    def maximum(self) -> int:
        return 0 if self.many else 1


@dataclass
class Entity:
    """An entity with its own properties only; constraints and indexes name properties."""
    name: str
    properties: list[Attribute | Relationship] = field(default_factory=list)
    parent: str | None = None
    abstract: bool = False
    unique: list[list[str]] = field(default_factory=list)
    indexes: dict[str, list[str]] = field(default_factory=dict)
    compound_indexes: list[list[str]] = field(default_factory=list)
    modifier: str | None = None
    renaming: str | None = None

    @property
    def attributes(self) -> list[Attribute]:
        return sorted((item for item in self.properties if isinstance(item, Attribute)), key=lambda item: item.name)

    @property
    def relationships(self) -> list[Relationship]:
        return sorted((item for item in self.properties if isinstance(item, Relationship)),
                      key=lambda item: item.name)


class Model:
    """Entities by name, and the questions about inheritance that every writer asks."""

    def __init__(self, entities: list[Entity], identifier: str = ""):
        self.entities = {entity.name: entity for entity in sorted(entities, key=lambda item: item.name)}
        self.identifier = identifier
        for entity in entities:
            self._check(entity)

    def _check(self, entity: Entity) -> None:
        """Stops a mistake in a fixture before it becomes a store that contradicts itself."""
        above = [item.name for owner in self.line(entity.name)[:-1] for item in self.entities[owner].properties]
        names = [item.name.upper() for item in entity.properties]
        if len(set(names)) < len(names) or set(above) & {item.name for item in entity.properties}:
            raise ValueError(f"{entity.name} declares a property twice, or an inherited one again")
        for relationship in entity.relationships:
            if relationship.inverse is None:
                continue
            inverse = self.declared(relationship.destination).get(relationship.inverse)
            if inverse is None or inverse[0] != relationship.destination or inverse[1].inverse != relationship.name \
                    or inverse[1].destination != entity.name:
                raise ValueError(f"{entity.name}.{relationship.name} and its inverse do not fit")

    def line(self, name: str) -> list[str]:
        """The entity and its ancestors, the root first."""
        found = [name]
        while self.entities[found[0]].parent is not None:
            found.insert(0, self.entities[found[0]].parent)
        return found

    def root(self, name: str) -> str:
        return self.line(name)[0]

    def children(self, name: str | None) -> list[str]:
        """The direct sub-entities, or the roots, in the order in which entities are numbered."""
        names = [entity.name for entity in self.entities.values() if entity.parent == name]
        return sorted(names, key=lambda item: (item.lower(), item))

    def subtree(self, name: str) -> list[str]:
        """The entity and all entities below it, in the order in which entities are numbered."""
        return [name] + [below for child in self.children(name) for below in self.subtree(child)]

    def declared(self, name: str) -> dict[str, tuple[str, Attribute | Relationship]]:
        """Every property of the entity, inherited ones included, with the entity that declares it, sorted by name."""
        found = {item.name: (owner, item) for owner in self.line(name) for item in self.entities[owner].properties}
        return dict(sorted(found.items()))

    def all_relationships(self) -> list[tuple[str, Relationship]]:
        """Every relationship with the entity that declares it."""
        return [(entity.name, item) for entity in self.entities.values() for item in entity.relationships]

    def composites(self) -> dict[str, tuple[Attribute, ...]]:
        """The composites that attributes use, nested ones included, by name."""
        found = {}

        def collect(attributes) -> None:
            for attribute in attributes:
                if attribute.composite is not None:
                    found[attribute.composite] = attribute.elements
                    collect(attribute.elements)

        for entity in self.entities.values():
            collect(entity.attributes)
        return dict(sorted(found.items()))
