"""Stores that are damaged below SQL: headers, free lists, trees, overflow chains, page sizes, logs and journals."""

from __future__ import annotations

import os
import shutil
import sqlite3
import struct
from collections.abc import Callable, Iterator
from pathlib import Path

from coredata_fixtures.wal import with_fixed_salts

from .base import Base
from .case import CHANGE, INSERT, Case, Target

PAGE = 4096
JOURNAL_MAGIC = bytes.fromhex("d9d505f920a163d7")
# (offset, bytes) of the file's header.
HEADERS = {
    "write-version-3": (18, b"\3"),
    "read-version-3": (19, b"\3"),
    "both-versions-255": (18, b"\xff\xff"),
    "versions-0": (18, b"\0\0"),
    "says-rollback": (18, b"\1\1"),
    "page-size-0": (16, b"\0\0"),
    "page-size-3": (16, b"\0\3"),
    "page-size-256": (16, b"\1\0"),
    "page-size-512": (16, b"\2\0"),
    "page-size-65536": (16, b"\0\1"),
    "page-size-32768": (16, b"\x80\0"),
    "reserved-255": (20, b"\xff"),
    "reserved-32": (20, b"\x20"),
    "fractions": (21, b"\0\0\0"),
    "pages-0": (28, b"\0" * 4),
    "pages-1": (28, b"\0\0\0\1"),
    "pages-most": (28, b"\xff" * 4),
    "pages-many": (28, b"\0\0\xff\xff"),
    "freelist-1": (32, struct.pack(">II", 1, 1)),
    "freelist-self": (32, struct.pack(">II", 5, 99)),
    "freelist-far": (32, struct.pack(">II", 0x7FFFFFFF, 10)),
    "freelist-count": (36, b"\xff" * 4),
    "schema-cookie": (40, b"\xff" * 4),
    "schema-format-0": (44, b"\0" * 4),
    "schema-format-9": (44, b"\0\0\0\x09"),
    "cache-size": (48, b"\x80\0\0\0"),
    "no-auto-vacuum": (52, b"\0" * 4),
    "auto-vacuum-root": (52, b"\xff" * 4),
    "encoding-0": (56, b"\0" * 4),
    "encoding-utf16le": (56, b"\0\0\0\2"),
    "encoding-utf16be": (56, b"\0\0\0\3"),
    "encoding-9": (56, b"\0\0\0\x09"),
    "user-version": (60, b"\xff" * 4),
    "incremental": (64, b"\xff" * 4),
    "application-id": (68, b"\xff\xff\xff\xfe"),
    "expansion": (72, b"\xff" * 20),
    "valid-for": (92, b"\xff" * 8),
    "magic-lower": (0, b"sqlite format 3\0"),
}


def cases(base: Base) -> Iterator[Case]:
    for name, (offset, data) in HEADERS.items():
        yield _edited(base, f"header-{name}", lambda content, offset=offset, data=data: _put(content, offset, data))
    for name, change in _page_changes(base).items():
        yield _edited(base, name, change)
    for size in (512, 1024, 8192, 65536):
        yield Case(
            "pages",
            f"page-size-really-{size}",
            lambda folder, size=size: _rewritten(base, folder, f"PRAGMA page_size = {size}"),
        )
    yield Case("pages", "really-utf16", lambda folder: _dumped_again(base, folder))
    for name, change in _logs().items():
        yield Case("pages", f"wal-{name}", lambda folder, change=change: _with_log(base, folder, change))
    for name, change in _journals().items():
        yield Case("pages", f"journal-{name}", lambda folder, change=change: _with_journal(base, folder, change))
    for name, data in {
        "garbage": bytes(range(256)) * 128,
        "empty": b"",
        "short": b"\x18\xe2\x2d\x00" * 10,
        "ones": b"\xff" * 32768,
        "zeros": b"\0" * 32768,
        "huge": b"\x18\xe2\x2d\0" * 100_000,
    }.items():
        yield Case("pages", f"shm-{name}", lambda folder, data=data: _with_shared_memory(base, folder, data, None))
        yield Case(
            "pages", f"shm-{name}-and-wal", lambda folder, data=data: _with_shared_memory(base, folder, data, b"")
        )


def _put(content: bytearray, offset: int, data: bytes) -> None:
    content[offset : offset + len(data)] = data


def _edited(base: Base, name: str, change: Callable[[bytearray], object]) -> Case:
    def build(folder: Path) -> Target:
        path = base.copy(folder)
        content = bytearray(path.read_bytes())
        change(content)
        path.write_bytes(content)
        return Target(path, model=base.model, with_model=("dump",), ops=(INSERT,))

    return Case("pages", name, build)


def _page_changes(base: Base) -> dict[str, Callable[[bytearray], object]]:
    """Trees and chains that lead in rings."""

    def roots() -> dict[str, int]:
        db = sqlite3.connect(f"file:{base.store}?immutable=1", uri=True)
        try:
            return dict(db.execute("SELECT name, rootpage FROM sqlite_schema"))
        finally:
            db.close()

    root = roots()

    def page_of(name: str) -> int:
        return (root[name] - 1) * PAGE

    def interior(name: str, target: int, cells: int = 1):
        """The table's root becomes an interior page all of whose children are one page."""

        def change(content: bytearray) -> None:
            start = page_of(name)
            page = bytearray(PAGE)
            struct.pack_into(">BHHHBI", page, 0, 5, 0, cells, PAGE - 5 * cells, 0, target)
            for cell in range(cells):
                at = PAGE - 5 * (cell + 1)
                struct.pack_into(">H", page, 12 + 2 * cell, at)
                struct.pack_into(">IB", page, at, target, cell % 127 + 1)
            content[start : start + PAGE] = page

        return change

    def chain(content: bytearray) -> None:
        """A row whose overflow chain leads back to its first page."""
        start = page_of("Z_MODELCACHE")
        (cell,) = struct.unpack_from(">H", content, start + 8)
        # The payload's length, the row's key, the local part and then the first overflow page.
        first = start + cell
        for position in range(first, start + PAGE - 3):
            (number,) = struct.unpack_from(">I", content, position)
            if 0 < number <= len(content) // PAGE and position > first + 100:
                struct.pack_into(">I", content, (number - 1) * PAGE, number)
                break

    def every_page(kind: int):
        def change(content: bytearray) -> None:
            for page in range(1, len(content) // PAGE):
                content[page * PAGE] = kind

        return change

    def rings(content: bytearray) -> None:
        for page in range(1, len(content) // PAGE):
            struct.pack_into(">I", content, page * PAGE, page + 1)

    def cells(value: int):
        def change(content: bytearray) -> None:
            start = page_of("ZPERSON")
            (count,) = struct.unpack_from(">H", content, start + 3)
            for cell in range(min(count, 100)):
                struct.pack_into(">H", content, start + (12 if content[start] == 5 else 8) + 2 * cell, value)

        return change

    def record(data: bytes):
        """Other bytes at the begin of the first row of a leaf."""

        def change(content: bytearray) -> None:
            start = page_of("ZTAG")
            (cell,) = struct.unpack_from(">H", content, start + 8)
            _put(content, start + cell, data)

        return change

    found = {
        "tree-of-itself": interior("ZPERSON", root["ZPERSON"]),
        "tree-of-itself-wide": interior("ZPERSON", root["ZPERSON"], 100),
        "tree-of-page-1": interior("ZPERSON", 1),
        "tree-far": interior("ZPERSON", 0x7FFFFFFF),
        "tree-of-0": interior("ZPERSON", 0),
        "tree-of-leaf-often": interior("ZPERSON", root["ZTAG"], 500),
        "metadata-of-itself": interior("Z_METADATA", root["Z_METADATA"]),
        "metadata-of-leaf-often": interior("Z_METADATA", root["ZTAG"], 500),
        "overflow-ring": chain,
        "all-leaves": every_page(13),
        "all-index": every_page(10),
        "all-interior": every_page(5),
        "all-kind-0": every_page(0),
        "next-is-itself": rings,
        "cells-at-0": cells(0),
        "cells-at-end": cells(PAGE - 1),
        "cells-same": cells(3000),
        "cells-outside": cells(65535),
        "record-length-most": record(b"\xff" * 9),
        "record-key-most": record(b"\x05" + b"\xff" * 9),
        "record-header-most": record(b"\x20\x01\xff\xff\xff\xff\xff\xff\xff\xff\xff"),
        "record-types-most": record(b"\x20\x01\x07" + b"\xff" * 6),
        "record-reserved-types": record(b"\x06\x01\x05\x0a\x0b\x0a\x0b"),
        "page-1-only": lambda content: content.__delitem__(slice(PAGE, None)),
        "without-last-page": lambda content: content.__delitem__(slice(-PAGE, None)),
        "half-a-page-more": lambda content: content.extend(b"x" * 2000),
        "many-pages-more": lambda content: content.extend(b"\xff" * PAGE * 500),
        "page-1-twice": lambda content: _put(content, PAGE * 3, bytes(content[:PAGE])),
        "pages-reversed": lambda content: _put(
            content, PAGE, b"".join(content[n : n + PAGE] for n in range(len(content) - PAGE, 0, -PAGE))
        ),
    }
    return found


def _rewritten(base: Base, folder: Path, pragma: str) -> Target:
    path = base.copy(folder, base.rollback_store)
    db = sqlite3.connect(path)
    db.execute(pragma)
    db.execute("VACUUM")
    db.close()
    return Target(path, model=base.model, ops=(INSERT,))


def _dumped_again(base: Base, folder: Path) -> Target:
    """The same content as text of UTF-16."""
    path = folder / "store.sqlite"
    source, made = sqlite3.connect(f"file:{base.rollback_store}?immutable=1", uri=True), sqlite3.connect(path)
    made.execute("PRAGMA encoding = 'UTF-16le'")
    made.executescript("\n".join(source.iterdump()))
    source.close(), made.close()
    return Target(path, model=base.model, ops=(INSERT,))


def live_log(base: Base, folder: Path) -> tuple[Path, bytes]:
    """A copy of the base and a log of two transactions, as a killed writer leaves it."""
    work = folder / "work"
    work.mkdir()
    path = base.copy(work)
    db = sqlite3.connect(path, isolation_level=None)
    db.execute("PRAGMA wal_autocheckpoint = 0")
    db.execute("UPDATE ZTAG SET ZNAME = 'from the log'")
    db.execute("UPDATE ZPERSON SET ZSTREET = hex(zeroblob(500))")
    log, store = Path(f"{path}-wal").read_bytes(), base.copy(folder)
    db.close()
    shutil.rmtree(work)
    return store, with_fixed_salts(log)


def _with_log(base: Base, folder: Path, change: Callable[[bytes, Base], bytes]) -> Target:
    store, log = live_log(base, folder)
    Path(f"{store}-wal").write_bytes(change(log, base))
    return Target(store, model=base.model, with_model=("dump",), ops=(INSERT, CHANGE))


def _logs() -> dict[str, Callable[[bytes, Base], bytes]]:
    frame = 24 + PAGE

    def patched(offset: int, data: bytes):
        return lambda log, _: log[:offset] + data + log[offset + len(data) :]

    def resigned(offset: int, data: bytes):
        """Changed, and with right checksums again."""
        return lambda log, _: with_fixed_salts(log[:offset] + data + log[offset + len(data) :])

    return {
        "good": lambda log, _: log,
        "empty": lambda log, _: b"",
        "header-only": lambda log, _: log[:32],
        "half-header": lambda log, _: log[:16],
        "half-frame": lambda log, _: log[: 32 + frame // 2],
        "one-frame": lambda log, _: log[: 32 + frame],
        "cut": lambda log, _: log[:-100],
        "garbage": lambda log, _: bytes(range(256)) * 100,
        "magic": patched(0, b"\xff" * 4),
        "version": patched(4, b"\xff" * 4),
        "page-size-0": patched(8, b"\0" * 4),
        "page-size-odd": patched(8, struct.pack(">I", 4097)),
        "salts": patched(16, b"\xff" * 8),
        "checksum": patched(24, b"\xff" * 8),
        "frame-page-0": resigned(32, b"\0" * 4),
        "frame-page-most": resigned(32, b"\xff" * 4),
        "frame-page-far": resigned(32, struct.pack(">I", 1 << 20)),
        "size-after-0": resigned(36 + frame, b"\0" * 4),
        "size-after-most": resigned(36, b"\xff" * 4),
        "size-after-1": resigned(36, struct.pack(">I", 1)),
        "first-page-zeros": resigned(32 + 24, b"\0" * 200),
        "frames-twice": lambda log, _: with_fixed_salts(log + log[32:]),
        "other-database": lambda log, base: Path(f"{base.fixtures['wal']}-wal").read_bytes(),
        "is-a-database": lambda log, base: base.store.read_bytes(),
        "many": lambda log, _: with_fixed_salts(log + log[32:] * 20),
    }


def _with_journal(base: Base, folder: Path, change: Callable[[bytes, Path], bytes]) -> Target:
    """A hot journal, with the store as it is in the midst of the transaction."""
    work = folder / "work"
    work.mkdir()
    path = base.copy(work, base.rollback_store)
    db = sqlite3.connect(path, isolation_level=None)
    for statement in (
        "PRAGMA cache_size = 2",
        "PRAGMA cache_spill = 1",
        "BEGIN",
        "UPDATE ZPERSON SET ZNAME = 'unfinished', ZSTREET = hex(zeroblob(2000))",
        "UPDATE ZTAG SET ZNAME = 'unfinished'",
    ):
        db.execute(statement)
    store = base.copy(folder, base.rollback_store)
    store.write_bytes(path.read_bytes())
    journal = Path(f"{path}-journal").read_bytes()
    db.execute("ROLLBACK")
    db.close()
    shutil.rmtree(work)
    Path(f"{store}-journal").write_bytes(change(_with_fixed_nonce(journal), folder))
    (folder / "victim").write_text("untouched")
    return Target(store, model=base.model, with_model=("dump",), ops=(INSERT,))


def _with_fixed_nonce(journal: bytes) -> bytes:
    """The synced parts of a journal with numbers that are not random, so that equal seeds give equal files; each part
    has a header of its own."""
    sector, page = struct.unpack_from(">II", journal, 20)
    found, start, end = bytearray(journal), 0, 0
    while found[start : start + 8] == JOURNAL_MAGIC:
        count, _ = struct.unpack_from(">II", found, start + 8)
        struct.pack_into(">I", found, start + 12, 12345)
        end = start + sector + count * (page + 8)
        for at in range(start + sector, end, page + 8):
            content = found[at + 4 : at + 4 + page]
            total = 12345 + sum(content[index] for index in range(page - 200, 0, -200))
            struct.pack_into(">I", found, at + 4 + page, total & 0xFFFFFFFF)
        start = (end + sector - 1) // sector * sector
    return bytes(found[:end])


def _super(name: bytes):
    """A journal that names a super-journal, which would have to exist for the journal to count."""

    def change(journal: bytes, folder: Path) -> bytes:
        (sector,) = struct.unpack_from(">I", journal, 20)
        records = (len(journal) - sector) // (PAGE + 8)
        whole = bytearray(journal[: sector + records * (PAGE + 8)])
        path = name.replace(b"FOLDER", os.fsencode(folder))
        return (
            bytes(whole)
            + struct.pack(">I", (1 << 30) // PAGE + 1)
            + path
            + struct.pack(">II", len(path), sum(path) & 0xFFFFFFFF)
            + JOURNAL_MAGIC
        )

    return change


def _journals() -> dict[str, Callable[[bytes, Path], bytes]]:
    def patched(offset: int, data: bytes):
        return lambda journal, _: journal[:offset] + data + journal[offset + len(data) :]

    return {
        "hot": lambda journal, _: journal,
        "hot-cut": lambda journal, _: journal[:-1000],
        "garbage": lambda journal, _: b"x" * 5000,
        "zeros": lambda journal, _: b"\0" * 5000,
        "empty": lambda journal, _: b"",
        "header-only": lambda journal, _: journal[:512],
        "count-most": patched(8, b"\xff" * 4),
        "count-many": patched(8, b"\0\xff\xff\xff"),
        "sector-most": patched(20, b"\xff" * 4),
        "sector-0": patched(20, b"\0" * 4),
        "page-size-odd": patched(24, struct.pack(">I", 4097)),
        "page-size-most": patched(24, b"\xff" * 4),
        "pages-0": patched(16, b"\0" * 4),
        "pages-most": patched(16, b"\x7f" + b"\xff" * 3),
        "page-far": patched(512, b"\x7f\xff\xff\xff"),
        "super-missing": _super(b"FOLDER/nothing"),
        "super-exists": _super(b"FOLDER/victim"),
        "super-is-passwd": _super(b"/etc/passwd"),
        "super-is-fifo-like": _super(b"/dev/stdin"),
        "super-relative": _super(b"../../victim"),
        "super-is-itself": _super(b"FOLDER/store.sqlite-journal"),
        "super-is-store": _super(b"FOLDER/store.sqlite"),
    }


def _with_shared_memory(base: Base, folder: Path, data: bytes, log: bytes | None) -> Target:
    store = base.copy(folder)
    if log is not None:
        store, log = live_log(base, folder / "log") if (folder / "log").mkdir() is None else (store, b"")
        shutil.move(store, folder / "store.sqlite")
        shutil.rmtree(folder / "log")
        store = folder / "store.sqlite"
        Path(f"{store}-wal").write_bytes(log)
    Path(f"{store}-shm").write_bytes(data)
    return Target(store, model=base.model, with_model=("dump",), ops=(INSERT,))
