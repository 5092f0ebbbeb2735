"""The canonical dump that a reader of the store must give, made from the objects in memory."""

from __future__ import annotations

import json

from .model import Attribute
from .objects import Object, World
from .values import dumped


def canonical_json(value) -> str:
    """JSON with sorted keys, no spaces and raw non-ASCII text."""
    return json.dumps(value, ensure_ascii=False, allow_nan=False, sort_keys=True, separators=(",", ":"))


def expected_dump(world: World) -> str:
    """One line for each object, sorted by entity name and key."""
    return "".join(canonical_json(expected_object(world, item)) + "\n" for item in world.sorted_objects())


def expected_object(world: World, item: Object) -> dict:
    attributes, relationships = {}, {}
    for name, (_, prop) in world.declared[item.entity].items():
        if isinstance(prop, Attribute):
            if name in item.values and not prop.transient:
                attributes[name] = dumped(prop, item.values[name])
        elif not prop.many:
            relationships[name] = reference(item.one[name]) if name in item.one else None
        else:
            targets = item.targets(name)
            if not prop.ordered:
                targets.sort(key=lambda target: target.place)
            relationships[name] = [reference(target) for target in targets]
    return {"entity": item.entity, "key": item.key,
            "attributes": {name: value for name, value in attributes.items() if value is not None},
            "relationships": {name: value for name, value in relationships.items() if value}}


def reference(target: Object) -> str:
    return f"{target.entity}/p{target.key}"
