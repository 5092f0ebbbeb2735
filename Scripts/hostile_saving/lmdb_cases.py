"""Hostile LMDB stores: entries with extreme numbers, or cut, whose checksums are right again."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

PAGE, HEAD, LEAF, NODE = 4096, 16, 2, 8
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


def cases(base: Path) -> Iterator[Case]:
    content = base.read_bytes()
    yield Case("good", 0, 0, 0, 0, None)
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
