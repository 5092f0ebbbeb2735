#!/usr/bin/env python3
"""Writes Core Data SQLite stores, their models and their expected content, from the format specification alone.

OUTDIR gets a folder for each fixture: the store, its model source, `expected.jsonl` (the canonical dump of what the
store holds), `facts.json`, and `history.jsonl` where the store has a persistent history. The expected content is made
from the objects in memory, never read back from the store. Equal seeds give equal files, byte for byte, with the same
SQLite and zlib. In `facts.json` the highest key of an entity is the highest ever handed out in its whole table.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import time
from pathlib import Path
from random import Random

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from coredata_fixtures.fixtures import FIXTURES
from coredata_fixtures.hashes import check_vectors
from coredata_fixtures.store import write_description, write_store
from coredata_fixtures.wal import write_store_in_wal


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?", type=Path, metavar="OUTDIR", help="where the fixtures' folders go")
    parser.add_argument("--rows", type=int, default=10000, help="objects in each store, about (default: 10000)")
    parser.add_argument("--seed", type=int, default=1, help="equal seeds make equal fixtures (default: 1)")
    parser.add_argument("--only", nargs="+", choices=sorted(FIXTURES), metavar="NAME", help="only these fixtures")
    parser.add_argument("--check-hashes", type=Path, metavar="PATH", help="check the version hashes against a file of "
                        "known ones instead")
    arguments = parser.parse_args()
    if arguments.folder is None and arguments.check_hashes is None:
        parser.error("name OUTDIR or --check-hashes")
    if arguments.rows < 100:
        parser.error("--rows is at least 100")
    return arguments


def write_fixture(name: str, folder: Path, rows: int, seed: int) -> str:
    """Writes one fixture anew and says what it is."""
    start = time.monotonic()
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    fixture = FIXTURES[name](Random(f"{seed} {name}"), rows)
    (write_store_in_wal if fixture.wal else write_store)(fixture, folder / f"{name}.sqlite")
    write_description(fixture, folder)
    size = sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())
    return (f"{name}: {len(fixture.world.objects)} objects, framework {fixture.framework}, model cache "
            f"{fixture.cache}, {size / 1e6:.1f} MB, {time.monotonic() - start:.1f} s")


def main() -> int:
    arguments = parse_arguments()
    if arguments.check_hashes is not None:
        problems = check_vectors(arguments.check_hashes)
        print(*(f"differs: {problem}" for problem in problems), f"{len(problems)} differences", sep="\n")
        return 1 if problems else 0
    for name in arguments.only or FIXTURES:
        print(write_fixture(name, arguments.folder / name, arguments.rows, arguments.seed), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
