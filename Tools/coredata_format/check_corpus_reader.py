#!/usr/bin/env python3
"""Checks the store reader against the facts that the corpus states for each of its stores."""

import argparse
import json
import sqlite3
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from coredata_format import StoreError
from coredata_format.dump import StoreReader, canonical_json
from coredata_format.model import load_model
from coredata_format.store import Store


def differences(what: str, found: dict, expected: dict) -> Iterator[str]:
    """One line for each key whose value is not the expected one."""
    for key in sorted(found.keys() | expected.keys()):
        if found.get(key) != expected.get(key):
            yield f"{what} {key}: found {found.get(key)}, expected {expected.get(key)}"


def model_files(folder: Path, description: dict) -> list[Path]:
    """The model files that describe the store: a matching source, the decoded model cache, a matching compiled one.

    A decoded model cache does not tell renaming identifiers, so it is left out where the store has a former name.
    """
    renamed = any("storedName" in entity for entity in description["facts"]["entities"])
    compiled = {name for file in description["modelFiles"] for name in file.get("versionsMatchingStore", [])}
    return [folder / file["file"] for file in description["modelFiles"]
            if file.get("hashesMatchStore") or file["kind"].startswith("decoded") and not renamed
            or file["kind"] == "compiled" and Path(file["file"]).stem in compiled]


def check_system_tables(store: Store, description: dict) -> Iterator[str]:
    """Compares what needs no model."""
    facts, metadata = description["facts"], store.metadata()
    hashes = {name: value.hex() for name, value in metadata["NSStoreModelVersionHashes"].items()}
    yield from differences("store", {
        "UUID": store.uuid(), "journal mode": store.journal_mode(),
        "framework": metadata["NSPersistenceFrameworkVersion"],
    }, {"UUID": facts["storeUUID"], "journal mode": facts["journalMode"], "framework": description["frameworkVersion"]})
    yield from differences("version hash", hashes, facts["versionHashes"])
    yield from differences("table", {name: store.row_count(name) for name in store.tables()}, facts["tables"])


def check_objects(reader: StoreReader, dump: list[dict], entities: list[dict]) -> Iterator[str]:
    """Compares the numbers of objects, their order and the numbers and tables of the entities."""
    rows = {entity["name"]: entity["rows"] for entity in entities}
    yield from differences("rows of", reader.entity_counts(), rows)
    yield from differences("dumped", Counter(item["entity"] for item in dump),
                           {name: count for name, count in rows.items() if count > 0})
    places = [(item["entity"].encode(), item["key"]) for item in dump]
    if places != sorted(set(places)):
        yield "the dump is not sorted"
    yield from differences("entity", {name: (number, reader.layout.table(name))
                                      for name, number in reader.layout.numbers.items()},
                           {entity["name"]: (entity["entityID"], entity["table"]) for entity in entities})


def check_store(folder: Path, description: dict) -> tuple[list[str], str]:
    """The mismatches of one store, and a summary of what it holds."""
    with Store(folder / description["mainFile"]) as store:
        problems, notes, dumps = list(check_system_tables(store, description)), set(), {}
        models = {file.name: load_model(file) for file in model_files(folder, description)}
        if description["facts"]["modelCache"] is not None:
            models["the embedded model"] = store.embedded_model()
        for name, model in models.items():
            reader = StoreReader(store, model, notes.add)
            dump = list(reader.objects())
            dumps.setdefault("\n".join(map(canonical_json, dump)), name)
            problems += [f"with {name}, {problem}"
                         for problem in check_objects(reader, dump, description["facts"]["entities"])]
            if reader.invalid_values:
                problems.append(f"with {name}, {reader.invalid_values} invalid value(s)")
        if len(dumps) > 1:
            problems.append(f"different dumps with {' and '.join(dumps.values())}")
    return problems, "; ".join([f"{len(dump)} objects, {len(models)} model form(s)", *sorted(notes)])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("stores", type=Path, help="the folder with manifest.json and one folder for each store")
    stores = parser.parse_args().stores
    failures = 0
    for description in json.loads((stores / "manifest.json").read_text())["stores"]:
        try:
            problems, summary = check_store(stores / description["id"], description)
        except (StoreError, sqlite3.Error, OSError) as error:
            problems, summary = [str(error)], "not readable"
        failures += bool(problems)
        print(f"{'FAIL' if problems else 'ok  '} {description['id']}: {summary}", *problems, sep="\n     ")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
