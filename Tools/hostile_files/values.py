"""Rows whose values are hostile: external files that lie elsewhere, and keyed archives in transformables."""

from __future__ import annotations

import os
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path

from .base import Base, change_store
from .case import CHANGE, Case, Target
from .plists import ARCHIVES, PLISTS

NAME = "ABCDEFAB-0000-4000-8000-ABCDEFABCDEF"
PHOTO_CHANGE = (
    '{"op":"set","object":"Person/p2","values":{"photo":{"$data":"AAEC"}}}\n{"op":"delete","object":"Person/p2"}\n'
)


def cases(base: Base) -> Iterator[Case]:
    for name, data in {**ARCHIVES, **{f"plist-{name}": data for name, data in PLISTS.items()}}.items():
        yield Case(
            "values",
            f"note-{name}",
            lambda folder, data=data: base.changed(
                folder,
                lambda db: db.execute("UPDATE ZPERSON SET ZNOTE = ? WHERE Z_PK < 4", (data,)),
                commands=("fetch",),
                with_model=("dump",),
            ),
            wide=True,
        )
    yield Case("values", "note-all-at-once", lambda folder: base.changed(folder, _all_archives))
    for name, value in _references().items():
        yield Case(
            "values", f"photo-{name}", lambda folder, value=value: _with_photo(base, folder, value, lambda _: None)
        )
    for name, place in _places().items():
        yield Case(
            "values", f"external-{name}", lambda folder, place=place: _with_photo(base, folder, _stored(NAME), place)
        )


def _all_archives(db: sqlite3.Connection) -> None:
    rows = ((1000 + number, data) for number, data in enumerate(ARCHIVES.values()) if len(data) < 100_000)
    db.executemany("INSERT INTO ZPERSON (Z_PK, Z_ENT, Z_OPT, ZNOTE) VALUES (?, 3, 1, ?)", rows)


def _stored(name: str | bytes) -> bytes:
    return b"\2" + (name.encode() if isinstance(name, str) else name) + b"\0"


def _references() -> dict[str, bytes | str | int]:
    """Values of a column whose data may lie in files."""
    return {
        "parent": _stored("../../../../../../../../etc/passwd"),
        "parent-36": _stored("../../../../../../../../../etc/passwd"),
        "parent-padded": _stored("./././././././././../../../etc/passwd"[-36:]),
        "absolute": _stored("/etc/passwd"),
        "absolute-36": _stored("//////////////////////////etc/passwd"),
        "nul": _stored(b"ABCDEFAB\x000000-4000-8000-ABCDEFABCDEF"),
        "not-hex": _stored("G" * 36),
        "slashes": _stored("/" * 36),
        "dots": _stored("." * 36),
        "newlines": _stored("\n" * 36),
        "escape": _stored("\x1b[31m" + "A" * 31),
        "lower": _stored(NAME.lower()),
        "no-end": b"\2" + NAME.encode(),
        "long": _stored("A" * 5000),
        "short": b"\2A\0",
        "empty-name": b"\2\0",
        "prefix-only": b"\2",
        "nothing": b"",
        "inline-nothing": b"\1",
        "prefix-0": b"\0abc",
        "prefix-3": b"\3abc",
        "prefix-255": b"\xff",
        "text": "text",
        "number": 7,
        "bad-utf8": _stored(b"\xff" * 36),
        "missing": _stored(NAME),
        "two-ends": _stored(NAME + "\0"),
    }


def _with_photo(base: Base, folder: Path, value, place: Callable[[Path], object]) -> Target:
    """A store one of whose persons has such a photo, with something at the place of its file. Beside it lies what must
    not be read or touched."""
    path = base.copy(folder)
    (folder / "secret").write_bytes(b"TOP SECRET")
    change_store(path, lambda db: db.execute("UPDATE ZPERSON SET ZPHOTO = ? WHERE Z_PK = 2", (value,)))
    place(folder / ".store_SUPPORT" / "_EXTERNAL_DATA" / NAME)
    return Target(
        path, model=base.model, commands=("dump", "verify", "fetch"), with_model=("info",), ops=(PHOTO_CHANGE, CHANGE)
    )


def _places() -> dict[str, Callable[[Path], object]]:
    """What lies where an external file should be."""

    def link(target: str):
        return lambda path: path.symlink_to(target)

    def folder_link(target: str):
        def change(path: Path) -> None:
            shutil.rmtree(path.parent)
            path.parent.symlink_to(target)

        return change

    def folder_as(make: Callable[[Path], object]):
        def change(path: Path) -> None:
            shutil.rmtree(path.parent)
            make(path.parent)

        return change

    def support_as(make: Callable[[Path], object]):
        def change(path: Path) -> None:
            shutil.rmtree(path.parent.parent)
            make(path.parent.parent)

        return change

    def moved(path: Path) -> None:
        os.rename(path.parent, path.parent.parent.parent / "elsewhere")
        path.parent.symlink_to("../elsewhere")

    def huge(path: Path) -> None:
        path.touch()
        os.truncate(path, 3 << 30)

    def hard_link(path: Path) -> None:
        os.link(path.parent.parent.parent / "secret", path)

    return {
        "good": lambda path: path.write_bytes(b"data"),
        "link-to-passwd": link("/etc/passwd"),
        "link-to-secret": link("../../secret"),
        "link-ring": link(NAME),
        "link-to-nothing": link("nothing"),
        "link-to-zero": link("/dev/zero"),
        "link-to-stdin": link("/dev/stdin"),
        "folder": lambda path: path.mkdir(),
        "fifo": os.mkfifo,
        "huge-hole": huge,
        "unreadable": lambda path: (path.write_bytes(b"data"), path.chmod(0)),
        "hard-link": hard_link,
        "folder-link-to-etc": folder_link("/etc"),
        "folder-link-ring": folder_link("_EXTERNAL_DATA"),
        "folder-link-elsewhere": moved,
        "folder-is-fifo": folder_as(os.mkfifo),
        "folder-is-file": folder_as(lambda path: path.write_bytes(b"x")),
        "folder-missing": folder_as(lambda path: None),
        "support-is-fifo": support_as(os.mkfifo),
        "support-is-file": support_as(lambda path: path.write_bytes(b"x")),
        "support-missing": support_as(lambda path: None),
        "support-link-to-root": support_as(lambda path: path.symlink_to("/")),
        "many-others": lambda path: [
            path.with_name(f"{n:08X}-0000-4000-8000-000000000000").touch() for n in range(3000)
        ],
        "odd-others": lambda path: [
            (path.parent / name).touch() for name in ("x\n\x1b[31m", "a b", os.fsdecode(b"\xff\xfe"), "N" * 200)
        ],
    }
