"""Writes a fixture: the store, its model source, what it is expected to hold and the facts about it."""

from __future__ import annotations

import json
import plistlib
import sqlite3
import uuid
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

from . import hashes, history
from .archive import model_cache
from .expected import expected_dump
from .model import Model
from .objects import World
from .rows import RowMaker
from .schema import MODEL_CACHE_TABLE, Layout, Oddities
from .source import source_text

FIRST_WITH_MODEL_CACHE, FIRST_WITH_DIGEST, FIRST_WITH_CHECKSUM, FIRST_WITH_MAXIMUM = 637, 977, 1327, 1513


@dataclass
class Fixture:
    """What a store is made of. `cache` is valid, null, missing, stale, truncated or none, `stale_model` the model of
    a stale one; `maxima` are wrong highest keys; `finish` changes the store once everything is in it."""
    name: str
    world: World
    framework: int
    random: Random
    rollback: bool = False
    cache: str = "valid"
    copies: bool = False
    stale_model: Model | None = None
    history: history.History | None = None
    oddities: Oddities = field(default_factory=Oddities)
    metadata: dict = field(default_factory=dict)
    former_names: dict[str, str] = field(default_factory=dict)
    maxima: dict[str, int] = field(default_factory=dict)
    finish: Callable[[sqlite3.Connection, Layout], None] | None = None
    wal: bool = False
    remarks: list[str] = field(default_factory=list)

    def __post_init__(self):
        self.model = self.world.model
        self.layout = Layout(self.model, self.framework, self.oddities)
        self.uuid = str(uuid.UUID(int=self.random.getrandbits(128), version=4)).upper()


class StoreWriter:
    """Writes the parts of a fixture's store through one connection, which closes with it."""

    def __init__(self, fixture: Fixture, path: Path):
        self.fixture, self.path, self.layout = fixture, path, fixture.layout
        self.rows = RowMaker(fixture.world, fixture.layout, fixture.random,
                             path.with_name(f".{path.stem}_SUPPORT") / "_EXTERNAL_DATA")
        self.connection = sqlite3.connect(path, isolation_level=None)
        for pragma in ("page_size = 4096", "auto_vacuum = INCREMENTAL", "synchronous = OFF",
                       f"journal_mode = {'DELETE' if fixture.rollback else 'WAL'}"):
            self.connection.execute(f"PRAGMA {pragma}")

    def __enter__(self) -> StoreWriter:
        return self

    def __exit__(self, *_) -> None:
        self.connection.close()

    def transaction(self, work: Callable[[], None]) -> None:
        self.connection.execute("BEGIN")
        work()
        self.connection.execute("COMMIT")

    def write_everything(self) -> None:
        self.write_system()
        for table, row in self.all_rows():
            history.insert_row(self.connection, table, row)
        if self.fixture.finish:
            self.fixture.finish(self.connection, self.layout)

    def all_rows(self) -> Iterable[tuple[str, dict]]:
        """The table and row of every object and of every pair of a many-to-many relationship."""
        for item in self.fixture.world.objects:
            yield self.layout.table(item.entity), self.rows.row(item)
        for key, join in self.layout.joins.items():
            if key == (join.owner, join.relationship.name):
                for row in self.rows.join_rows(join):
                    yield join.table, row

    def write_system(self) -> None:
        """The schema, the system tables' content and the history."""
        fixture = self.fixture
        with_cache_table = fixture.framework >= FIRST_WITH_MODEL_CACHE and fixture.cache != "missing"
        statements = self.layout.statements() + [MODEL_CACHE_TABLE] * with_cache_table
        statements += self.layout.appended_columns()
        if fixture.history:
            statements += history.statements(fixture.history, fixture.framework)
        for statement in statements:
            self.connection.execute(statement)
        self.connection.executemany("INSERT INTO Z_PRIMARYKEY VALUES (?, ?, ?, ?)", primary_keys(fixture))
        self.connection.execute("INSERT INTO Z_METADATA VALUES (1, ?, ?)", (
            fixture.uuid, plistlib.dumps(metadata(fixture), fmt=plistlib.FMT_BINARY)))
        if with_cache_table:
            self.connection.execute("INSERT INTO Z_MODELCACHE VALUES (?)", (cache_content(fixture),))
        if fixture.history:
            history.write(fixture.history, self.layout, self.connection)


def write_store(fixture: Fixture, path: Path) -> None:
    """Writes the store in one transaction; nothing is left in its -wal."""
    with StoreWriter(fixture, path) as writer:
        writer.transaction(writer.write_everything)


def primary_keys(fixture: Fixture) -> list[tuple[int, str, int, int]]:
    """The rows of Z_PRIMARYKEY; only roots have a highest key."""
    numbers, world = fixture.layout.numbers, fixture.world
    return [(number, fixture.former_names.get(name, name), numbers.get(world.model.entities[name].parent, 0),
             fixture.maxima.get(name, world.highest.get(name, 0))) for name, number in numbers.items()]


def metadata(fixture: Fixture) -> dict:
    found, framework = hashes.model_hashes(fixture.model), fixture.framework
    content = {
        "NSPersistenceFrameworkVersion": framework, "NSStoreModelVersionHashes": found,
        "NSStoreModelVersionHashesVersion": 3, "NSStoreModelVersionIdentifiers": [fixture.model.identifier],
        "NSStoreType": "SQLite", "_NSAutoVacuumLevel": "2"}
    if framework >= FIRST_WITH_DIGEST:
        content["NSStoreModelVersionHashesDigest"] = hashes.digest(found)
    if framework >= FIRST_WITH_CHECKSUM:
        content["NSStoreModelVersionChecksumKey"] = hashes.checksum(found)
    if framework >= FIRST_WITH_MAXIMUM:
        content["NSPersistenceMaximumFrameworkVersion"] = framework
    return {**content, **fixture.metadata}


def cache_content(fixture: Fixture) -> bytes | None:
    if fixture.cache == "null":
        return None
    content = model_cache(fixture.stale_model or fixture.model, fixture.copies)
    return content[:len(content) * 2 // 3] if fixture.cache == "truncated" else content


def write_description(fixture: Fixture, folder: Path) -> None:
    """Writes everything that belongs to the store but is not it."""
    source = folder / f"{fixture.name}.xcdatamodel" / "contents"
    source.parent.mkdir()
    _write(source, source_text(fixture.model))
    _write(folder / "expected.jsonl", expected_dump(fixture.world))
    if fixture.history:
        _write(folder / "history.jsonl", history.expected_history(fixture.history, fixture.framework))
    _write(folder / "facts.json", json.dumps(facts(fixture), indent=1) + "\n")


def facts(fixture: Fixture) -> dict:
    """What the store says of itself; the highest key is that of the entity's whole table."""
    rows = Counter(item.entity for item in fixture.world.objects)
    return {
        "storeUUID": fixture.uuid, "journalMode": "rollback" if fixture.rollback else "wal",
        "frameworkVersion": fixture.framework, "modelCache": fixture.cache, "remarks": fixture.remarks,
        "entities": [{"name": name, "rows": rows[name], "entityID": number,
                      "highestKey": fixture.world.highest[fixture.model.root(name)]}
                     for name, number in fixture.layout.numbers.items()]}


def _write(path: Path, text: str) -> None:
    """UTF-8 with line feeds on every system."""
    path.write_bytes(text.encode())
