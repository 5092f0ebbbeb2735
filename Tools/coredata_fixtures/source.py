"""The model as Xcode saves it: the XML of an `.xcdatamodel`."""

from __future__ import annotations

from xml.sax.saxutils import quoteattr

from .model import Attribute, Entity, Model, Relationship

HEADER = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
SCALAR_TYPES = {"Integer 16", "Integer 32", "Integer 64", "Double", "Float", "Boolean"}


def source_text(model: Model) -> str:
    """The whole `contents` file; Xcode ends it without a newline."""
    lines = [line for entity in model.entities.values() for line in _entity(entity)]
    lines += [line for name, elements in model.composites().items()
              for line in _element("composite", {"name": name}, [_attribute(item) for item in elements])]
    attributes = {"type": "com.apple.IDECoreDataModeler.DataModel", "documentVersion": "1.0",
                  "lastSavedToolsVersion": "22758", "systemVersion": "23E224", "minimumToolsVersion": "Automatic",
                  "sourceLanguage": "Swift", "userDefinedModelVersionIdentifier": model.identifier}
    return HEADER + "\n".join(_element("model", attributes, [lines], indent=4))


def _entity(entity: Entity) -> list[str]:
    attributes = {"name": entity.name, "isAbstract": _flag(entity.abstract), "parentEntity": entity.parent,
                  "elementID": entity.renaming, "versionHashModifier": entity.modifier, "syncable": "YES"}
    children = [_attribute(item) for item in entity.attributes]
    children += [_relationship(item) for item in entity.relationships]
    children += [_fetch_index(name, items) for name, items in entity.indexes.items()]
    if entity.compound_indexes:
        children.append(_nested("compoundIndexes", "compoundIndex", "index", entity.compound_indexes))
    if entity.unique:
        children.append(_nested("uniquenessConstraints", "uniquenessConstraint", "constraint", entity.unique))
    return _element("entity", attributes, children, indent=4)


def _attribute(attribute: Attribute) -> list[str]:
    return _element("attribute", {
        "name": attribute.name, "optional": _flag(attribute.optional), "transient": _flag(attribute.transient),
        "attributeType": attribute.type, "composite": attribute.composite, "defaultValueString": attribute.default,
        "usesScalarValueType": "YES" if attribute.type in SCALAR_TYPES else None,
        "valueTransformerName": attribute.transformer,
        "allowsExternalBinaryDataStorage": _flag(attribute.external), "indexed": _flag(attribute.indexed),
        "elementID": attribute.renaming, "preserveAfterDeletion": _flag(attribute.preserved),
        "versionHashModifier": attribute.modifier})


def _relationship(item: Relationship) -> list[str]:
    return _element("relationship", {
        "name": item.name, "optional": _flag(item.optional), "toMany": _flag(item.many),
        "minCount": str(item.minimum) if item.minimum else None, "maxCount": None if item.many else "1",
        "deletionRule": item.rule, "ordered": _flag(item.ordered), "destinationEntity": item.destination,
        "inverseName": item.inverse, "inverseEntity": item.destination if item.inverse else None,
        "versionHashModifier": item.modifier})


def _fetch_index(name: str, properties: list[str]) -> list[str]:
    """A fetch index; a property with a minus sign before it is descending."""
    return _element("fetchIndex", {"name": name}, [_element("fetchIndexElement", {
        "property": item.lstrip("-"), "type": "Binary", "order": "descending" if item[0] == "-" else "ascending"})
        for item in properties])


def _nested(outer: str, middle: str, inner: str, groups: list[list[str]]) -> list[str]:
    return _element(outer, {}, [_element(middle, {}, [_element(inner, {"value": value}) for value in group])
                                for group in groups])


def _element(tag: str, attributes: dict, children: list[list[str]] = (), indent: int = 4) -> list[str]:
    """The lines of an element; attributes without a value are left out."""
    start = " ".join([tag] + [f"{key}={quoteattr(value)}" for key, value in attributes.items() if value is not None])
    if not children:
        return [f"<{start}/>"]
    return [f"<{start}>", *(" " * indent + line for child in children for line in child), f"</{tag}>"]


def _flag(value: bool) -> str | None:
    return "YES" if value else None
