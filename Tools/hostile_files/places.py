"""Paths that are not plain files, and names that are not plain words."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

from .base import Base
from .case import CHANGE, INSERT, READS_OF_STORES, Case, Target
from .pages import live_log

NAMES = {
    "spaces": "a b  c.sqlite",
    "percent": "a%20b%s%n.sqlite",
    "percent-nul": "a%00b.sqlite",
    "question": "a?mode=memory.sqlite",
    "hash": "a#b.sqlite",
    "newline": "a\nb.sqlite",
    "escape": "a\x1b[31mb.sqlite",
    "bad-utf8": os.fsdecode(b"a\xff\xfeb.sqlite"),
    "quote": "a'b\"c.sqlite",
    "colon": "file:a.sqlite",
    "dash": "-a.sqlite",
    "dots": "...sqlite",
    "long": "n" * 240 + ".sqlite",
    "longest": "n" * 244 + ".sqlite",
    "no-suffix": "store",
    "hidden": ".sqlite",
    "memory": ":memory:",
    "emoji": "👩‍👧.sqlite",
    "combining": "e\u0301.sqlite",
    "backslash": "a\\b.sqlite",
    "ampersand": "a&immutable=1.sqlite",
    "wal": "x.sqlite-wal",
    "momd-name": "x.mom",
    "rtl": "\u202eabc.sqlite",
    "tab": "a\tb.sqlite",
}


def cases(base: Base) -> Iterator[Case]:
    for name, file in NAMES.items():
        yield Case(
            "places",
            f"name-{name}",
            lambda folder, file=file: Target(base.copy(folder, name=file), model=base.model, ops=(INSERT,)),
        )
    for name, make in _stores(base).items():
        yield Case(
            "places",
            f"store-{name}",
            lambda folder, make=make: Target(
                make(folder) or folder / "store.sqlite", model=base.model, with_model=("info",)
            ),
        )
    for suffix in ("-wal", "-shm", "-journal"):
        for name, make in _others().items():
            yield Case(
                "places",
                f"{suffix[1:]}-{name}",
                lambda folder, make=make, suffix=suffix: _beside(base, folder, suffix, make),
            )
    for name, make in _models().items():
        yield Case("places", f"model-{name}", lambda folder, make=make: _described(base, folder, make))
        yield Case("places", f"model-contents-{name}", lambda folder, make=make: _contents(folder, make))


def _stores(base: Base) -> dict[str, Callable[[Path], Path | None]]:
    """What the store itself is; None where it is at the usual place."""

    def linked(folder: Path) -> None:
        (folder / "real").mkdir()
        os.symlink(base.copy(folder / "real", name="good.sqlite"), folder / "store.sqlite")

    def linked_log(folder: Path) -> None:
        (folder / "real").mkdir()
        store, log = live_log(base, folder / "real")
        Path(f"{store}-wal").write_bytes(log)
        os.symlink("real/store.sqlite", folder / "store.sqlite")

    def ring(folder: Path) -> None:
        os.symlink("b", folder / "store.sqlite")
        os.symlink("store.sqlite", folder / "b")

    def unreadable(folder: Path) -> None:
        base.copy(folder).chmod(0)

    def in_closed_folder(folder: Path) -> Path:
        (folder / "closed").mkdir()
        path = base.copy(folder / "closed")
        (folder / "closed").chmod(0)
        return path

    def read_only_folder(folder: Path) -> Path:
        (folder / "fixed").mkdir()
        store, log = live_log(base, folder / "fixed")
        Path(f"{store}-wal").write_bytes(log)
        (folder / "fixed").chmod(0o555)
        return store

    def hole(folder: Path) -> None:
        path = base.copy(folder)
        os.truncate(path, 1 << 40)

    def empty_hole(folder: Path) -> None:
        (folder / "store.sqlite").touch()
        os.truncate(folder / "store.sqlite", 1 << 40)

    return {
        "link": linked,
        "link-with-log": linked_log,
        "link-ring": ring,
        "fifo": lambda folder: os.mkfifo(folder / "store.sqlite"),
        "folder": lambda folder: (folder / "store.sqlite").mkdir(),
        "missing": lambda folder: None,
        "missing-folder": lambda folder: folder / "no" / "store.sqlite",
        "below-a-file": lambda folder: base.copy(folder) / "store.sqlite",
        "trailing-slash": lambda folder: f"{base.copy(folder)}/",
        "dot": lambda folder: f"{folder}/.",
        "empty-path": lambda folder: "",
        "zero": lambda folder: Path("/dev/zero"),
        "null": lambda folder: Path("/dev/null"),
        "full": lambda folder: Path("/dev/full"),
        "stdin": lambda folder: Path("/dev/stdin"),
        "link-to-zero": lambda folder: os.symlink("/dev/zero", folder / "store.sqlite"),
        "link-to-fifo": lambda folder: (os.mkfifo(folder / "f"), os.symlink("f", folder / "store.sqlite"))[1],
        "proc": lambda folder: Path("/proc/self/mem"),
        "kmsg-like": lambda folder: Path("/proc/self/environ"),
        "unreadable": unreadable,
        "closed-folder": in_closed_folder,
        "read-only-folder-with-log": read_only_folder,
        "hole-of-a-terabyte": hole,
        "empty-terabyte": empty_hole,
        "uri": lambda folder: f"file://{base.copy(folder)}",
        "uri-mode": lambda folder: f"{base.copy(folder)}?mode=rwc",
        "memory": lambda folder: ":memory:",
        "path-of-5000": lambda folder: folder / "/".join(["x" * 200] * 25),
        "dots": lambda folder: f"{base.copy(folder).parent}/x/../store.sqlite",
    }


def _others() -> dict[str, Callable[[Path], object]]:
    """What may lie where only SQLite's own files should."""
    return {
        "link-to-passwd": lambda path: path.symlink_to("/etc/passwd"),
        "link-to-victim": lambda path: path.symlink_to("victim"),
        "link-ring": lambda path: path.symlink_to(path.name),
        "link-to-nothing": lambda path: path.symlink_to("nothing"),
        "fifo": os.mkfifo,
        "folder": lambda path: path.mkdir(),
        "garbage": lambda path: path.write_bytes(b"garbage" * 999),
        "empty": lambda path: path.touch(),
        "unreadable": lambda path: (path.write_bytes(b"\0" * 99), path.chmod(0)),
        "link-to-zero": lambda path: path.symlink_to("/dev/zero"),
        "hole": lambda path: (path.touch(), os.truncate(path, 1 << 36)),
        "link-to-store": lambda path: path.symlink_to("store.sqlite"),
    }


def _beside(base: Base, folder: Path, suffix: str, make: Callable[[Path], object]) -> Target:
    rollback = suffix == "-journal"
    path = base.copy(folder, base.rollback_store if rollback else base.store)
    (folder / "victim").write_text("untouched")
    make(Path(f"{path}{suffix}"))
    return Target(path, model=base.model, with_model=("info",), ops=(INSERT,))


def _models() -> dict[str, Callable[[Path], object]]:
    return {
        "fifo": os.mkfifo,
        "folder": lambda path: path.mkdir(),
        "link-to-zero": lambda path: path.symlink_to("/dev/zero"),
        "link-ring": lambda path: path.symlink_to(path.name),
        "missing": lambda path: None,
        "link-to-passwd": lambda path: path.symlink_to("/etc/passwd"),
        "hole": lambda path: (path.touch(), os.truncate(path, 1 << 40)),
        "link-to-fifo": lambda path: (os.mkfifo(path.with_name("f")), path.symlink_to("f")),
        "unreadable": lambda path: (path.write_bytes(b"x"), path.chmod(0)),
    }


def _described(base: Base, folder: Path, make: Callable[[Path], object]) -> Target:
    make(folder / "model.mom")
    path = base.copy(folder)
    del path
    return Target(folder / "model.mom", commands=("describe",))


def _contents(folder: Path, make: Callable[[Path], object]) -> Target:
    (folder / "m.xcdatamodel").mkdir()
    make(folder / "m.xcdatamodel" / "contents")
    return Target(folder / "m.xcdatamodel", commands=("describe",))
