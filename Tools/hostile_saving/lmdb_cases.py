"""Hostile LMDB stores: entries with extreme numbers, or cut, whose checksums are right again; and pages whose numbers are
extreme, lead to other pages, or lead outside of the file."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

PAGE, HEAD, BRANCH, LEAF, NODE = 4096, 16, 1, 2, 8
FACTOR, MASK = 0x9E3779B97F4A7C15, (1 << 64) - 1
NUMBERS = {
    "zero": 0,
    "one": 1,
    "minus-one": -1,
    "least": -(1 << 63),
    "most": (1 << 63) - 1,
    "most-less-one": (1 << 63) - 2,
    "2-31": 1 << 31,
    "2-32": 1 << 32,
    "offset-and-length": (1 << 63) | 0xFFFFFFFF,
    "infinity": 0x7FF0000000000000,
    "nan": 0x7FF8000000000001,
    "minus-zero": 1 << 63,
}


@dataclass(frozen=True)
class Case:
    """A change of one entry: a number in its value or its key, or another length. No change where `at` is 0."""

    name: str
    at: int
    key_size: int
    size: int
    place: int
    number: int | None

    def make(self, base: Path, folder: Path) -> Path:
        folder.mkdir(parents=True)
        path = folder / base.name
        content = bytearray(base.read_bytes())
        if self.at == 0:
            path.write_bytes(content)
            return path
        key_at, value_at, size = self.at + NODE, self.at + NODE + self.key_size, self.size
        if self.number is None:
            size = self.place
            struct.pack_into("<HH", content, self.at, size & 0xFFFF, size >> 16)
        else:
            # The last number of the key ends where the value begins.
            place = value_at - 8 if self.place < 0 else value_at + self.place
            struct.pack_into("<Q", content, place, self.number & MASK)
        key, rest = bytes(content[key_at:value_at]), bytes(content[value_at + 8 : value_at + size])
        if size >= 8:
            struct.pack_into("<Q", content, value_at, checksum(key, rest))
        path.write_bytes(content)
        return path


@dataclass(frozen=True)
class PageCase:
    """Another number in a place of a page that has no checksum."""

    name: str
    at: int
    width: int
    number: int

    def make(self, base: Path, folder: Path) -> Path:
        folder.mkdir(parents=True)
        path = folder / base.name
        content = bytearray(base.read_bytes())
        content[self.at : self.at + self.width] = self.number.to_bytes(self.width, "little")
        path.write_bytes(content)
        return path


def cases(base: Path) -> Iterator[Case | PageCase]:
    content = base.read_bytes()
    yield Case("good", 0, 0, 0, 0, None)
    yield from _pages(content)
    for number, (at, key_size, size) in enumerate(_entries(content)):
        places = [*range(8, size - 7, 8), *range(12, min(size - 7, 24), 8)]
        for place in places:
            for name, value in NUMBERS.items():
                yield Case(f"entry-{number}-value-{place}-{name}", at, key_size, size, place, value)
        if key_size >= 8:
            for name, value in NUMBERS.items():
                yield Case(f"entry-{number}-key-{name}", at, key_size, size, -1, value)
        for length in sorted({0, 7, 8, 16, 23, 24, size - 8, size - 1} & set(range(size))):
            yield Case(f"entry-{number}-cut-at-{length}", at, key_size, size, length, None)


def _pages(content: bytes) -> Iterator[PageCase]:
    """Numbers of the first pages, of heads, of places and heads of nodes, and of what leads to other pages."""
    last = len(content) // PAGE - 1
    for page in (0, 1):
        fields = [("size", 40, 4), ("last", 136, 8), ("commit", 144, 8)]
        for tree, start in (("free", 40), ("main", 88)):
            fields += [(f"{tree}-{name}", start + offset, width) for name, offset, width in TREE]
        yield from _numbers(content, f"first-{page}", page * PAGE, fields, last)
    for page in range(2, last + 1):
        flags, lower = struct.unpack_from("<HH", content, page * PAGE + 10)
        if flags not in (BRANCH, LEAF) or not HEAD <= lower <= PAGE:
            continue
        fields = [("number", 0, 8), ("flags", 10, 2), ("lower", 12, 2), ("upper", 14, 2)]
        for index, pointer in enumerate(struct.unpack_from(f"<{(lower - HEAD) // 2}H", content, page * PAGE + HEAD)):
            if pointer + NODE > PAGE:
                continue
            name, node = f"node-{index}", page * PAGE + pointer
            fields += [(f"{name}-place", HEAD + index * 2, 2), (f"{name}-key-size", pointer + 6, 2)]
            if flags == BRANCH:
                fields.append((f"{name}-child", pointer, 6))
                continue
            fields += [(f"{name}-size", pointer, 4), (f"{name}-flags", pointer + 4, 2)]
            size, kind, key_size = struct.unpack_from("<IHH", content, node)
            value = pointer + NODE + key_size
            if kind == 2 and size == 48:
                fields += [(f"{name}-tree-{field}", value + offset, width) for field, offset, width in TREE]
            elif kind == 1:
                fields.append((f"{name}-pages", value, 8))
            elif key_size == 8 and size % 8 == 0:
                # The list of free pages, or a part of it.
                fields += [(f"{name}-key", pointer + NODE, 8)]
                fields += [(f"{name}-free-{place}", value + place, 8) for place in range(0, min(size, 64), 8)]
        yield from _numbers(content, f"page-{page}", page * PAGE, fields, last)


TREE = [("flags", 4, 2), ("depth", 6, 2), ("branches", 8, 8), ("leaves", 16, 8), ("entries", 32, 8), ("root", 40, 8)]


def _numbers(
    content: bytes, name: str, start: int, fields: list[tuple[str, int, int]], last: int
) -> Iterator[PageCase]:
    """For each field: extreme numbers, those beside it, and the pages of the file, its own among them."""
    for field, offset, width in fields:
        most = (1 << width * 8) - 1
        old = int.from_bytes(content[start + offset : start + offset + width], "little")
        wanted = {0, 1, 2, 4, 16, most, most >> 1, old - 1, old + 1, old + 2, old ^ 2, start // PAGE, last, last + 1}
        if width >= 6:
            wanted |= set(range(2, last))
        for number in sorted(number for number in wanted if 0 <= number <= most and number != old):
            yield PageCase(f"{name}-{field}-{number}", start + offset, width, number)


def _entries(content: bytes) -> Iterator[tuple[int, int, int]]:
    """The entries of leaf pages that have their checksum: where each is, and how long its key and its value are."""
    for page in range(2 * PAGE, len(content) - PAGE + 1, PAGE):
        flags, lower = struct.unpack_from("<HH", content, page + 10)
        if flags & 0x1F != LEAF or lower > PAGE:
            continue
        for pointer in struct.unpack_from(f"<{(lower - HEAD) // 2}H", content, page + HEAD):
            at = page + pointer
            if at + NODE > page + PAGE:
                continue
            low, high, kind, key_size = struct.unpack_from("<4H", content, at)
            size = low | high << 16
            key_at = at + NODE
            if kind or size < 8 or key_at + key_size + size > page + PAGE:
                continue
            key, value = content[key_at : key_at + key_size], content[key_at + key_size : key_at + key_size + size]
            if struct.unpack_from("<Q", value)[0] == checksum(key, value[8:]):
                yield at, key_size, size


def checksum(key: bytes, value: bytes) -> int:
    """The checksum of an entry, as in Sources/KeyValueEngine/EntryChecksum.swift."""
    state = _words(FACTOR ^ len(key) << 32 ^ len(value), key, 0)
    at = 0
    if len(value) >= 64:
        lanes = [state, state ^ 1, state ^ 2, state ^ 3]
        while at + 32 <= len(value):
            lanes = [_step(lane, word) for lane, word in zip(lanes, struct.unpack_from("<4Q", value, at))]
            at += 32
        for lane in lanes:
            state = _step(state, lane)
    state = _words(state, value, at)
    last = _step(state, 0x72636F6461746100)
    return (last ^ last >> 29) * FACTOR & MASK


def _step(state: int, word: int) -> int:
    mixed = (state ^ word) * FACTOR & MASK
    return (mixed << 31 | mixed >> 33) & MASK


def _words(state: int, data: bytes, at: int) -> int:
    while at + 8 <= len(data):
        state = _step(state, struct.unpack_from("<Q", data, at)[0])
        at += 8
    return state if at == len(data) else _step(state, int.from_bytes(data[at:], "little"))
