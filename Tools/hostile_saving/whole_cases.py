"""Hostile XML and binary stores: every part of the head and of objects with every extreme value."""

from __future__ import annotations

import plistlib
import re
import struct
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from plistlib import UID

MOST = (1 << 63) - 1
TEXTS = {
    "empty": b"",
    "zero": b"0",
    "minus-one": b"-1",
    "least": b"-9223372036854775808",
    "most": b"9223372036854775807",
    "beyond": b"9223372036854775808",
    "2-31": b"2147483648",
    "2-16": b"65536",
    "huge": b"1e308",
    "beyond-huge": b"1e999",
    "infinity": b"inf",
    "nan": b"nan",
    "minus-zero": b"-0.0",
    "spaces": b" 7 ",
    "number-text": b"12abc",
    "digits": b"9" * 400,
    "nul": b"a\0b",
    "escaped-nul": b"a\\u0000b",
    "half-character": b"\\u00d8",
    "cut-escape": b"\\u26",
    "bad-utf8": b"a\xffb",
    "element": b"<b>x</b>",
    "entity": b"&lt;&#1;",
    "comment": b"a<!-- x -->b",
    "cdata": b"<![CDATA[<]]>",
    "long": b"x" * 100_000,
    "base64": b"AAECAw==",
    "cut-base64": b"AAECAw=",
}
NAMES = {"empty": b"", "unknown": b"nosuch", "mark": b"mark", "upper": b"MARK", "long": b"n" * 5000, "nul": b"\0"}
IDS = {
    "none": b"",
    "z": b"z",
    "zero": b"z0",
    "minus-one": b"z-1",
    "most": b"z9223372036854775807",
    "most-less-one": b"z9223372036854775806",
    "beyond": b"z9223372036854775808",
    "missing": b"z999999",
    "without-z": b"1",
    "first": b"z1",
    "item": b"z20",
    "second": b"z2",
    "zeros": b"z00000000000000000102",
    "words": b"a b c",
}
LISTS = {
    **IDS,
    "twice": b"z1 z1",
    "two": b"z1 z20",
    "all": b" ".join(b"z%d" % number for number in range(1, 26)),
    "thousand": b" ".join(b"z1" for _ in range(1000)),
    "tabs": b"z1\t\nz2",
}
COUNTS = {"huge": b"0/99999999999999999999", "minus": b"-1/-1", "none": b"", "one": b"1/1", "words": b"a/b"}
TYPES = {"none": b"", "unknown": b"nosuch", "string": b"string", "int16": b"int16", "binary": b"binary"}


@dataclass(frozen=True)
class Case:
    """A file that is made from the good one."""

    name: str
    content: Callable[[], bytes]

    def make(self, base: Path, folder: Path) -> Path:
        folder.mkdir(parents=True)
        path = folder / base.name
        path.write_bytes(self.content())
        return path


def cases(base: Path) -> Iterator[Case]:
    content = base.read_bytes()
    yield from (_binary if content[:8] == b"CoreData" else _xml)(content)


# MARK: XML

CHECKSUM = re.compile(rb"\s*<key>OpenCoreDataChecksum</key>\s*<string>.*?</string>")


def _xml(content: bytes) -> Iterator[Case]:
    # With a checksum every other byte would be damage. Files of others have none.
    content = CHECKSUM.sub(b"", content)
    yield Case("good", lambda: content)

    def spliced(name: str, span: tuple[int, int], value: bytes) -> Case:
        return Case(name, lambda: content[: span[0]] + value + content[span[1] :])

    for tag in (b"version", b"UUID", b"nextObjectID"):
        span = re.search(rb"<%s>(.*?)</%s>" % (tag, tag), content).span(1)
        for name, value in {**TEXTS, **IDS}.items():
            yield spliced(f"{tag.decode()}-{name}", span, value)
    start, end = re.search(rb"<metadata>(.*?)</metadata>", content, re.S).span(1)
    for number, match in enumerate(re.finditer(rb"<(\w+)>([^<>]+)</", content[start:end])):
        for name, value in TEXTS.items():
            yield spliced(f"metadata-{number}-{name}", (start + match.start(2), start + match.end(2)), value)
    for title, start, end in _objects(content):
        yield spliced(f"{title}-twice", (end, end), content[start:end])
        yield spliced(f"{title}-missing", (start, end), b"")
        head = re.compile(rb'<object type="(.*?)" id="(.*?)"').search(content, start)
        for name, value in {**NAMES, "item": b"ITEM", "tag": b"TAG"}.items():
            yield spliced(f"{title}-type-{name}", head.span(1), value)
        for name, value in IDS.items():
            yield spliced(f"{title}-id-{name}", head.span(2), value)
        form = re.compile(rb'<attribute name="(.*?)" type="(.*?)">(.*?)</attribute>', re.S)
        for match in form.finditer(content, start, end):
            attribute = f"{title}-{match[1].decode()}"
            for group, kind, values in ((1, "name", NAMES), (2, "type", TYPES), (3, "value", TEXTS)):
                for name, value in values.items():
                    yield spliced(f"{attribute}-{kind}-{name}", match.span(group), value)
            yield spliced(f"{attribute}-twice", (match.end(), match.end()), match[0].replace(match[3], b"1"))
        form = re.compile(rb'<relationship name="(.*?)" type="(.*?)" destination="(.*?)"( idrefs="(.*?)")?')
        for match in form.finditer(content, start, end):
            relationship = f"{title}-{match[1].decode()}"
            for group, kind, values in ((1, "name", NAMES), (2, "counts", COUNTS), (3, "destination", NAMES)):
                for name, value in values.items():
                    yield spliced(f"{relationship}-{kind}-{name}", match.span(group), value)
            for name, value in {**LISTS, "itself": head[2]}.items():
                yield spliced(f"{relationship}-idrefs-{name}", (match.end(3) + 1, match.end()), b' idrefs="%s"' % value)


def _objects(content: bytes) -> Iterator[tuple[str, int, int]]:
    """The second object of each entity, with where it begins and ends."""
    met: dict[bytes, int] = {}
    for match in re.finditer(rb'    <object type="(.*?)".*?</object>\n', content, re.S):
        met[match[1]] = met.get(match[1], 0) + 1
        if met[match[1]] == 2:
            yield match[1].decode().capitalize(), match.start(), match.end()


# MARK: Binary

PARTS = {
    "zero": 0,
    "minus-one": -1,
    "least": -MOST - 1,
    "most": MOST,
    "most-less-one": MOST - 1,
    "2-31": 1 << 31,
    "2-32": 1 << 32,
    "beyond": (1 << 64) - 1,
    "half": 0.5,
    "huge": 1e308,
    "infinity": float("inf"),
    "nan": float("nan"),
    "minus-zero": -0.0,
    "true": True,
    "empty": "",
    "text": "12abc",
    "nul": "a\0b",
    "null-text": "$null",
    "long": "x" * 100_000,
    "no-data": b"",
    "data": b"\0" * 100,
    "null": UID(0),
    "first": UID(1),
    "itself": None,
    "beyond-the-archive": UID(999_999),
    "list": [],
    "dictionary": {},
    "key-of-item": 21,
    "key-of-box": 1,
}


def _binary(content: bytes) -> Iterator[Case]:
    metadata_at, metadata_size, data_at, data_size = struct.unpack(">4q", content[16:48])
    data = content[data_at : data_at + data_size]
    metadata = _without_checksum(content[metadata_at : metadata_at + metadata_size])

    def whole(data: bytes, metadata: bytes) -> bytes:
        head = struct.pack(">4q", 64 + len(data), len(metadata), 64, len(data))
        return content[:16] + head + content[48:64] + data + metadata

    def header(at: int, value: int) -> bytes:
        good = whole(data, metadata)
        return good[:at] + (value & ((1 << 64) - 1)).to_bytes(8, "big") + good[at + 8 :]

    yield Case("good", lambda: whole(data, metadata))
    for at in range(0, 64, 8):
        for name, value in PARTS.items():
            if isinstance(value, int):
                yield Case(f"header-{at}-{name}", lambda at=at, value=value: header(at, value))
    for title, way in _places(plistlib.loads(data)):
        for name, value in PARTS.items():
            yield Case(f"{title}-{name}", lambda way=way, value=value: whole(_mutant(data, way, value), metadata))
    for number in range(1, len(plistlib.loads(metadata)["$objects"])):
        for name, value in PARTS.items():
            yield Case(
                f"metadata-{number}-{name}",
                lambda number=number, value=value: whole(data, _mutant(metadata, (number,), value)),
            )


def _without_checksum(metadata: bytes) -> bytes:
    """With a checksum every other byte would be damage. Files of others have none."""
    archive = plistlib.loads(metadata)
    objects = archive["$objects"]
    root = objects[archive["$top"]["metadata"].data]
    at = next(n for n, key in enumerate(root["NS.keys"]) if objects[key.data] == "OpenCoreDataChecksum")
    for names in (root["NS.keys"], root["NS.objects"]):
        objects[names.pop(at).data] = "unused"
    return plistlib.dumps(archive, fmt=plistlib.FMT_BINARY, sort_keys=False)


def _places(archive: dict) -> list[tuple[str, tuple]]:
    """Parts of the second object of each entity, and of the dictionary of all: names, and the keys that lead there."""
    objects = archive["$objects"]
    root = archive["$top"]["mapData"].data
    found: list[tuple[str, tuple]] = [("root-key", (root, "NS.keys", 1)), ("root-object", (root, "NS.objects", 1))]
    met: dict[str, int] = {}
    for item in objects[root]["NS.objects"]:
        node = objects[item.data]
        entity = objects[node["NSEntityName"].data]
        met[entity] = met.get(entity, 0) + 1
        if met[entity] != 2:
            continue
        found += [(f"{entity}-{key}", (item.data, key)) for key in node]
        values = node["NSAttributeValues"].data
        found += [(f"{entity}-value-{n}", (values, "NS.objects", n)) for n in range(len(objects[values]["NS.objects"]))]
        if "NSRelatedNodes" in node:
            related = node["NSRelatedNodes"].data
            for n, name in enumerate(objects[related]["NS.keys"]):
                title = f"{entity}-{objects[name.data]}"
                lists = objects[related]["NS.objects"][n].data
                found += [(f"{title}-name", (related, "NS.keys", n)), (f"{title}-list", (related, "NS.objects", n)),
                          (f"{title}-key", (lists, "NS.objects", 0))]
    return found


def _mutant(data: bytes, way: tuple, value: object) -> bytes:
    """An archive with another value at the end of a way. In a list the value is an object of its own."""
    archive = plistlib.loads(data)
    *before, last = way
    part = archive["$objects"]
    for key in before:
        part = part[key]
    if value is None:
        value = UID(way[0])
    if before and isinstance(last, int) and not isinstance(value, UID):
        archive["$objects"].append(value)
        value = UID(len(archive["$objects"]) - 1)
    part[last] = value
    return plistlib.dumps(archive, fmt=plistlib.FMT_BINARY, sort_keys=False)
