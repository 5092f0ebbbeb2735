"""The good store, model and archives that hostile ones are made from."""

from __future__ import annotations

import shutil
import sqlite3
import uuid
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from random import Random

from coredata_fixtures.archive import ModelArchiver
from coredata_fixtures.fixtures import FIXTURES
from coredata_fixtures.fixtures.content import archived
from coredata_fixtures.model import Attribute, Entity, Model, Relationship
from coredata_fixtures.objects import FileData, World
from coredata_fixtures.source import source_text
from coredata_fixtures.store import Fixture, write_store
from coredata_fixtures.wal import write_store_in_wal

from .case import Target

MODEL = Model(
    [
        Entity(
            "Person",
            [
                Attribute("name", "String"),
                Attribute("age", "Integer 16"),
                Attribute("score", "Double"),
                Attribute("ratio", "Float"),
                Attribute("count", "Integer 64"),
                Attribute("born", "Date"),
                Attribute("price", "Decimal"),
                Attribute("ident", "UUID"),
                Attribute("site", "URI"),
                Attribute("active", "Boolean"),
                Attribute("data", "Binary"),
                Attribute("photo", "Binary", external=True),
                Attribute("note", "Transformable", transformer="NSSecureUnarchiveFromData"),
                Attribute(
                    "place",
                    "Composite",
                    composite="Place",
                    elements=(Attribute("street", "String"), Attribute("latitude", "Double")),
                ),
                Relationship("employer", "Company", "staff"),
                Relationship("boss", "Person", "team"),
                Relationship("team", "Person", "boss", many=True),
                Relationship("tags", "Tag", "people", many=True, ordered=True),
            ],
            indexes={"byName": ["name", "-age"]},
        ),
        Entity("Employee", [Attribute("salary", "Decimal"), Relationship("desk", "Desk", "user")], parent="Person"),
        Entity(
            "Company",
            [
                Attribute("name", "String"),
                Relationship("staff", "Person", "employer", many=True, ordered=True),
                Relationship("assets", "Desk", many=True),
            ],
            unique=[["name"]],
        ),
        Entity(
            "Tag",
            [
                Attribute("name", "String", optional=False, default=""),
                Relationship("people", "Person", "tags", many=True),
            ],
        ),
        Entity("Desk", [Attribute("number", "Integer 32"), Relationship("user", "Employee", "desk")]),
    ],
    identifier="hostile 1",
)
FIXTURE_ROWS, MUTABLE_FIXTURES = 200, ("family", "links", "history", "legacy-history", "migrated", "wal")
ENTITIES = {"family": "Item", "links": "Person", "history": None, "legacy-history": None, "migrated": None, "wal": None}


def _world(random: Random) -> World:
    world = World(MODEL, random, gaps=0)
    firms = [world.new("Company", name=f"firm {number}") for number in range(3)]
    tags = [world.new("Tag", name=f"tag {number}") for number in range(4)]
    people = [_person(world, index) for index in range(24)]
    for index, person in enumerate(people):
        world.link(person, "employer", firms[index % 2])
        if index % 3:
            world.link(person, "boss", people[index // 2])
        for tag in tags[: index % 4]:
            world.link(person, "tags", tag)
    for number, person in enumerate(world.of("Employee")):
        desk = world.new("Desk", number=number)
        world.link(person, "desk", desk)
        world.link(firms[0], "assets", desk)
    return world


def _person(world: World, index: int):
    random = world.random
    own = {"salary": Decimal(index * 100)} if index % 4 == 3 else {}
    photo = FileData(random.randbytes(3000)) if index % 8 == 1 else random.randbytes(50)
    return world.new(
        "Employee" if own else "Person",
        name=f"person {index}",
        age=index,
        score=index / 7,
        ratio=index / 2,
        count=index << 32,
        born=index * 86400.5,
        price=Decimal(index) / 4,
        active=bool(index % 2),
        ident=uuid.UUID(int=random.getrandbits(128), version=4),
        site=f"https://example.com/{index}",
        data=random.randbytes(20),
        photo=photo,
        note=archived([f"note {index}", "text"]),
        place={"street": f"street {index}", "latitude": index * 1.5},
        **own,
    )


class Base:
    """Good files in a folder of their own, each written once."""

    def __init__(self, folder: Path, seed: int):
        self.folder, self.seed = folder, seed
        self.model = folder / "base.xcdatamodel"
        self.model.mkdir(parents=True)
        self.contents = source_text(MODEL).encode()
        (self.model / "contents").write_bytes(self.contents)
        self.archive = ModelArchiver(MODEL, False).archive()
        self.compiled = folder / "base.mom"
        self.compiled.write_bytes(self.archive)
        self.store = self._write(False)
        self.rollback_store = self._write(True)
        self.fixtures = {name: self._fixture(name) for name in MUTABLE_FIXTURES}

    def _write(self, rollback: bool) -> Path:
        random = Random(f"{self.seed} base")
        fixture = Fixture("base", _world(random), 1344, random, rollback=rollback)
        place = self.folder / ("rollback" if rollback else "log")
        place.mkdir()
        write_store(fixture, place / "base.sqlite")
        return place / "base.sqlite"

    def _fixture(self, name: str) -> Path:
        fixture = FIXTURES[name](Random(f"{self.seed} {name}"), FIXTURE_ROWS)
        place = self.folder / name
        place.mkdir()
        (write_store_in_wal if fixture.wal else write_store)(fixture, place / f"{name}.sqlite")
        (place / "model.xcdatamodel").mkdir()
        (place / "model.xcdatamodel" / "contents").write_text(source_text(fixture.model))
        self.entities = {**getattr(self, "entities", {}), name: next(iter(fixture.model.entities))}
        return place / f"{name}.sqlite"

    def copy(self, folder: Path, store: Path | None = None, name: str = "store.sqlite") -> Path:
        """Copies a store with its -wal and its external files, under another name."""
        store = store or self.store
        for suffix in ("", "-wal"):
            if Path(f"{store}{suffix}").exists():
                shutil.copyfile(f"{store}{suffix}", folder / (name + suffix))
        support = store.with_name(f".{store.stem}_SUPPORT")
        if support.exists():
            shutil.copytree(support, folder / f".{Path(name).stem}_SUPPORT")
        return folder / name

    def model_for(self, store: Path) -> Path:
        return self.model if store in (self.store, self.rollback_store) else store.parent / "model.xcdatamodel"

    def changed(
        self, folder: Path, change: Callable[[sqlite3.Connection], None] | str, *, rollback: bool = False, **target
    ) -> Target:
        """A copy that plain SQLite changed, by a function or by a script; the schema may be written too."""
        path = self.copy(folder, self.rollback_store if rollback else self.store)
        change_store(path, change)
        return Target(path, **{"model": self.model, **target})


def change_store(path: Path, change: Callable[[sqlite3.Connection], None] | str) -> None:
    """Changes a store by plain SQLite, in one transaction, with every function that hostile schemas may name."""
    db = sqlite3.connect(path, isolation_level=None)
    try:
        db.execute("PRAGMA synchronous = OFF")
        db.execute("PRAGMA writable_schema = ON")
        db.create_function("NSCoreDataDATriggerUpdatedAffectedObjectValue", -1, lambda *_: None)
        db.create_function("NSCoreDataDATriggerInsertUpdatedAffectedObjectValue", -1, lambda *_: None)
        if callable(change):
            db.execute("BEGIN")
            change(db)
            db.execute("COMMIT")
        else:
            db.executescript(change)
    finally:
        db.close()


def write_schema(db: sqlite3.Connection, name: str, sql: str | None) -> None:
    """Replaces the text of a schema object, which SQLite does not look at before the next opening."""
    db.execute("UPDATE sqlite_schema SET sql = ? WHERE name = ?", (sql, name))
