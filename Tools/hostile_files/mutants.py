"""Random mutants of good files: bytes, pages, lengths, values of rows and parts of property lists."""

from __future__ import annotations

import json
import plistlib
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path
from plistlib import UID
from random import Random

from .base import Base, change_store
from .case import CHANGE, INSERT, READS_OF_STORES, Case, Target
from .pages import live_log
from .plists import MOST, deflated

STEP = 512
INTERESTING = (0, 1, 0x7F, 0x80, 0xFF)
VALUES = (
    None,
    0,
    -1,
    1,
    MOST,
    -MOST - 1,
    1 << 31,
    1 << 32,
    1e300,
    -1e300,
    float("inf"),
    0.5,
    "",
    "x",
    "\0",
    "12",
    "1e5",
    b"",
    b"\0",
    b"\xff" * 16,
    b"x" * 40,
    "4B9E5F5C-E448-4F7E-9B30-CEC2FD15A279",
    "x" * 5000,
)
WORDS = (
    b'"op"',
    b'"set"',
    b"null",
    b"{",
    b"[",
    b'"',
    b"}",
    b"1e999",
    b"-0",
    b"\\ud800",
    b"\\u0000",
    b"9223372036854775808",
    b'"$date"',
    b'"$data"',
    b"\xff",
    b"true",
    b'"Person/p1"',
    b'"values"',
    b"[" * 5000,
    b'{"a":' * 2000,
    b'"x-coredata://x/Person/p1"',
    b'"name":"',
    b'"$invalid"',
    b'"$decimal"',
    b"\n",
    b"p99999999999999999999",
)

MORE_OPS = (
    {
        "op": "set",
        "object": "Person/p4",
        "values": {
            "born": {"$date": 5},
            "price": {"$decimal": "1.5"},
            "data": {"$data": "AAEC"},
            "score": {"$double": "inf"},
            "ident": {"$uuid": "00000000-0000-0000-0000-000000000000"},
            "site": {"$url": "http://x"},
            "count": 1,
            "note": {"$transformable": "AA=="},
            "active": True,
            "place": {"street": "x", "latitude": 1.5},
        },
    },
    {"op": "relate", "object": "Company/p1", "relationship": "staff", "add": ["new"], "remove": ["Person/p1"]},
    {"op": "relate", "object": "Company/p3", "relationship": "staff", "to": ["Person/p3", "Person/p2"]},
    {"op": "delete", "object": "Desk/p1"},
)


def cases(base: Base, seed: int, count: int) -> Iterator[Case]:
    length = base.store.stat().st_size
    rotation = [kind for kind in READS_OF_STORES if kind != "describe"]
    # A store is cut at every half of a kilobyte, or at fewer places where few mutants are wanted.
    step = STEP * max(1, length // STEP // max(count, 1))
    for number, at in enumerate(range(0, length, step)):
        yield Case(
            "mutants",
            f"cut-at-{at}",
            lambda folder, at=at, number=number: _cut(base, folder, at, rotation[number % len(rotation)]),
        )
    kinds: list[tuple[str, Callable[[Base, Path, Random], Target]]] = [
        ("store-bytes", _store_bytes),
        ("store-bytes", _store_bytes),
        ("rows", _rows),
        ("rows", _rows),
        ("schema-bytes", _schema_bytes),
        ("log", _log),
        ("pages", _pages),
        ("model-xml", _model_xml),
        ("model-archive", _model_archive),
        ("model-bytes", _model_bytes),
        ("cache", _cache),
        ("metadata", _metadata),
        ("ops", _ops),
        ("ops", _ops),
        ("note", _note),
        ("cut", _cut_anywhere),
        ("fixture", _fixture),
    ]
    for number in range(count):
        name, make = kinds[number % len(kinds)]
        yield Case(
            "mutants",
            f"{name}-{seed}-{number}",
            lambda folder, make=make, number=number: make(base, folder, Random(f"{seed} mutant {number}")),
        )


def _cut(base: Base, folder: Path, at: int, command: str) -> Target:
    path = base.copy(folder)
    path.write_bytes(path.read_bytes()[:at])
    return Target(path, commands=(command,))


def _cut_anywhere(base: Base, folder: Path, random: Random) -> Target:
    path = base.copy(folder)
    content = path.read_bytes()
    path.write_bytes(content[: random.randrange(len(content))])
    return Target(path, model=base.model, commands=("verify",), with_model=("dump",), ops=(INSERT,))


def edited(data: bytes, random: Random, start: int = 0, end: int | None = None) -> bytes:
    """The data with 1 to 16 bytes or bits changed."""
    found, end = bytearray(data), len(data) if end is None else min(end, len(data))
    for _ in range(random.choice((1, 1, 2, 4, 16))):
        at = random.randrange(start, end)
        kind = random.randrange(4)
        if kind == 0:
            found[at] ^= 1 << random.randrange(8)
        elif kind == 1:
            found[at] = random.randrange(256)
        elif kind == 2:
            found[at] = random.choice(INTERESTING)
        else:
            width = random.choice((2, 4, 8))
            found[at : at + width] = random.choice(
                (0, 1, (1 << 8 * width) - 1, 1 << 8 * width - 1, (1 << 8 * width - 1) - 1)
            ).to_bytes(width, "big")[: max(0, len(found) - at)]
    return bytes(found)


def _both(random: Random) -> dict:
    """Two commands of the four, and operations now and then."""
    chosen = random.sample(("info", "dump", "verify", "fetch", "describe"), 2)
    return {
        "commands": tuple(chosen),
        "with_model": ("dump",),
        "ops": (random.choice((INSERT, CHANGE)),) if random.random() < 0.3 else (),
    }


def _store_bytes(base: Base, folder: Path, random: Random) -> Target:
    path = base.copy(folder, random.choice((base.store, base.rollback_store)))
    path.write_bytes(edited(path.read_bytes(), random))
    return Target(path, model=base.model, **_both(random))


def _schema_bytes(base: Base, folder: Path, random: Random) -> Target:
    path = base.copy(folder)
    path.write_bytes(edited(path.read_bytes(), random, 0, 4096))
    return Target(path, model=base.model, **_both(random))


def _pages(base: Base, folder: Path, random: Random) -> Target:
    path = base.copy(folder)
    content = bytearray(path.read_bytes())
    one, other = (4096 * random.randrange(1, len(content) // 4096) for _ in range(2))
    if random.random() < 0.5:
        content[one : one + 4096], content[other : other + 4096] = (
            content[other : other + 4096],
            content[one : one + 4096],
        )
    else:
        content[one : one + 4096] = content[other : other + 4096]
    path.write_bytes(content)
    return Target(path, model=base.model, **_both(random))


def _log(base: Base, folder: Path, random: Random) -> Target:
    path, log = live_log(base, folder)
    log = edited(log, random) if random.random() < 0.6 else log[: random.randrange(len(log))]
    Path(f"{path}-wal").write_bytes(log)
    return Target(path, model=base.model, **_both(random))


def change_rows(path: Path, random: Random) -> None:
    """Random values in random columns of random rows of any table."""

    def change(db: sqlite3.Connection) -> None:
        tables = [
            name
            for name, in db.execute(
                "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite%' ORDER BY name"
            )
        ]
        for _ in range(random.choice((1, 1, 3, 8))):
            table = random.choice(tables)
            column = random.choice([row[1] for row in db.execute(f'PRAGMA table_info("{table}")')])
            rows = [row for row, in db.execute(f'SELECT rowid FROM "{table}" ORDER BY rowid')]
            if not rows:
                continue
            value = random.choice(VALUES)
            if random.random() < 0.2:
                (value,) = db.execute(
                    f'SELECT "{column}" FROM "{table}" WHERE rowid = ?', (random.choice(rows),)
                ).fetchone()
            where = "1" if random.random() < 0.2 else f"rowid = {random.choice(rows)}"
            try:
                db.execute(f'UPDATE OR IGNORE "{table}" SET "{column}" = ? WHERE {where}', (value,))
            except sqlite3.IntegrityError:
                # A key that is no integer, which no file can hold.
                continue

    change_store(path, change)


def _rows(base: Base, folder: Path, random: Random) -> Target:
    path = base.copy(folder)
    change_rows(path, random)
    return Target(path, model=base.model, **_both(random))


def _fixture(base: Base, folder: Path, random: Random) -> Target:
    """A mutant of a larger store, with all that stores have."""
    name = random.choice(sorted(base.fixtures))
    path = base.copy(folder, base.fixtures[name])
    if random.random() < 0.5 and name != "wal":
        change_rows(path, random)
    else:
        path.write_bytes(edited(path.read_bytes(), random))
    return Target(
        path, base.entities[name], base.model_for(base.fixtures[name]), ("dump", "verify", "fetch"), ("verify",)
    )


def _model_xml(base: Base, folder: Path, random: Random) -> Target:
    content = edited(base.contents, random)
    if random.random() < 0.6:
        words = [word for word in base.contents.split() if b"=" in word]
        content = base.contents
        for _ in range(random.choice((1, 1, 3))):
            content = content.replace(random.choice(words), random.choice(words), random.choice((1, -1)))
    place = folder / "model.xcdatamodel"
    place.mkdir()
    (place / "contents").write_bytes(content)
    return (
        Target(base.copy(folder), model=place, commands=(), with_model=("dump", "info"))
        if random.random() < 0.5
        else Target(place, commands=("describe",))
    )


def mutated_plist(data: bytes, random: Random) -> bytes:
    """The property list with some of its parts replaced by others."""
    content = plistlib.loads(data)
    places: list[tuple] = []
    waiting = [content]
    while waiting:
        item = waiting.pop()
        for key in item if isinstance(item, dict) else range(len(item)):
            places.append((item, key))
            if isinstance(item[key], (dict, list)):
                waiting.append(item[key])
    count = len(content["$objects"]) if "$objects" in content else 1
    for _ in range(random.choice((1, 1, 2, 5))):
        item, key = random.choice(places)
        other, other_key = random.choice(places)
        try:
            value = random.choice(
                (
                    "",
                    "x",
                    "$null",
                    0,
                    -1,
                    1,
                    MOST,
                    -MOST - 1,
                    (1 << 64) - 1,
                    1.5,
                    float("nan"),
                    b"",
                    b"\0" * 40,
                    [],
                    {},
                    True,
                    UID(0),
                    UID(random.randrange(count)),
                    UID(random.randrange(count)),
                    UID(999_999),
                    [UID(random.randrange(count))] * 3,
                    other[other_key],
                    other[other_key],
                )
            )
            item[key] = value
        except (KeyError, IndexError):
            continue
    try:
        return plistlib.dumps(content, fmt=plistlib.FMT_BINARY)
    except (RecursionError, TypeError, OverflowError):
        return edited(data, random)


def _model_archive(base: Base, folder: Path, random: Random) -> Target:
    (folder / "model.mom").write_bytes(mutated_plist(base.archive, random))
    return (
        Target(base.copy(folder), model=folder / "model.mom", commands=(), with_model=("dump",))
        if random.random() < 0.3
        else Target(folder / "model.mom", commands=("describe",))
    )


def _model_bytes(base: Base, folder: Path, random: Random) -> Target:
    data = (
        edited(base.archive, random) if random.random() < 0.8 else base.archive[: random.randrange(len(base.archive))]
    )
    (folder / "model.mom").write_bytes(data)
    return Target(folder / "model.mom", commands=("describe",))


def _cache(base: Base, folder: Path, random: Random) -> Target:
    whole = deflated(base.archive)
    data = edited(whole, random) if random.random() < 0.3 else deflated(mutated_plist(base.archive, random))

    def change(db: sqlite3.Connection) -> None:
        db.execute("UPDATE Z_MODELCACHE SET Z_CONTENT = ?", (data,))
        if random.random() < 0.7:
            content = plistlib.loads(db.execute("SELECT Z_PLIST FROM Z_METADATA").fetchone()[0])
            content.pop("NSStoreModelVersionHashes")
            db.execute("UPDATE Z_METADATA SET Z_PLIST = ?", (plistlib.dumps(content, fmt=plistlib.FMT_BINARY),))

    return base.changed(
        folder,
        change,
        commands=("dump", "verify", "describe"),
        with_model=("info",),
        ops=(INSERT,) if random.random() < 0.3 else (),
    )


def _metadata(base: Base, folder: Path, random: Random) -> Target:
    def change(db: sqlite3.Connection) -> None:
        (data,) = db.execute("SELECT Z_PLIST FROM Z_METADATA").fetchone()
        data = mutated_plist(data, random) if random.random() < 0.6 else edited(data, random)
        db.execute("UPDATE Z_METADATA SET Z_PLIST = ?", (data,))

    return base.changed(
        folder,
        change,
        commands=("info", "dump"),
        with_model=("verify",),
        ops=(INSERT,) if random.random() < 0.3 else (),
    )


def _note(base: Base, folder: Path, random: Random) -> Target:
    def change(db: sqlite3.Connection) -> None:
        for key, note in db.execute("SELECT Z_PK, ZNOTE FROM ZPERSON ORDER BY 1").fetchall():
            data = mutated_plist(note, random) if random.random() < 0.7 else edited(note, random)
            db.execute("UPDATE ZPERSON SET ZNOTE = ? WHERE Z_PK = ?", (data, key))

    return base.changed(folder, change, commands=("fetch", "verify"), with_model=("dump",))


def _ops(base: Base, folder: Path, random: Random) -> Target:
    """Operations with bytes or words changed; the store is a good one."""
    lines = (INSERT + CHANGE + "".join(json.dumps(line) + "\n" for line in MORE_OPS)).splitlines(True)
    text = "".join(random.sample(lines, random.randrange(1, len(lines) + 1))).encode()
    for _ in range(random.choice((1, 1, 2, 4))):
        kind, at = random.randrange(4), random.randrange(len(text) or 1)
        if kind == 0 and text:
            text = edited(text, random)
        elif kind == 1:
            text = text[:at] + random.choice(WORDS) + text[at:]
        elif kind == 2:
            other = random.randrange(len(text) or 1)
            text = text[:at] + text[min(other, at + 20) :]
        else:
            parts = text.split(b'"')
            parts[random.randrange(len(parts))] = random.choice(parts)
            text = b'"'.join(parts)
    return Target(
        base.copy(folder),
        model=base.model if random.random() < 0.7 else None,
        commands=(),
        with_model=(),
        ops=(text.decode(errors="surrogateescape"),),
    )
