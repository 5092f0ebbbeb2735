"""Source models as entities with classes, read from their XML alone."""
import dataclasses
import plistlib
import re
import xml.etree.ElementTree as ET
from pathlib import Path

IDENTIFIER = re.compile(r"[^\W\d]\w*")


@dataclasses.dataclass
class Property:
    name: str
    # "attribute", "relationship" or "fetchedProperty"
    kind: str
    # The attributes of the XML element.
    facts: dict
    # The entity that declares it.
    owner: str

    def flag(self, name): return self.facts.get(name) == "YES"


@dataclasses.dataclass
class Entity:
    name: str
    parent: str | None
    is_abstract: bool
    # Nil for NSManagedObject.
    class_name: str | None
    properties: list


class Model:
    """One version of a model. `source` is what is compiled: the bundle, where the version is the current one of several."""

    def __init__(self, number, version, source, corpus):
        self.version, self.source, self.number = version, source, number
        self.path = str(version.relative_to(corpus))
        self.module = f"M{number:03}_" + re.sub(r"\W", "_", version.stem, flags=re.ASCII)
        self.entities, self.composites, self.owners = {}, {}, {}
        # Xcode 3 had another file.
        self.is_readable = (version / "contents").exists()
        if self.is_readable: self.read()

    def read(self):
        root = ET.parse(self.version / "contents").getroot()
        for element in root.iter("composite"):
            self.composites[element.get("name")] = [dict(child.attrib) for child in element.iter("attribute")]
        for element in root.iter("entity"):
            name, *modules, class_name = element.get("name"), *(element.get("representedClassName") or "").split(".")
            # The classes of such a model are found in this module only.
            if len(modules) == 1 and modules[0]: self.module = modules[0]
            properties = [Property(child.get("name"), child.tag, dict(child.attrib), name) for child in element
                          if child.tag in ("attribute", "relationship", "fetchedProperty")]
            self.entities[name] = Entity(
                name, element.get("parentEntity"), element.get("isAbstract") == "YES",
                None if class_name in ("", "NSManagedObject") else class_name, properties)
        # The class that several entities share is generated for the first.
        for entity in self.entities.values():
            if entity.class_name: self.owners.setdefault(entity.class_name, entity)

    def chain(self, name):
        """An entity and its parents, the root first."""
        found = []
        while name is not None and name in self.entities:
            found.insert(0, self.entities[name])
            name = self.entities[name].parent
        return found

    def properties(self, name):
        """Those of an entity and its parents."""
        return [one for entity in self.chain(name) for one in entity.properties]

    def ordered(self):
        """All entities, parents before children."""
        return sorted(self.entities.values(), key=lambda entity: len(self.chain(entity.name)))

    def class_of(self, name):
        """The class in accessors that name an entity."""
        entity = self.entities.get(name)
        return entity.class_name if entity and entity.class_name else "NSManagedObject"

    def concrete(self, name):
        """The entity itself or the first child whose objects can stand where accessors have the class of the entity; nil without one."""
        classes = lambda entity: {self.class_of(one.name) for one in self.chain(entity.name)} if entity.class_name else set()
        for entity in self.ordered():
            if name in [one.name for one in self.chain(entity.name)] and not entity.is_abstract:
                if self.class_of(name) == "NSManagedObject" or self.class_of(name) in classes(entity): return entity.name
        return None


def current(bundle):
    """The folder of the current version of an .xcdatamodeld, or nil."""
    versions = sorted(path for path in bundle.iterdir() if path.suffix == ".xcdatamodel")
    try:
        with open(bundle / ".xccurrentversion", "rb") as file: name = plistlib.load(file).get("_XCCurrentVersionName")
    except FileNotFoundError: name = None
    if name: return bundle / name
    return versions[0] if len(versions) == 1 else None


def all_models(corpus):
    """Every version of every source model, in the order of their paths."""
    found = []
    for number, version in enumerate(sorted(corpus.rglob("*.xcdatamodel"))):
        bundle = version.parent
        is_current = bundle.suffix == ".xcdatamodeld" and current(bundle) == version
        found.append(Model(number, version, bundle if is_current else version, corpus))
    return found
