"""Version hashes of entities, and the digest and checksum of a model."""

from __future__ import annotations

import base64
import hashlib
import json
import struct
from pathlib import Path

from .model import ATTRIBUTE_TYPES, Attribute, Entity, Model, Relationship


def sha256(data: bytes) -> bytes:
    return hashlib.sha256(data).digest()


def _base(name: str, optional: bool, modifier: str | None) -> bytes:
    """The part that both kinds of properties share; only derived attributes would be read-only."""
    return sha256(name.encode() + bytes([optional, False]) + (modifier or "").encode())


def attribute_hash(attribute: Attribute) -> bytes:
    flags = b"\x01" * attribute.external + b"\x01" * attribute.preserved
    return sha256(_base(attribute.name, attribute.optional, attribute.modifier)
                  + struct.pack("<i", attribute.code) + flags)


def relationship_hash(owner: str, relationship: Relationship, maximum: int | None = None) -> bytes:
    """`maximum` stands in for the model's number: compiled models may say -1 for a to-many without a bound."""
    own_inverse = (relationship.destination, relationship.inverse) == (owner, relationship.name)
    inverse = "" if own_inverse or relationship.inverse is None else relationship.inverse
    bounds = struct.pack("<ii", relationship.maximum if maximum is None else maximum, relationship.minimum)
    return sha256(_base(relationship.name, relationship.optional, relationship.modifier)
                  + relationship.destination.encode() + inverse.encode() + bounds
                  + (b"\x01\x00" if relationship.ordered else b""))


def combine(entity: Entity, parent_hash: bytes, property_hashes: list[bytes]) -> bytes:
    """The hash of an entity from those of its parent (empty for a root) and its properties, sorted by name."""
    constraints = sorted(".".join(names) for names in entity.unique)
    return sha256(entity.name.encode() + bytes([entity.abstract]) + parent_hash + b"".join(property_hashes)
                  + (entity.modifier or "").encode() + "".join(constraints).encode())


def entity_hash(model: Model, name: str) -> bytes:
    """The entity's hash; an entity with a composite attribute has no known one and gets 32 bytes of its own."""
    entity, properties = model.entities[name], model.declared(name).values()
    if any(isinstance(item, Attribute) and item.elements for _, item in properties):
        return sha256(f"no rule for {name}".encode())
    hashes = [attribute_hash(item) if isinstance(item, Attribute) else relationship_hash(owner, item)
              for owner, item in properties if not (isinstance(item, Attribute) and item.transient)]
    return combine(entity, b"" if entity.parent is None else entity_hash(model, entity.parent), hashes)


def model_hashes(model: Model) -> dict[str, bytes]:
    return {name: entity_hash(model, name) for name in model.entities}


def digest(hashes: dict[str, bytes]) -> str:
    """The store metadata's `NSStoreModelVersionHashesDigest`."""
    data = b"".join(name.encode() + hashes[name] for name in sorted(hashes, key=str.encode))
    return base64.b64encode(hashlib.sha512(data).digest()).decode()


def checksum(hashes: dict[str, bytes]) -> str:
    """The store metadata's `NSStoreModelVersionChecksumKey`."""
    return base64.b64encode(sha256(b"".join(hashes[name] for name in sorted(hashes, key=str.encode)))).decode()


def check_vectors(path: Path) -> list[str]:
    """What differs from a file of known hashes; its entities without a rule are left out."""
    vectors = json.loads(path.read_text(encoding="utf-8"))
    problems = [f"entity {item['entity']} (vector {item['id']})" for item in vectors["entities"]
                if item["reproduced"] and _vector_hash(item).hex() != item["hash"]]
    for item in vectors["models"]:
        hashes = {name: bytes.fromhex(value) for name, value in item["versionHashes"].items()}
        if item["digest"] not in (None, digest(hashes)):
            problems.append(f"digest of {item['source']}")
        if item["checksum"] not in (None, checksum(hashes)):
            problems.append(f"checksum of {item['source']}")
    return problems


def _vector_hash(item: dict) -> bytes:
    """The hash of a vector's entity, from the description of its properties and its parent's hash."""
    types = {code: name for name, code in ATTRIBUTE_TYPES.items()}
    hashes = []
    for prop in item["properties"]:
        if prop["kind"] == "attribute":
            attribute = Attribute(prop["name"], types[prop["attributeType"]], prop["isOptional"],
                                  external=prop["allowsExternalBinaryDataStorage"],
                                  preserved=prop["preservesValueInHistoryOnDeletion"],
                                  modifier=prop["versionHashModifier"])
            hashes.append(attribute_hash(attribute))
        else:
            inverse = prop["name"] if prop["inverseIsItself"] else prop["inverse"]
            owner = prop["destinationEntity"] if prop["inverseIsItself"] else ""
            relationship = Relationship(prop["name"], prop["destinationEntity"], inverse, prop["maxCount"] != 1,
                                        prop["isOrdered"], prop["isOptional"], prop["minCount"],
                                        modifier=prop["versionHashModifier"])
            hashes.append(relationship_hash(owner, relationship, prop["maxCount"]))
    entity = Entity(item["entity"], abstract=item["isAbstract"], unique=item["uniquenessConstraints"],
                    modifier=item["versionHashModifier"])
    return combine(entity, bytes.fromhex(item["superentityHash"] or ""), hashes)
