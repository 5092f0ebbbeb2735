#!/usr/bin/env python3
"""Judges whether a store is one that Core Data would call its own; prints one line for each finding."""

import argparse
import sqlite3
import sys
from pathlib import Path

from coredata_format import StoreError
from coredata_format.check import check
from coredata_format.model import load_model
from coredata_format.store import Store


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("store", type=Path, help="the store's main file; it is read from a temporary copy")
    parser.add_argument("--model", type=Path, help="a model source (contents), a compiled model or a decoded model "
                        "cache (JSON); default: the model that the store embeds")
    return parser.parse_args()


def run(arguments: argparse.Namespace) -> bool:
    """Prints notes and findings; whether there are no findings."""
    with Store(arguments.store) as store:
        model = load_model(arguments.model) if arguments.model else store.embedded_model()
        findings, _ = check(store, model)
    for line in findings.lines():
        print(line)
    return not findings.findings


def main() -> int:
    try:
        return 0 if run(parse_arguments()) else 1
    except (StoreError, sqlite3.Error, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
