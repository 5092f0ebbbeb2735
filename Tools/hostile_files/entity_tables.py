"""Stores whose entity tables, join tables, indexes and foreign objects are not as they should be."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path

from .base import Base, write_schema
from .case import CHANGE, INSERT, Case
from .plists import MOST
from .system_tables import ENDLESS, ODD_VALUES

COLUMNS = (
    "Z_ENT",
    "Z_OPT",
    "ZNAME",
    "ZAGE",
    "ZSCORE",
    "ZRATIO",
    "ZCOUNT",
    "ZBORN",
    "ZPRICE",
    "ZIDENT",
    "ZSITE",
    "ZACTIVE",
    "ZDATA",
    "ZPHOTO",
    "ZNOTE",
    "ZEMPLOYER",
    "ZBOSS",
    "Z_FOK_EMPLOYER",
    "ZLATITUDE",
    "ZDESK",
)
FUNCTIONS = {
    "randomblob": "randomblob(1000000000)",
    "load-extension": "load_extension('none.so')",
    "readfile": "readfile('/etc/passwd')",
    "writefile": "writefile('hostile-written', 'x')",
    "edit": "edit('x', 'touch hostile-written')",
    "tokenizer": "fts3_tokenizer('simple', x'0000000000000000')",
    "unknown": "no_such_function(1)",
    "recursion": "(WITH RECURSIVE r(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM r) SELECT count(*) FROM r)",
    "zeroblob": "zeroblob(2000000000)",
    "printf": "printf('%.*c', 1000000000, 'x')",
    "own": "NSCoreDataDATriggerUpdatedAffectedObjectValue('a', 1, 2, 'b', 3)",
    "raise": "RAISE(FAIL, 'x')",
    "deep": "(" * 900 + "1" + ")" * 900,
    "huge-text": "'" + "x" * 1_000_000 + "'",
}
TRIGGERS = {
    "deletes-rows": "AFTER INSERT ON ZPERSON BEGIN DELETE FROM ZPERSON WHERE Z_PK < NEW.Z_PK; END",
    "deletes-on-update": "AFTER UPDATE ON Z_PRIMARYKEY BEGIN DELETE FROM ZPERSON; END",
    "recursive": "AFTER INSERT ON ZPERSON BEGIN INSERT INTO ZPERSON (Z_ENT) VALUES (NEW.Z_ENT); END",
    "endless": f"AFTER INSERT ON ZPERSON BEGIN {ENDLESS} count(*) FROM r; END",
    "raises": "BEFORE INSERT ON ZPERSON BEGIN SELECT RAISE(ABORT, 'no'); END",
    "ignores": "BEFORE INSERT ON ZPERSON BEGIN SELECT RAISE(IGNORE); END",
    "rolls-back": "AFTER INSERT ON ZPERSON BEGIN SELECT RAISE(ROLLBACK, 'x'); END",
    "fails": "AFTER UPDATE ON ZPERSON BEGIN SELECT RAISE(FAIL, 'x'); END",
    "unknown-function": "AFTER INSERT ON ZPERSON BEGIN SELECT no_such(1); END",
    "loads": "AFTER INSERT ON ZPERSON BEGIN SELECT load_extension('none.so'); END",
    "changes-maximum": "AFTER INSERT ON ZPERSON BEGIN UPDATE Z_PRIMARYKEY SET Z_MAX = 0; END",
    "changes-schema": "AFTER INSERT ON ZPERSON BEGIN UPDATE sqlite_schema SET sql = NULL; END",
    "on-metadata": "BEFORE UPDATE ON Z_METADATA BEGIN DELETE FROM ZPERSON; END",
    "on-delete": "BEFORE DELETE ON ZCOMPANY BEGIN SELECT RAISE(IGNORE); END",
    "like-derived": "AFTER INSERT ON ZPERSON FOR EACH ROW BEGIN UPDATE ZPERSON SET ZNAME = 'stolen'; END",
}


def cases(base: Base) -> Iterator[Case]:
    for name, script in {**_tables(), **_rows(), **_joins()}.items():
        yield _case(base, name, script, ops=(INSERT,))
    for column in COLUMNS:
        for what, value in ODD_VALUES.items():
            if what not in ("huge-blob", "huge-text") or column in ("ZNAME", "ZAGE"):
                yield _case(
                    base,
                    f"{column}-{what}",
                    f"UPDATE ZPERSON SET {column} = {value} WHERE Z_PK % 2" + (" AND Z_PK < 4" if "huge-blob" == what else ""),
                    ops=(CHANGE,) if what in ("null", "text", "most", "huge-real", "bad-utf8") else (),
                )
    for name, body in TRIGGERS.items():
        title = "Z_DA_ZPERSON_Person_name_SOURCE_INSERT" if name == "like-derived" else "own"
        yield _case(base, f"trigger-{name}", f'CREATE TRIGGER "{title}" {body}', ops=(INSERT, CHANGE))
    for name, call in FUNCTIONS.items():
        yield from _calls(base, name, call)
    for name, change in _schemas().items():
        yield _case(base, name, change, ops=(INSERT,))
    for name, change in _large().items():
        yield _case(base, name, change)


def _case(base: Base, name: str, change: Callable | str, **target) -> Case:
    wide = (
        name.startswith(COLUMNS)
        or name.endswith(tuple(FUNCTIONS))
        or name.startswith(("lost-", "key-", "tag-key", "boss-", "order-", "join-"))
    )
    return Case("tables", name, lambda folder: base.changed(folder, change, **target), wide)


def _tables() -> dict[str, str]:
    """Whole tables that are something else, or of another form."""
    copy = "CREATE TABLE T AS SELECT * FROM ZPERSON; DROP TABLE ZPERSON;"
    return {
        "missing": "DROP TABLE ZPERSON",
        "no-rows": "DELETE FROM ZPERSON",
        "endless-view": (
            f"DROP TABLE ZPERSON; CREATE VIEW ZPERSON AS {ENDLESS} i AS Z_PK, 3 AS Z_ENT, 1 AS Z_OPT, 'x' AS ZNAME"
            " FROM r"
        ),
        "view": "ALTER TABLE ZPERSON RENAME TO T; CREATE VIEW ZPERSON AS SELECT * FROM T",
        "view-of-itself": "DROP TABLE ZPERSON; CREATE VIEW ZPERSON AS SELECT * FROM ZPERSON",
        "other-view-endless": f"CREATE VIEW V AS {ENDLESS} i FROM r",
        "fts": "DROP TABLE ZPERSON; CREATE VIRTUAL TABLE ZPERSON USING fts4(Z_PK, Z_ENT, Z_OPT, ZNAME)",
        "rtree": "DROP TABLE ZDESK; CREATE VIRTUAL TABLE ZDESK USING rtree(Z_PK, Z_ENT, Z_OPT)",
        "other-fts": "CREATE VIRTUAL TABLE F USING fts5(a)",
        "other-rtree": (
            "CREATE VIRTUAL TABLE Z_RT_Person_x USING RTREE (Z_PK INTEGER PRIMARY KEY, ZLATITUDE_MIN FLOAT,"
            " ZLATITUDE_MAX FLOAT)"
        ),
        "rtree-damaged": (
            "CREATE VIRTUAL TABLE Z_RT_Person_x USING RTREE (Z_PK INTEGER PRIMARY KEY, A FLOAT, B FLOAT); UPDATE"
            " Z_RT_Person_x_node SET data = x'00'"
        ),
        "without-rowid": (
            "DROP TABLE ZTAG; CREATE TABLE ZTAG (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZNAME VARCHAR)"
            " WITHOUT ROWID; INSERT INTO ZTAG VALUES (1, 5, 1, 'x'), ('text', 5, 1, 'y'), (x'00', 5, 1, 'z'), (1.5, 5,"
            " 1, 'f')"
        ),
        "strict": (
            "DROP TABLE ZTAG; CREATE TABLE ZTAG (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZNAME TEXT)"
            " STRICT; INSERT INTO ZTAG VALUES (1, 5, 1, 'x')"
        ),
        "without-types": copy + "ALTER TABLE T RENAME TO ZPERSON",
        "key-is-no-rowid": (
            "DROP TABLE ZTAG; CREATE TABLE ZTAG (Z_PK, Z_ENT, Z_OPT, ZNAME); INSERT INTO ZTAG VALUES (NULL, 5, 1, 'x'),"
            " (NULL, 5, 1, 'x'), (2, 5, 1, 'a'), (2, 5, 1, 'b'), ('2', 5, 1, 'c'), (x'02', 5, 1, 'd'), (2.5, 5, 1,"
            " 'e'), (9e99, 5, 1, 'f')"
        ),
        "key-autoincrement": (
            "DROP TABLE ZTAG; CREATE TABLE ZTAG (Z_PK INTEGER PRIMARY KEY AUTOINCREMENT, Z_ENT INTEGER, Z_OPT INTEGER,"
            " ZNAME VARCHAR); INSERT INTO ZTAG VALUES (1, 5, 1, 'x'); UPDATE sqlite_sequence SET seq ="
            " 9223372036854775807"
        ),
        "key-descending": (
            "DROP TABLE ZTAG; CREATE TABLE ZTAG (Z_PK INTEGER PRIMARY KEY DESC, Z_ENT INTEGER, Z_OPT INTEGER, ZNAME"
            " VARCHAR); INSERT INTO ZTAG VALUES (1, 5, 1, 'x')"
        ),
        "lower-case": "ALTER TABLE ZTAG RENAME TO x; ALTER TABLE x RENAME TO ztag",
        "lower-columns": "ALTER TABLE ZTAG RENAME COLUMN ZNAME TO x; ALTER TABLE ZTAG RENAME COLUMN x TO zname",
        "odd-table-names": (
            'CREATE TABLE "a""b; --" ("c""d" INTEGER); CREATE TABLE "" ("" TEXT); CREATE TABLE "Z\x1b[31m" (a); CREATE'
            ' TABLE "ZX Y" (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER)'
        ),
        "odd-tables-inferred": (
            'DELETE FROM Z_MODELCACHE; CREATE TABLE "ZO""DD; --" (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT'
            ' INTEGER, "ZA""B" VARCHAR, "Z" INTEGER, "Z_FOK_" INTEGER); '
            """INSERT INTO Z_PRIMARYKEY VALUES (6, 'O"dd; --', 0, 1);"""
            """INSERT INTO "ZO""DD; --" VALUES (1, 6, 1, 'x', 1, 1)"""
        ),
        "named-like-attached": 'CREATE TABLE "main.ZPERSON" (a); CREATE TABLE "temp" (a); CREATE TABLE "sqlite" (a)',
        "temp-named": "ALTER TABLE ZTAG RENAME TO main",
        "stat1-junk": (
            "ANALYZE; UPDATE sqlite_stat1 SET stat = 'junk 99999999999999999999 -1 x'; INSERT INTO sqlite_stat1 VALUES"
            " (NULL, x'00', 1e300), ('ZPERSON', NULL, '0 0 0')"
        ),
        "stat1-table": (
            "ANALYZE; DROP TABLE sqlite_stat1; UPDATE sqlite_schema SET name = 'sqlite_stat1', tbl_name ="
            " 'sqlite_stat1', sql = 'CREATE TABLE sqlite_stat1(a)' WHERE name = 'ZTAG'"
        ),
        "stat4-junk": (
            "CREATE TABLE x(tbl, idx, neq, nlt, ndlt, sample); INSERT INTO x VALUES ('ZPERSON', 'x', '1', '1', '1',"
            " zeroblob(1000000)); UPDATE sqlite_schema SET name = 'sqlite_stat4', tbl_name = 'sqlite_stat4', sql ="
            " 'CREATE TABLE sqlite_stat4(tbl, idx, neq, nlt, ndlt, sample)' WHERE name = 'x'"
        ),
        "two-tables-one-name": "INSERT INTO sqlite_schema SELECT * FROM sqlite_schema WHERE name = 'ZTAG'",
        "unknown-table": "CREATE TABLE ZOTHER (a); INSERT INTO ZOTHER VALUES (1)",
        **{
            f"lost-{column}": (
                f"{'DROP INDEX IF EXISTS Z_Person_byName;' if column in ('ZNAME', 'ZAGE') else ''}{_without(column)}"
            )
            for column in COLUMNS
        },
    }


def _without(column: str) -> str:
    drops = {
        "ZEMPLOYER": "DROP INDEX ZPERSON_ZEMPLOYER_INDEX;",
        "ZBOSS": "DROP INDEX ZPERSON_ZBOSS_INDEX;",
        "Z_ENT": "DROP INDEX ZPERSON_Z_ENT_INDEX;",
        "ZDESK": "DROP INDEX ZPERSON_ZDESK_INDEX;",
    }
    return f"{drops.get(column, '')}ALTER TABLE ZPERSON DROP COLUMN {column}"


def _rows() -> dict[str, str]:
    """Keys, entities and links that cannot be."""
    found = {}
    for key in (0, -1, -MOST - 1, MOST, MOST - 1, 1 << 32, 1 << 62):
        found[f"key-{key}"] = f"UPDATE ZPERSON SET Z_PK = {key} WHERE Z_PK = 5"
        found[f"tag-key-{key}"] = f"UPDATE ZTAG SET Z_PK = {key} WHERE Z_PK = 4"
        found[f"boss-{key}"] = f"UPDATE ZPERSON SET ZBOSS = {key} WHERE Z_PK = 5"
        found[f"order-{key}"] = f"UPDATE ZPERSON SET Z_FOK_EMPLOYER = {key}"
    return {
        **found,
        "entity-of-others": "UPDATE ZPERSON SET Z_ENT = 1",
        "entity-0": "UPDATE ZPERSON SET Z_ENT = 0 WHERE Z_PK = 3",
        "entity-16001": "UPDATE ZPERSON SET Z_ENT = 16001 WHERE Z_PK = 3",
        "entity-of-sub": "UPDATE ZPERSON SET Z_ENT = 4 - Z_ENT % 2",
        "boss-of-itself": "UPDATE ZPERSON SET ZBOSS = Z_PK",
        "boss-entity-wrong": "UPDATE ZPERSON SET Z3_BOSS = 77",
        "dangling": "UPDATE ZPERSON SET ZEMPLOYER = 999, ZBOSS = 999, ZDESK = 999",
        "orders-tied": "UPDATE ZPERSON SET Z_FOK_EMPLOYER = 2048",
        "orders-extreme": (
            f"UPDATE ZPERSON SET Z_FOK_EMPLOYER = CASE Z_PK % 3 WHEN 0 THEN {MOST} WHEN 1 THEN {-MOST - 1} ELSE 0 END"
        ),
        "orders-adjacent": "UPDATE ZPERSON SET Z_FOK_EMPLOYER = Z_PK",
        "one-to-one-shared": "UPDATE ZPERSON SET ZDESK = 1",
        "desk-of-no-employee": "UPDATE ZDESK SET ZUSER = 1",
        "version-huge": f"UPDATE ZPERSON SET Z_OPT = {MOST}",
        "all-null": "UPDATE ZPERSON SET ZNAME = NULL, ZAGE = NULL, ZNOTE = NULL, Z_ENT = NULL, Z_OPT = NULL",
    }


def _joins() -> dict[str, str]:
    """Join tables; the base has one, between persons and tags, named here by its place in the schema."""
    found = {}
    for what, value in {
        "null": "NULL",
        "text": "'x'",
        "most": str(MOST),
        "least": str(-MOST - 1),
        "real": "1.5",
        "blob": "x'00'",
        "tied": "2048",
    }.items():
        found[f"join-order-{what}"] = f"UPDATE JOIN SET FOK = {value}"
        found[f"join-first-{what}"] = f"UPDATE OR REPLACE JOIN SET FIRST = {value} WHERE rowid % 2"
        found[f"join-second-{what}"] = f"UPDATE OR REPLACE JOIN SET SECOND = {value} WHERE rowid % 2"
    return {
        name: _with_join_names(script)
        for name, script in {
            **found,
            "join-missing": "DROP TABLE JOIN",
            "join-lost-order": "ALTER TABLE JOIN DROP COLUMN FOK",
            "join-empty": "DELETE FROM JOIN",
            "join-duplicates": (
                "CREATE TABLE T AS SELECT * FROM JOIN; DROP TABLE JOIN; ALTER TABLE T RENAME TO JOIN; INSERT INTO JOIN"
                " SELECT * FROM JOIN"
            ),
            "join-view": (
                f"ALTER TABLE JOIN RENAME TO T; CREATE VIEW JOIN AS {ENDLESS} i AS FIRST, i AS SECOND, i AS FOK FROM r"
            ),
            "join-one-column": "DROP TABLE JOIN; CREATE TABLE JOIN (FIRST INTEGER)",
            "join-other-columns": "DROP TABLE JOIN; CREATE TABLE JOIN (A, B, C)",
            "join-many": (
                "INSERT INTO JOIN (FIRST, SECOND, FOK) WITH RECURSIVE r(i) AS (SELECT 100 UNION ALL SELECT i + 1 FROM r"
                " LIMIT 20000) SELECT 1, i, i FROM r"
            ),
        }.items()
    }


def _with_join_names(script: str) -> Callable[[sqlite3.Connection], None]:
    def change(db: sqlite3.Connection) -> None:
        (table,) = db.execute("SELECT name FROM sqlite_schema WHERE type = 'table' AND name GLOB 'Z_[0-9]*'").fetchone()
        columns = [row[1] for row in db.execute(f"PRAGMA table_info({table})")]
        text = script
        for word, name in zip(("JOIN", "FIRST", "SECOND", "FOK"), (table, *columns)):
            text = text.replace(word, name)
        for statement in text.split(";"):
            db.execute(statement)

    return change


def _calls(base: Base, name: str, call: str) -> Iterator[Case]:
    """A function called from every place of a schema that can call one."""

    def column(text: str) -> Callable[[sqlite3.Connection], None]:
        def change(db: sqlite3.Connection) -> None:
            (sql,) = db.execute("SELECT sql FROM sqlite_schema WHERE name = 'ZTAG'").fetchone()
            write_schema(db, "ZTAG", sql.rstrip().rstrip(")") + f", {text} )")

        return change

    for kind in ("VIRTUAL", "STORED"):
        yield _case(
            base,
            f"generated-{kind.lower()}-{name}",
            column(f"ZG GENERATED ALWAYS AS ({call}) {kind}"),
            ops=(TAG_INSERT,),
            entity="Tag",
        )
    yield _case(base, f"default-{name}", column(f"ZG DEFAULT ({call})"), ops=(TAG_INSERT,), entity="Tag")
    yield _case(base, f"check-{name}", column(f"ZG CHECK ({call} OR 1)"), ops=(TAG_INSERT,), entity="Tag")
    for what, text in {"expression": f"ON ZTAG ({call})", "partial": f"ON ZTAG (ZNAME) WHERE {call}"}.items():
        yield _case(
            base, f"index-{what}-{name}", lambda db, text=text: _forge_index(db, text), ops=(TAG_INSERT,), entity="Tag"
        )
    yield _case(
        base,
        f"view-calls-{name}",
        lambda db: db.execute(
            "INSERT INTO sqlite_schema VALUES ('view', 'V', 'V', 0, ?)", (f"CREATE VIEW V AS SELECT {call}",)
        ),
        ops=(TAG_INSERT,),
        entity="Tag",
    )


TAG_INSERT = '{"op":"insert","entity":"Tag","as":"t","values":{"name":"t"}}\n'


def _forge_index(db: sqlite3.Connection, text: str) -> None:
    """An index that plain SQLite would not make; it takes the pages of a good one."""
    db.execute("CREATE INDEX own ON ZTAG (ZNAME)")
    write_schema(db, "own", f"CREATE INDEX own {text}")


def _schemas() -> dict[str, Callable[[sqlite3.Connection], None]]:
    """Texts in the schema that SQLite reads at the next opening."""
    person = "CREATE TABLE ZPERSON ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, "
    texts = {
        "unknown-collation": person + "ZNAME VARCHAR COLLATE nothing )",
        "syntax": "CREATE TABLE ZPERSON ( (",
        "other-name": "CREATE TABLE ZELSE (a)",
        "is-select": "SELECT load_extension('x')",
        "empty": "",
        "two-statements": person + "a); DROP TABLE ZTAG",
        "types-odd": (
            'CREATE TABLE ZPERSON ( Z_PK INTEGER PRIMARY KEY, Z_ENT BLOB, Z_OPT TEXT, ZNAME INTEGER, ZAGE "x""y",'
            " ZSCORE VARCHAR(99999999999) )"
        ),
        "huge-type": person + "ZNAME " + "X" * 1_000_000 + " )",
        "comment": person + "/* " + "x" * 500_000 + " */ ZNAME VARCHAR )",
        "columns-few": person + "ZNAME )",
        "columns-many": person + ", ".join(f"ZC{number} INTEGER" for number in range(1990)) + " )",
        "columns-too-many": person + ", ".join(f"ZC{number} INTEGER" for number in range(5000)) + " )",
        "not-null": person + "ZNAME VARCHAR NOT NULL, ZAGE INTEGER UNIQUE )",
        "foreign-key": person + "ZNAME VARCHAR, ZAGE INTEGER REFERENCES ZTAG(Z_PK) ON DELETE CASCADE )",
        "as-select": "CREATE TABLE ZPERSON AS SELECT 1",
    }
    found = {f"schema-{name}": lambda db, text=text: write_schema(db, "ZPERSON", text) for name, text in texts.items()}
    for name, change in {
        "type": "UPDATE sqlite_schema SET type = 'x' WHERE name = 'ZTAG'",
        "type-null": "UPDATE sqlite_schema SET type = NULL, name = NULL WHERE name = 'ZTAG'",
        "index-as-table": "UPDATE sqlite_schema SET type = 'table' WHERE type = 'index'",
        "table-as-index": "UPDATE sqlite_schema SET type = 'index' WHERE name = 'ZTAG'",
        "roots-swapped": (
            "UPDATE sqlite_schema SET rootpage = CASE name WHEN 'ZTAG' THEN (SELECT rootpage FROM sqlite_schema WHERE"
            " name = 'ZDESK') ELSE rootpage END"
        ),
        "root-is-index": (
            "UPDATE sqlite_schema SET rootpage = (SELECT rootpage FROM sqlite_schema WHERE name ="
            " 'ZPERSON_Z_ENT_INDEX') WHERE name = 'ZTAG'"
        ),
        "all-roots-same": "UPDATE sqlite_schema SET rootpage = 4",
        "names-blob": "UPDATE sqlite_schema SET name = x'5a544147', tbl_name = x'5a544147' WHERE name = 'ZTAG'",
        "names-bad-utf8": "UPDATE sqlite_schema SET name = CAST(x'5afffe' AS TEXT) WHERE name = 'ZTAG'",
        "index-of-nothing": "UPDATE sqlite_schema SET tbl_name = 'ZNOTHING' WHERE name = 'ZPERSON_Z_ENT_INDEX'",
        "index-bad-sql": "UPDATE sqlite_schema SET sql = 'CREATE INDEX' WHERE name = 'ZPERSON_Z_ENT_INDEX'",
        "index-unique-false": (
            "UPDATE sqlite_schema SET sql = 'CREATE UNIQUE INDEX ZPERSON_Z_ENT_INDEX ON ZPERSON (Z_ENT)' WHERE name ="
            " 'ZPERSON_Z_ENT_INDEX'"
        ),
        "index-other-column": (
            "UPDATE sqlite_schema SET sql = 'CREATE INDEX ZPERSON_Z_ENT_INDEX ON ZPERSON (ZNAME DESC)' WHERE name ="
            " 'ZPERSON_Z_ENT_INDEX'"
        ),
        "index-empty": (
            "UPDATE sqlite_schema SET rootpage = (SELECT rootpage FROM sqlite_schema WHERE name = 'Z_MODELCACHE') WHERE"
            " name = 'ZPERSON_Z_ENT_INDEX'"
        ),
        "rows-many": (
            "INSERT INTO sqlite_schema WITH RECURSIVE r(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM r LIMIT 5000)"
            " SELECT 'view', 'V' || i, 'V' || i, 0, 'CREATE VIEW V' || i || ' AS SELECT * FROM V' || (i + 1) || ', V'"
            " || (i + 1) FROM r"
        ),
        "view-doubling": (
            "INSERT INTO sqlite_schema WITH RECURSIVE r(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM r LIMIT 40) SELECT"
            " 'view', 'V' || i, 'V' || i, 0, 'CREATE VIEW V' || i || ' AS SELECT * FROM V' || (i + 1) || ' UNION ALL"
            " SELECT * FROM V' || (i + 1) FROM r"
        ),
    }.items():
        found[f"schema-{name}"] = lambda db, change=change: db.execute(change)
    return found


def _large() -> dict[str, Callable[[sqlite3.Connection], None]]:
    def tables(count: int, prefix: str, primary: bool):
        def change(db: sqlite3.Connection) -> None:
            # The schema's rows alone, all with the page of one table.
            (root,) = db.execute("SELECT rootpage FROM sqlite_schema WHERE name = 'ZTAG'").fetchone()
            db.executemany(
                "INSERT INTO sqlite_schema VALUES ('table', ?, ?, ?, ?)",
                (
                    (
                        f"{prefix}{n}",
                        f"{prefix}{n}",
                        root,
                        (
                            f"CREATE TABLE {prefix}{n} (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZA"
                            " VARCHAR)"
                        ),
                    )
                    for n in range(count)
                ),
            )
            if primary:
                db.execute("DELETE FROM Z_MODELCACHE")
                db.executemany(
                    "INSERT INTO Z_PRIMARYKEY VALUES (?, ?, 0, 0)", ((100 + n, f"T{n}") for n in range(count))
                )

        return change

    def index(name: str):
        return lambda db: db.execute(f'CREATE INDEX "{name}" ON ZTAG (ZNAME)')

    return {
        "tables-5000": tables(5_000, "ZT", False),
        "tables-3000-entities": tables(3000, "ZT", True),
        "index-huge-name": index("I" * 1_000_000),
        "index-odd-name": index('x""; --\x1b[31m'),
        "indexes-2000": lambda db: [db.execute(f"CREATE INDEX I{n} ON ZTAG (ZNAME)") for n in range(2000)],
        "columns-2000": lambda db: write_schema(
            db,
            "ZTAG",
            "CREATE TABLE ZTAG ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZNAME VARCHAR, "
            + ", ".join(f"ZX{n} VARCHAR" for n in range(1990))
            + " )",
        ),
        "columns-2000-inferred": lambda db: (
            db.execute("DELETE FROM Z_MODELCACHE"),
            write_schema(
                db,
                "ZTAG",
                "CREATE TABLE ZTAG ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZNAME VARCHAR, "
                + ", ".join(f"ZX{n} VARCHAR" for n in range(1990))
                + " )",
            ),
        ),
        "rows-20000": lambda db: db.execute(
            "INSERT INTO ZTAG WITH RECURSIVE r(i) AS (SELECT 10 UNION ALL SELECT i + 1 FROM r LIMIT 20000) SELECT i, 5,"
            " 1, 'x' FROM r"
        ),
    }
