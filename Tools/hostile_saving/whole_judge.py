"""Judges what a save has left in an XML or a binary store: all that it reported, and all that it did not touch."""

from __future__ import annotations

import base64
import math
import re
import struct

from .whole_state import State, Thing

# What a store knows by itself, and writes as it should be.
SYSTEM_METADATA = {
    "NSPersistenceFrameworkVersion", "NSStoreModelVersionHashes", "NSStoreModelVersionHashesVersion",
    "NSStoreModelVersionHashesDigest", "NSStoreModelVersionChecksumKey", "NSStoreModelVersionIdentifiers",
    "NSStoreType", "NSStoreUUID",
}
# The names that files have for elements of a composite.
ELEMENTS = {"street": "place.street", "latitude": "place.latitude"}
# To-many relationships whose other side is to-one, which decides where the two contradict each other.
OWNERS = {("Box", "items"): "box", ("Item", "children"): "parent"}
# To-many relationships whose other side is to-many. Files have their links twice; those of one side alone count too.
INVERSES = {
    ("Item", "tags"): "items", ("Tag", "items"): "tags", ("Item", "likes"): "likedby", ("Item", "likedby"): "likes",
    ("Item", "friends"): "friends",
}
ORDERED = {("Box", "items"), ("Box", "desks"), ("Item", "tags"), ("Item", "likes")}


def judge(before: State, after: State, report: dict) -> list[str]:
    errors = [*report.get("errors", []), *([report["error"]] if "error" in report else [])]
    wrong = [f"an untyped error: {error}" for error in errors if not error.get("isTyped")]
    if report["outcome"] != "saved":
        is_same = before.content == after.content
        return wrong + ([] if is_same else [f"the step ended as {report['outcome']}, and changed the file"])
    if not before.head or not after.head:
        return [*wrong, f"it saved {'and left' if before.head else 'into'} a file that cannot be read"]
    return wrong + SaveJudge(before, after, report).problems()[:5]


class SaveJudge:
    """Compares two states with what the context reported to have saved between them."""

    def __init__(self, before: State, after: State, report: dict):
        self.before, self.after = before, after
        self.inserted = {item["key"]: item for item in report["inserted"]}
        self.saved = self.inserted | {item["key"]: item for item in report["updated"]}
        self.deleted = {key for _, key in report["deleted"]}

    def problems(self) -> list[str]:
        found = self._head()
        wrong = (self.before.things.keys() - self.deleted | self.inserted.keys()) ^ self.after.things.keys()
        if wrong:
            found.append(f"the objects {sorted(wrong)[:5]} were lost, appeared or are still there")
        for key, thing in self.after.things.items():
            if old := self.before.things.get(key):
                found += self._untouched(key, old, thing)
            if item := self.saved.get(key):
                found += self._written(key, thing, item)
        return found

    def _head(self) -> list[str]:
        found = []
        old, new = self.before.head, self.after.head
        if old["UUID"] != new["UUID"]:
            found.append(f"lost: the UUID was {old['UUID']}, and is {new['UUID']}")
        if new["highest"] < max([old["highest"], *self.after.things]):
            found.append(f"lost: the highest key was {old['highest']}, and is {new['highest']}")
        old, new = old["metadata"], new["metadata"]
        for name in (old.keys() | new.keys()) - SYSTEM_METADATA:
            if not _is_same(old.get(name), new.get(name)):
                found.append(f"lost: the metadata's {name!r} was {old.get(name)!r}, and is {new.get(name)!r}"[:300])
        return found

    # What nobody has touched.

    def _untouched(self, key: int, old: Thing, new: Thing) -> list[str]:
        if old.entity != new.entity:
            return [f"lost: object {key} was of {old.entity}, and is of {new.entity}"]
        found = []
        item = self.saved.get(key, {})
        changed = {ELEMENTS.get(name, name) for name in item.get("changed", {})}
        for name in (old.values.keys() | new.values.keys()) - changed:
            one, other = old.values.get(name), new.values.get(name)
            if not _is_same(one, other, is_single=name == "ratio"):
                found.append(f"lost: {name} of object {key} was {one!r}, and is {other!r}"[:300])
        changed = {name.lower() for part in ("toOnes", "toManys") for name in item.get(part, {})}
        for name in (old.links.keys() | new.links.keys()) - changed:
            one, other = self._links(key, old, name), new.links.get(name, [])
            if one != other and (_is_ordered(old, name) or sorted(one) != sorted(other)):
                found.append(f"lost: {name} of object {key} was {one}, and is {other}")
        return found

    def _links(self, key: int, thing: Thing, name: str) -> list[int]:
        """The links that an object has before the save, by both sides, without those to deleted objects."""
        told = thing.links.get(name, [])
        link = (_declaring(thing), name)
        if link in OWNERS:
            members = [number for number, other in self._others() if other.links.get(OWNERS[link]) == [key]]
            told = told if sorted(told) == sorted(members) else members
        elif link in INVERSES:
            back = INVERSES[link]
            told = told + [
                number
                for number, other in self._others()
                if INVERSES.get((_declaring(other), back)) == name and key in other.links.get(back, [])
                and number not in told
            ]
        return [number for number in told if number not in self.deleted]

    def _others(self):
        return self.before.things.items()

    # What was reported.

    def _written(self, key: int, thing: Thing, item: dict) -> list[str]:
        found = []
        for name, value in item["changed"].items():
            stored = thing.values.get(ELEMENTS.get(name, name))
            if not _is_stored(stored, value):
                found.append(f"lost: {name} of object {key} = {value} is {stored!r}"[:300])
        wanted = {name: [] if target is None else [target[1]] for name, target in item["toOnes"].items()}
        for name, keys in (wanted | item["toManys"]).items():
            there = thing.links.get(name.lower(), [])
            if there != keys and (_is_ordered(thing, name) or sorted(there) != sorted(keys)):
                found.append(f"lost: {name} of object {key} = {keys} is {there}")
        return found


def _declaring(thing: Thing) -> str:
    return "Item" if thing.entity == "SubItem" else thing.entity


def _is_ordered(thing: Thing, name: str) -> bool:
    return (_declaring(thing), name) in ORDERED


def _is_same(one: object, other: object, *, is_single: bool = False) -> bool:
    """Whether two values are the same number, the same bytes, or the same text with other escapes."""
    if one == other:
        return True
    # NaN is no other value than NaN, also within metadata.
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(_is_same(value, other[key]) for key, value in one.items())
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(_is_same, one, other))
    if is_single and _single(one) == _single(other):
        return True
    if isinstance(one, (int, float)) and isinstance(other, (int, float)):
        return float(one) == float(other) or math.isnan(one) and math.isnan(other)
    if not isinstance(one, str) or not isinstance(other, str):
        return False
    if unescaped(one) == unescaped(other) or "".join(one.split()) == "".join(other.split()):
        return True
    try:
        return float(one) == float(other)
    except ValueError:
        return len(one) == 36 and one.upper() == other.upper()


def _single(value: object) -> object:
    """A number as an attribute of 32 bits has it."""
    try:
        return struct.pack("f", float(value))
    except (TypeError, ValueError, OverflowError):
        return value


def unescaped(text: str) -> str:
    """A text of an XML store without the escapes of the format: UTF-16 units with their bytes exchanged."""
    units = re.sub(r"\\u([0-9a-fA-F]{2})([0-9a-fA-F]{2})", lambda match: chr(int(match[2] + match[1], 16)), text)
    return units.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _is_stored(stored: object, wanted: list) -> bool:
    kind, *value = wanted
    if kind == "null":
        return stored is None
    if kind == "some":
        return stored is not None
    if kind == "text":
        return isinstance(stored, str) and unescaped(stored) == value[0]
    if kind in ("blob", "large"):
        bytes_wanted = base64.b64decode(value[0]) if kind == "blob" else bytes(value[:1]) * value[1]
        return _bytes(stored) == bytes_wanted
    try:
        return math.isclose(float(stored), float(value[0]), rel_tol=1e-12)
    except (TypeError, ValueError):
        return False


def _bytes(stored: object) -> object:
    """The bytes that a text of an XML store stands for: those of a UUID, or base64."""
    if not isinstance(stored, str):
        return stored
    if re.fullmatch(r"[0-9A-Fa-f-]{36}", stored):
        return bytes.fromhex(stored.replace("-", ""))
    return base64.b64decode("".join(stored.split()))
