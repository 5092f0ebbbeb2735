"""What a case is: a way to make files, and what the tool is asked about them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

READS_OF_STORES = ("info", "dump", "verify", "fetch", "describe")
INSERT = (
    '{"op":"insert","entity":"Person","as":"new","values":{"name":"new"}}\n'
    '{"op":"insert","entity":"Company","as":"firm","values":{"name":"new firm"}}\n'
)
CHANGE = (
    '{"op":"set","object":"Person/p1","values":{"name":"changed","age":7}}\n'
    '{"op":"relate","object":"Person/p2","relationship":"employer","to":"Company/p1"}\n'
    '{"op":"relate","object":"Person/p3","relationship":"tags","add":["Tag/p1","Tag/p2"]}\n'
    '{"op":"delete","object":"Company/p2"}\n'
)


@dataclass
class Target:
    """What a case's files are about: the commands that read them, those that are given the model too, and the texts of
    operations, each of which is applied to files made anew."""

    path: Path
    entity: str = "Person"
    model: Path | None = None
    commands: tuple[str, ...] = READS_OF_STORES
    with_model: tuple[str, ...] = ("dump", "verify")
    ops: tuple[str, ...] = ()


@dataclass(frozen=True)
class Case:
    """A case; `build` makes its files in an empty folder, the same ones each time. `wide` is one of very many alike, of
    which a short run takes some."""

    family: str
    name: str
    build: Callable[[Path], Target] = field(compare=False)
    wide: bool = field(default=False, compare=False)

    @property
    def title(self) -> str:
        return f"{self.family}/{self.name}"
