#!/usr/bin/env python3
"""Prints what a Core Data store in SQLite or XML contains: a canonical dump, its schema facts or its entity counts."""

import argparse
import json
import sqlite3
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from coredata_format import StoreError
from coredata_format.dump import StoreReader, canonical_json
from coredata_format.model import load_model
from coredata_format.store import Store, schema_facts
from coredata_format.xmlstore import DocumentReader, is_document


def note(text: str) -> None:
    print(f"note: {text}", file=sys.stderr)


def print_line(text: str) -> None:
    sys.stdout.buffer.write(text.encode() + b"\n")


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("store", type=Path, help="the store's main file; it is read from a temporary copy")
    parser.add_argument("--model", type=Path, help="a model source (contents), a compiled model or a decoded model "
                        "cache (JSON); default: the model that the store embeds")
    mode = parser.add_mutually_exclusive_group()
    mode.add_argument("--schema", action="store_true", help="print the schema facts instead")
    mode.add_argument("--summary", action="store_true", help="print the number of objects of each entity instead")
    return parser.parse_args()


def run(arguments: argparse.Namespace) -> bool:
    """Prints what is asked for; whether all of it is valid."""
    if is_document(arguments.store):
        return run_document(arguments)
    with Store(arguments.store) as store:
        if arguments.schema:
            print_line(json.dumps(schema_facts(store), ensure_ascii=False, indent=2, sort_keys=True))
            return True
        model = load_model(arguments.model) if arguments.model else store.embedded_model()
        reader = StoreReader(store, model, note)
        if arguments.summary:
            print_line(canonical_json(reader.entity_counts()))
            return True
        for item in reader.objects():
            print_line(canonical_json(item))
        return reader.invalid_values == 0


def run_document(arguments: argparse.Namespace) -> bool:
    """The same for a document, which carries no model and has no schema."""
    if arguments.schema or arguments.summary or arguments.model is None:
        raise StoreError("a document is dumped, with --model")
    for item in DocumentReader(arguments.store, load_model(arguments.model)).objects():
        print_line(canonical_json(item))
    return True


def main() -> int:
    try:
        return 0 if run(parse_arguments()) else 1
    except (StoreError, sqlite3.Error, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
