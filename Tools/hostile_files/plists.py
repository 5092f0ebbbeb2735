"""Hostile property lists and keyed archives: bytes that are later given as stores, models, caches and values."""

from __future__ import annotations

import plistlib
import struct
import zlib
from plistlib import UID

MOST = (1 << 63) - 1
COUNT = struct.pack(">BQ", 0x13, MOST)


def reference(number: int) -> bytes:
    return struct.pack(">I", number)


def binary(objects: list[bytes], top: int = 0, offset_size: int = 4) -> bytes:
    """A binary property list of objects that are given as bytes, with references of four bytes."""
    out, offsets = bytearray(b"bplist00"), []
    for item in objects:
        offsets.append(len(out))
        out += item
    table = len(out)
    for offset in offsets:
        out += offset.to_bytes(offset_size, "big")
    return bytes(out) + b"\0" * 6 + bytes([offset_size, 4]) + struct.pack(">QQQ", len(objects), top, table)


def trailer(offset_size: int = 1, reference_size: int = 1, count: int = 1, top: int = 0, table: int = 9) -> bytes:
    """A small property list with the given trailer, which may lie."""
    return (
        b"bplist00\x09\x08"
        + b"\0" * 6
        + bytes([offset_size, reference_size])
        + struct.pack(">QQQ", count & MOST * 2 + 1, top & MOST * 2 + 1, table & MOST * 2 + 1)
    )


def nested_arrays(depth: int) -> bytes:
    return binary([b"\xa1" + reference(number + 1) for number in range(depth)] + [b"\x09"])


def nested_dictionaries(depth: int) -> bytes:
    return binary(
        [b"\xd1" + reference(depth + 1) + reference(number + 1) for number in range(depth)] + [b"\x09", b"\x51a"]
    )


def shared_arrays(levels: int, width: int = 2) -> bytes:
    """Each array holds the next one several times, so that the whole has width to the power of levels members."""
    return binary([bytes([0xA0 | width]) + reference(number + 1) * width for number in range(levels)] + [b"\x09"])


PLISTS: dict[str, bytes] = {
    "deep-arrays": nested_arrays(200_000),
    "deep-dictionaries": nested_dictionaries(100_000),
    "depth-511": nested_arrays(511),
    "depth-513": nested_arrays(513),
    "cycle": binary([b"\xa1" + reference(0)]),
    "cycle-of-two": binary([b"\xa1" + reference(1), b"\xd1" + reference(2) + reference(0), b"\x51k"]),
    "cycle-by-key": binary([b"\xd1" + reference(0) + reference(1), b"\x09"]),
    "shared-12-of-10": shared_arrays(12, 10),
    "shared-30": shared_arrays(30),
    "shared-400": shared_arrays(400),
    "huge-array": binary([b"\xaf" + COUNT]),
    "huge-dictionary": binary([b"\xdf" + COUNT]),
    "huge-data": binary([b"\x4f" + COUNT]),
    "huge-ascii": binary([b"\x5f" + COUNT]),
    "huge-unicode": binary([b"\x6f" + COUNT]),
    "huge-set": binary([b"\xcf" + COUNT]),
    "count-is-negative": binary([b"\xaf\x13" + b"\xff" * 8]),
    "count-of-count": binary([b"\xaf\x14" + b"\xff" * 16]),
    "count-is-no-number": binary([b"\xaf\x51a"]),
    "count-at-the-end": binary([b"\xaf\x13"]),
    "integer-of-128-bytes": binary([b"\x17" + b"\xff" * 128]),
    "integer-of-16-bytes": binary([b"\x14" + b"\xff" * 16]),
    "real-of-1-byte": binary([b"\x20\xff"]),
    "date-nan": binary([b"\x33\x7f\xf8" + b"\0" * 6]),
    "uid-of-16-bytes": binary([b"\x8f" + b"\xff" * 16]),
    "unknown-type": binary([b"\x70"]),
    "null": binary([b"\x00"]),
    "fill": binary([b"\x0f"]),
    "url": binary([b"\x0c\x51a"]),
    "lone-surrogate": binary([b"\x61\xd8\x00"]),
    "ascii-with-high-bytes": binary([b"\x52\xff\xfe"]),
    "key-is-a-number": binary([b"\xd1" + reference(1) + reference(1), b"\x10\x07"]),
    "same-key-twice": binary([b"\xd2" + reference(1) * 2 + reference(2) * 2, b"\x51a", b"\x09"]),
    "reference-too-large": binary([b"\xa1" + reference(99)]),
    "top-too-large": binary([b"\x09"], top=7),
    "trailer-of-ones": b"bplist00\x09" + b"\xff" * 32,
    "trailer-only": b"\0" * 6 + b"\1\1" + b"\0" * 24,
    "trailer-no-widths": trailer(0, 0),
    "trailer-wide": trailer(255, 255),
    "trailer-many": trailer(count=MOST),
    "trailer-table-far": trailer(table=MOST),
    "trailer-table-in-header": trailer(table=0),
    "trailer-wraps": trailer(8, 8, MOST // 4, 0, 9),
    "trailer-top-negative": trailer(top=-1),
    "offset-in-header": b"bplist00\x09\x00" + trailer()[10:],
    "offset-in-table": b"bplist00\x09\x09" + trailer()[10:],
    "magic-only": b"bplist00",
    "magic-and-zeros": b"bplist00\0\0",
    "version-15": b"bplist15" + binary([b"\x09"])[8:],
    "old-style-text": b"hello",
    "old-style-dictionary": b"{ a = (1, 2, 3); }",
    "json": b'{"a": [1, 2]}',
    "overlapping-strings": binary(
        [b"\xaf\x11\x07\xd0" + b"".join(reference(1) for _ in range(2000)), b"\x5f\x12\x00\x01\x00\x00" + b"x" * 65536]
    ),
    "many-empty-arrays": binary(
        [b"\xaf\x12" + struct.pack(">I", 100_000) + b"".join(map(reference, range(1, 100_001)))] + [b"\xa0"] * 100_000
    ),
    "xml-plist": plistlib.dumps({"$archiver": "NSKeyedArchiver", "$top": {}, "$objects": []}),
    "xml-plist-deep": b'<?xml version="1.0"?><plist>' + b"<array>" * 100_000 + b"</array>" * 100_000 + b"</plist>",
    "xml-plist-entities": b'<?xml version="1.0"?><!DOCTYPE p [<!ENTITY a "aa">]><plist><string>&a;</string></plist>',
}
FILES: dict[str, bytes] = {
    "empty": b"",
    "one-byte": b"\0",
    "text": b"hello\n",
    "elf": b"\x7fELF" + bytes((n * 31 + 7) % 256 for n in range(4096)),
    "zeros": b"\0" * 65536,
    "ones": b"\xff" * 65536,
    "sqlite-magic": b"SQLite format 3\0",
    "sqlite-2": b"** This file contains an SQLite 2.1 database **" + b"\0" * 2000,
    "newer-format": b"SQLite format 3\0\x10\0\xff\xff" + b"\0" * 4076,
    "gzip": b"\x1f\x8b\x08\0" + b"\0" * 100,
    "xml-store": (
        b'<?xml version="1.0"?>\n<!DOCTYPE database SYSTEM "file:///System/Library/DTDs/CoreData.dtd">\n'
        b"<database><databaseInfo><version>134481920</version></databaseInfo></database>"
    ),
    "utf16": "entities".encode("utf-16"),
    "binary-store": b"CDSB" + b"\0" * 200,
}


def archive(objects: list, top=UID(1), **outer) -> bytes:
    """A keyed archive of objects as they are."""
    return plistlib.dumps(
        {"$version": 100000, "$archiver": "NSKeyedArchiver", "$top": {"root": top}, "$objects": objects, **outer},
        fmt=plistlib.FMT_BINARY,
    )


def classes(*names: str) -> dict:
    return {"$classname": names[0] if names else "", "$classes": [*names, "NSObject"]}


def nested_archive(depth: int, name: str = "NSArray", key: str = "NS.objects") -> bytes:
    """Arrays in arrays by reference: the property list itself is flat."""
    return archive(
        [
            "$null",
            *({"$class": UID(depth + 1), key: [UID(number + 1)]} for number in range(1, depth)),
            {"$class": UID(depth + 1), key: []},
            classes(name),
        ]
    )


def shared_archive(levels: int, name: str = "NSArray") -> bytes:
    return archive(
        [
            "$null",
            *({"$class": UID(levels + 1), "NS.objects": [UID(number + 1)] * 2} for number in range(1, levels)),
            {"$class": UID(levels + 1), "NS.objects": []},
            classes(name),
        ]
    )


def nested_dictionary_archive(depth: int) -> bytes:
    return archive(
        [
            "$null",
            *(
                {"$class": UID(depth + 1), "NS.keys": [UID(depth + 2)], "NS.objects": [UID(number + 1)]}
                for number in range(1, depth)
            ),
            {"$class": UID(depth + 1), "NS.keys": [], "NS.objects": []},
            classes("NSDictionary"),
            "key",
        ]
    )


def one(name: str, **content) -> bytes:
    """An archive of one object of a class."""
    return archive(["$null", {"$class": UID(2), **content}, classes(name)])


def _archives() -> dict[str, bytes]:
    found = {
        "class-nstask": one("NSTask", launchPath="/bin/sh"),
        "class-empty": archive(["$null", {"$class": UID(2)}, classes()]),
        "class-missing": archive(["$null", {"NS.objects": []}]),
        "class-is-text": archive(["$null", {"$class": UID(2)}, "x"]),
        "class-is-itself": archive(["$null", {"$class": UID(1)}]),
        "class-bad-uid": archive(["$null", {"$class": UID(999)}]),
        "class-name-number": archive(["$null", {"$class": UID(2)}, {"$classname": 7, "$classes": 7}]),
        "class-names-huge": archive(
            ["$null", {"$class": UID(2)}, {"$classname": "N" * 100_000, "$classes": ["N"] * 10_000}]
        ),
        "class-hostile-name": one('NSArray\0\x1b[31m\n"; DROP'),
        "root-bad-uid": archive(["$null"], UID(99)),
        "root-huge-uid": archive(["$null"], UID((1 << 64) - 1)),
        "root-is-null": archive(["$null"], UID(0)),
        "root-is-text": archive(["$null", "text"]),
        "root-is-number": archive(["$null", 1 << 63]),
        "root-inline": archive(["$null"], {"NS.objects": []}),
        "root-is-class": archive(["$null", classes("NSArray")]),
        "no-objects": archive([]),
        "objects-is-text": archive("text"),
        "objects-is-dictionary": archive({}),
        "top-is-array": archive(["$null"], **{"$top": []}),
        "top-empty": archive(["$null"], **{"$top": {}}),
        "version-0": archive(["$null", "x"], **{"$version": 0}),
        "archiver-other": archive(["$null", "x"], **{"$archiver": "R"}),
        "self-array": archive(["$null", {"$class": UID(2), "NS.objects": [UID(1)]}, classes("NSArray")]),
        "self-dictionary": archive(
            ["$null", {"$class": UID(2), "NS.keys": [UID(1)], "NS.objects": [UID(1)]}, classes("NSDictionary")]
        ),
        "uneven-dictionary": one("NSDictionary", **{"NS.keys": ["a", "b"], "NS.objects": ["x"]}),
        "many-members": one("NSArray", **{"NS.objects": [UID(0)] * 100_000}),
        "members-bad-uids": one("NSArray", **{"NS.objects": [UID(999), UID((1 << 32) - 1), UID((1 << 63))]}),
        "deep-100000": nested_archive(100_000),
        "deep-1000": nested_archive(1000),
        "shared-30": shared_archive(30),
        "shared-400": shared_archive(400),
        "shared-sets": shared_archive(30, "NSSet"),
        "deep-dictionaries": nested_dictionary_archive(50_000),
        "deep-sets": nested_archive(20_000, "NSSet"),
        "deep-values": archive(
            [
                "$null",
                *(
                    {"$class": UID(50_001), "NS.relative": UID(number + 1), "NS.base": UID(number + 1)}
                    for number in range(1, 50_000)
                ),
                "x",
                classes("NSURL"),
            ]
        ),
        "huge-string": archive(["$null", "x" * (8 << 20)]),
        "huge-data": archive(["$null", b"\0" * (8 << 20)]),
    }
    odd_values = {
        "text": "text",
        "number": 7,
        "huge": 1 << 63,
        "real": 1e308,
        "data": b"\0",
        "array": [UID(1)],
        "nil": UID(0),
        "self": UID(1),
        "bad": UID(77),
        "dictionary": {"a": UID(1)},
    }
    keyed = {
        "NSArray": "NS.objects",
        "NSSet": "NS.objects",
        "NSDictionary": "NS.keys",
        "NSString": "NS.string",
        "NSData": "NS.data",
        "NSDate": "NS.time",
        "NSURL": "NS.relative",
        "NSUUID": "NS.uuidbytes",
        "NSDecimalNumber": "NS.mantissa",
        "NSNumber": "NS.number",
        "NSAttributedString": "NSString",
        "NSOrderedSet": "NS.object.0",
        "NSIndexSet": "NSRangeCount",
        "UIColor": "UIRed",
        "NSValue": "NS.special",
    }
    for name, key in keyed.items():
        for what, value in odd_values.items():
            found[f"{name}-{what}"] = one(name, **{key: value})
        found[f"{name}-nothing"] = one(name)
    decimal = {"NS.mantissa.bo": 1, "NS.compact": True, "NS.negative": True}
    for what, change in {
        "exponent": {"NS.exponent": 1 << 40},
        "length": {"NS.length": 1 << 40},
        "short": {"NS.mantissa": b"\1"},
        "long": {"NS.mantissa": b"\xff" * 64},
        "negative": {"NS.length": -1, "NS.exponent": -1 << 62},
    }.items():
        found[f"decimal-{what}"] = one(
            "NSDecimalNumber", **{"NS.mantissa": b"\xff" * 16, "NS.length": 8, "NS.exponent": 0, **decimal, **change}
        )
    for what, time in {"nan": float("nan"), "infinity": float("inf"), "huge": 1e300, "tiny": -1e300}.items():
        found[f"date-{what}"] = one("NSDate", **{"NS.time": time})
    return found


ARCHIVES: dict[str, bytes] = _archives()


def deflated(data: bytes) -> bytes:
    """Raw DEFLATE, as in a store's model cache."""
    compressor = zlib.compressobj(9, zlib.DEFLATED, -zlib.MAX_WBITS)
    return compressor.compress(data) + compressor.flush()


def bomb(gigabytes: int) -> bytes:
    """Raw DEFLATE of that many gigabytes of zeros, in about a thousandth of their size."""
    compressor = zlib.compressobj(9, zlib.DEFLATED, -zlib.MAX_WBITS)
    first = compressor.compress(b"bplist00" + b"\0" * ((1 << 20) - 8)) + compressor.flush(zlib.Z_FULL_FLUSH)
    megabyte = compressor.compress(b"\0" * (1 << 20)) + compressor.flush(zlib.Z_FULL_FLUSH)
    # After a full flush every block stands for itself, so the same bytes can be repeated.
    return first + megabyte * (gigabytes * 1024 - 1) + compressor.flush()
