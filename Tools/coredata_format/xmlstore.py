"""The canonical dump of a store in Core Data's XML format."""

import base64
import plistlib
import re
import uuid
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator
from pathlib import Path

from . import StoreError
from .model import (BINARY, BOOLEAN, DATE, DOUBLE, FLOAT, INTEGER_TYPES, TRANSFORMABLE, UUID, Attribute, Model,
                    Relationship)
from .values import ENCODERS

ESCAPE = re.compile(r"\\u([0-9A-Fa-f]{2})([0-9A-Fa-f]{2})")
KEY_SPACES = "OpenCoreDataKeySpaces"
EXTERNAL_DATA = "OpenCoreDataExternalData"


def is_document(path: Path) -> bool:
    """Whether a file begins as an XML document does."""
    with path.open("rb") as file:
        return file.read(64).lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"<")


class DocumentReader:
    """Reads the objects of a document through a model. What is wrong with one is a StoreError."""

    def __init__(self, path: Path, model: Model):
        self.model = model
        try:
            self.root = ElementTree.parse(path).getroot()
        except ElementTree.ParseError as error:
            raise StoreError(f"no XML document: {error}") from error
        self.entity_names = {name.upper(): name for name in model.entities}
        metadata = self._metadata()
        self.spaces = metadata.get(KEY_SPACES, [])
        self.external = metadata.get(EXTERNAL_DATA, {})
        self.external_folder = path.resolve().parent / f".{path.resolve().name}_EXTERNAL_DATA"
        self.entities = {element.get("id"): self._entity(element) for element in self.root.iter("object")}

    def objects(self) -> Iterator[dict]:
        """All objects, sorted by entity name and key."""
        found = [self._object(element) for element in self.root.iter("object")]
        yield from sorted(found, key=lambda item: (item["entity"], item["key"]))

    def _metadata(self) -> dict:
        plist = self.root.find("databaseInfo/metadata/plist")
        return {} if plist is None else plistlib.loads(ElementTree.tostring(plist), fmt=plistlib.FMT_XML)

    def _entity(self, element: ElementTree.Element) -> str:
        try:
            return self.entity_names[element.get("type", "").upper()]
        except KeyError as error:
            raise StoreError(f"an object of the unknown entity {error}") from error

    def _key(self, identifier: str) -> int:
        """The key of an object: its number, or where it stands in the number space of its entity's tree."""
        number = int(identifier.removeprefix("z"))
        if not self.spaces:
            return number
        space = self.spaces.index(self.model.root(self.entities[identifier]))
        key, rest = divmod(number - 1, len(self.spaces))
        if rest != space:
            raise StoreError(f"{identifier} is not in the number space of its entity")
        return key + 1

    def _object(self, element: ElementTree.Element) -> dict:
        identifier = element.get("id")
        entity = self.entities[identifier]
        texts = {child.get("name"): child.text or "" for child in element.iter("attribute")}
        targets = {child.get("name"): child.get("idrefs", "").split() for child in element.iter("relationship")}
        attributes, relationships = {}, {}
        for _, prop in self.model.declarations(entity).values():
            if isinstance(prop, Attribute):
                value = self._attribute(prop, texts, prop.name)
                if int(identifier.removeprefix("z")) in self.external.get(entity, {}).get(prop.name, []):
                    value = self._external(texts[prop.name.lower()])
                if value is not None:
                    attributes[prop.name] = value
            elif targets.get(prop.name.lower()):
                relationships[prop.name] = self._targets(prop, targets[prop.name.lower()])
        return {"entity": entity, "key": self._key(identifier), "attributes": attributes, "relationships": relationships}

    def _attribute(self, attribute: Attribute, texts: dict[str, str], path: str):
        """The JSON of an attribute's value; None where it is nil."""
        if attribute.elements:
            parts = {part.name: self._attribute(part, texts, f"{path}.{part.name}") for part in attribute.elements}
            return {name: value for name, value in parts.items() if value is not None} or None
        text = texts.get(path.lower())
        if text is None or not attribute.stored:
            return None
        return ENCODERS[attribute.type](_stored(attribute.type, text))

    def _external(self, text: str):
        """The JSON of a value that lies in a file of its own: what is in the document is the file's name and a zero byte."""
        name = _stored(BINARY, text).rstrip(b"\0").decode("ascii")
        return ENCODERS[BINARY]((self.external_folder / str(uuid.UUID(name)).upper()).read_bytes())

    def _targets(self, relationship: Relationship, identifiers: list[str]):
        """The JSON of a relationship's targets: in their order, or by entity and key."""
        found = [(self.entities[identifier], self._key(identifier)) for identifier in identifiers]
        if not relationship.ordered:
            found.sort()
        references = [f"{entity}/p{key}" for entity, key in found]
        return references if relationship.to_many else references[0]


def _stored(type: int, text: str):
    """A value as a SQLite store would hold it."""
    if type in INTEGER_TYPES or type == BOOLEAN:
        return int(text)
    if type in (DOUBLE, FLOAT, DATE):
        return float(text)
    if type == UUID:
        return uuid.UUID(text).bytes
    if type in (BINARY, TRANSFORMABLE):
        return base64.b64decode("".join(text.split()))
    return _unescaped(text)


def _unescaped(text: str) -> str:
    """Each escape is one UTF-16 unit with its bytes swapped."""
    swapped = ESCAPE.sub(lambda match: chr(int(match[2] + match[1], 16)), text)
    return swapped.encode("utf-16", "surrogatepass").decode("utf-16")
