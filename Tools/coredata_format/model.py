"""The part of a managed object model that a SQLite store follows, and its three file forms."""

import json
import plistlib
import xml.etree.ElementTree as ElementTree
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from . import StoreError

INTEGER_TYPES = {100: 16, 200: 32, 300: 64}
DECIMAL, DOUBLE, FLOAT, STRING, BOOLEAN, DATE, BINARY, UUID, URI, TRANSFORMABLE, COMPOSITE = (
    400, 500, 600, 700, 800, 900, 1000, 1100, 1200, 1800, 2100)
XML_TYPES = {
    None: 0, "Undefined": 0, "Integer 16": 100, "Integer 32": 200, "Integer 64": 300, "Decimal": DECIMAL,
    "Double": DOUBLE, "Float": FLOAT, "String": STRING, "Boolean": BOOLEAN, "Date": DATE, "Binary": BINARY,
    "UUID": UUID, "URI": URI, "Transformable": TRANSFORMABLE, "Composite": COMPOSITE}
EXTERNAL_STORAGE_FLAG = 4


@dataclass
class Attribute:
    """An attribute; `elements` is filled for composite ones only."""
    name: str
    type: int
    stored: bool = True
    external: bool = False
    derived: bool = False
    elements: list["Attribute"] = field(default_factory=list)


@dataclass
class Relationship:
    """A relationship, its destination and inverse by name."""
    name: str
    destination: str
    inverse: str | None
    to_many: bool
    ordered: bool
    stored: bool = True


@dataclass
class FetchIndex:
    """A fetch index; `elements` are (property, ascending)."""
    name: str
    elements: list[tuple[str, bool]]
    rtree: bool = False
    partial: bool = False


@dataclass
class Entity:
    """An entity; `properties` may repeat inherited ones."""
    name: str
    parent: str | None
    renaming_identifier: str
    properties: dict[str, Attribute | Relationship]
    abstract: bool = False
    indexes: list[FetchIndex] = field(default_factory=list)


class Model:
    """Entities by name, and the questions about inheritance that the layout asks."""

    def __init__(self, entities: list[Entity]):
        self.entities = {entity.name: entity for entity in entities}
        for entity in entities:
            if entity.parent is not None and entity.parent not in self.entities:
                raise StoreError(f"entity {entity.name} has the unknown parent {entity.parent}")
        self.lines = {name: self._line(name) for name in self.entities}
        self.subtree = cache(self._subtree)
        self.declarations = cache(self._declarations)

    def _line(self, name: str) -> list[str]:
        """The entity and its ancestors, the root first."""
        parent = self.entities[name].parent
        return ([] if parent is None else self._line(parent)) + [name]

    def root(self, name: str) -> str:
        return self.lines[name][0]

    def _subtree(self, name: str) -> set[str]:
        """The entity and all entities below it."""
        return {other for other, line in self.lines.items() if name in line}

    def _declarations(self, name: str) -> dict[str, tuple[str, Attribute | Relationship]]:
        """Every property the entity has, with the topmost entity that declares it."""
        found = {}
        for declarer in self.lines[name]:
            for property_name, prop in self.entities[declarer].properties.items():
                found.setdefault(property_name, (declarer, prop))
        return found

    def own_properties(self, name: str) -> list[Attribute | Relationship]:
        """The properties that the entity declares first, without inherited and redefined ones."""
        return [prop for declarer, prop in self.declarations(name).values() if declarer == name]


def load_model(path: Path) -> Model:
    """Reads a model source (`contents`), a compiled model or a decoded model cache, told apart by content."""
    data = (path / "contents" if path.is_dir() else path).read_bytes()
    if data.startswith(b"bplist00"):
        return model_from_archive(data)
    return model_from_json(data) if data.lstrip().startswith(b"{") else model_from_xml(data)


# Keyed archives


class Archive:
    """A keyed archive whose references are resolved by hand: its graph is cyclic."""

    def __init__(self, data: bytes):
        plist = plistlib.loads(data, fmt=plistlib.FMT_BINARY)
        self.objects = plist["$objects"]
        self.root = self.resolve(plist["$top"]["root"])

    def resolve(self, value):
        """The object behind a reference, nil as None, mutable strings as plain ones."""
        if isinstance(value, plistlib.UID):
            value = self.objects[value.data]
        if isinstance(value, dict) and "NS.string" in value:
            return value["NS.string"]
        return None if value == "$null" else value

    def get(self, owner: dict, key: str):
        return self.resolve(owner.get(key))

    def list(self, owner: dict, key: str) -> list:
        """The members of an array or set."""
        collection = self.get(owner, key)
        return [self.resolve(item) for item in collection["NS.objects"]] if collection else []

    def values(self, owner: dict, key: str) -> list:
        """The values of a dictionary in either of its two forms."""
        dictionary = self.get(owner, key)
        if "searchMapping" not in dictionary:
            return self.list(owner, key)
        empty = self.get(dictionary, "emptyToken")
        return [value for value in self.list(dictionary, "values") if value != empty]

    def class_name(self, owner: dict) -> str:
        return self.get(owner, "$class")["$classname"]


def model_from_archive(data: bytes) -> Model:
    """Reads a compiled model or an inflated model cache."""
    archive = Archive(data)
    return Model([_archived_entity(archive, item) for item in archive.values(archive.root, "NSEntities")])


def _archived_entity(archive: Archive, item: dict) -> Entity:
    parent = archive.get(item, "NSSuperentity")
    name = archive.get(item, "NSEntityName")
    properties = [_archived_property(archive, prop) for prop in archive.values(item, "NSProperties")]
    return Entity(name, archive.get(parent, "NSEntityName") if parent else None,
                  archive.get(item, "NSRenamingIdentifier") or name, _named(properties),
                  item.get("NSIsAbstract", False),
                  [_archived_index(archive, index) for index in archive.list(item, "NSFetchIndexDescriptions")])


def _archived_index(archive: Archive, item: dict) -> FetchIndex:
    elements = archive.list(item, "NSIndexElements")
    return FetchIndex(archive.get(item, "NSIndexName"),
                      [(archive.get(element, "NSPropertyName"), element.get("NSAscending", False))
                       for element in elements],
                      any(element.get("NSFetchIndexElementType", 0) == 1 for element in elements),
                      archive.get(item, "NSPartialIndexPredicate") is not None)


def _archived_property(archive: Archive, item: dict) -> Attribute | Relationship | None:
    """A property; None for an inherited one's proxy and for a fetched property."""
    kind, stored = archive.class_name(item), not item.get("NSIsTransient", False)
    if kind == "NSRelationshipDescription":
        return Relationship(archive.get(item, "NSPropertyName"), archive.get(item, "_NSDestinationEntityName"),
                            archive.get(item, "_NSInverseRelationshipName"), item["NSMaxCount"] != 1,
                            item.get("NSIsOrdered", False), stored)
    if not kind.endswith("AttributeDescription"):
        return None
    elements = [_archived_property(archive, element) for element in archive.list(item, "NSCompositeElements")]
    return Attribute(archive.get(item, "NSPropertyName"), item["NSAttributeType"], stored,
                     bool(item.get("NSFlagsKey", 0) & EXTERNAL_STORAGE_FLAG), kind.startswith("NSDerived"), elements)


# Decoded model caches


def model_from_json(data: bytes) -> Model:
    """Reads the JSON form of a model cache (`modelcache.json` of the corpus)."""
    return Model([Entity(item["name"], item["super"], item.get("renamingIdentifier") or item["name"],
                         _named(_json_property(prop) for prop in item["properties"]), item.get("abstract", False),
                         [_json_index(index) for index in item.get("fetchIndexes", [])])
                  for item in json.loads(data)["entities"]])


def _json_index(item: dict) -> FetchIndex:
    elements = item["elements"]
    return FetchIndex(item["name"], [(element["property"], element["asc"]) for element in elements],
                      any(element["type"] == 1 for element in elements), item.get("partial", False))


def _json_property(item: dict) -> Attribute | Relationship | None:
    stored = not item.get("transient", False)
    if item["kind"] == "relationship":
        return Relationship(item["name"], item["destination"], item.get("inverse"), item["max"] != 1,
                            item.get("ordered", False), stored)
    if "typeCode" not in item:
        return None
    return Attribute(item["name"], item["typeCode"], stored, bool(item.get("flags", 0) & EXTERNAL_STORAGE_FLAG),
                     item["kind"] == "derived", [_json_property(element) for element in item.get("elements", [])])


def _named(properties) -> dict:
    return {prop.name: prop for prop in properties if prop}


# Model sources


def model_from_xml(data: bytes) -> Model:
    """Reads the `contents` file of an `.xcdatamodel`."""
    try:
        tree = ElementTree.fromstring(data)
    except ElementTree.ParseError as error:
        raise StoreError(f"the model is not XML: {error}") from error
    composites = {item.get("name"): item for item in tree.iter("composite")}
    return Model([_xml_entity(item, composites) for item in tree.iter("entity")])


def _xml_entity(item: ElementTree.Element, composites: dict) -> Entity:
    attributes = [_xml_attribute(child, composites) for child in item.findall("attribute")]
    relationships = [_xml_relationship(child) for child in item.findall("relationship")]
    # The older way to ask for an index is compiled to a fetch index of the attribute's name.
    indexes = [FetchIndex(child.get("name"), [(child.get("name"), True)])
               for child in item.findall("attribute") if _flag(child, "indexed")]
    return Entity(item.get("name"), item.get("parentEntity"), item.get("elementID") or item.get("name"),
                  _named(attributes + relationships), _flag(item, "isAbstract"),
                  indexes + [_xml_index(child) for child in item.findall("fetchIndex")])


def _xml_index(item: ElementTree.Element) -> FetchIndex:
    elements = item.findall("fetchIndexElement")
    return FetchIndex(item.get("name"),
                      [(element.get("property"), element.get("order") != "descending") for element in elements],
                      any(element.get("type") == "RTree" for element in elements),
                      item.get("partialIndexPredicate") is not None)


def _xml_attribute(item: ElementTree.Element, composites: dict) -> Attribute:
    composite = composites.get(item.get("composite"), ())
    elements = [_xml_attribute(child, composites) for child in composite if child.tag == "attribute"]
    return Attribute(item.get("name"), XML_TYPES[item.get("attributeType")], not _flag(item, "transient"),
                     _flag(item, "allowsExternalBinaryDataStorage"), _flag(item, "derived"), elements)


def _xml_relationship(item: ElementTree.Element) -> Relationship:
    maximum = int(item.get("maxCount") or (0 if _flag(item, "toMany") else 1))
    return Relationship(item.get("name"), item.get("destinationEntity"), item.get("inverseName"), maximum != 1,
                        _flag(item, "ordered"), not _flag(item, "transient"))


def _flag(item: ElementTree.Element, key: str) -> bool:
    return item.get(key) in ("YES", "true")
