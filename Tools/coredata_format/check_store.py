#!/usr/bin/env python3
"""Judges whether a store is one that Core Data would call its own; prints one line for each finding."""

import argparse
import sqlite3
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from coredata_format import StoreError
from coredata_format.check import check
from coredata_format.compare import Comparison
from coredata_format.compare_system import SystemComparison
from coredata_format.contents import Contents
from coredata_format.findings import Findings
from coredata_format.model import load_model
from coredata_format.selftest.run import run_self_test
from coredata_format.store import Store
from coredata_format.touched import load_touched


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("store", type=Path, nargs="?", help="the store's main file; it is read from a temporary copy")
    parser.add_argument("--model", type=Path, help="a model source (contents), a compiled model or a decoded model "
                        "cache (JSON); default: the model that the store embeds")
    parser.add_argument("--before", type=Path, metavar="STORE0", help="the store as it was before a write: what is "
                        "found in it, too, is only noted, and its form, its catalogue and its metadata must be kept")
    parser.add_argument("--touched", "--changes", type=Path, metavar="JSONL", help="with --before: the objects that "
                        'were written, one {"entity":"E","key":12,"change":"insert"|"update"|"delete"} a line')
    parser.add_argument("--grace", type=float, metavar="SECONDS", default=0, help="external data that no row names is "
                        "no finding for so long after it was last changed: a store keeps it for readers")
    parser.add_argument("--metadata-keys", metavar="KEY,KEY", default="", help="with --before: the metadata keys "
                        "that may change")
    parser.add_argument("--self-test", action="store_true", help="judge stores made by hand, in which each check fails "
                        "once, and compare with what is to be found")
    arguments = parser.parse_args()
    if (arguments.store is None) != arguments.self_test:
        parser.error("name a store, or --self-test")
    if arguments.touched and not arguments.before:
        parser.error("--touched needs --before")
    return arguments


def compare(before: Contents, after: Contents, arguments: argparse.Namespace, findings: Findings) -> None:
    """What a write may not change in any case; with the list of the touched objects, also every row."""
    keys = set(arguments.metadata_keys.split(","))
    if arguments.touched:
        Comparison(before, after, load_touched(arguments.touched, before), keys, findings).run()
    else:
        SystemComparison(before, after, keys, findings).run()


def run(arguments: argparse.Namespace) -> bool:
    """Prints notes and findings; whether there are no findings."""
    if arguments.self_test:
        lines = run_self_test()
        print(*lines, sep="\n")
        return len(lines) == 1
    with Store(arguments.store) as store:
        model = load_model(arguments.model) if arguments.model else store.embedded_model()
        findings, contents = check(store, model, arguments.grace)
        if arguments.before:
            with Store(arguments.before) as store_before:
                before, contents_before = check(store_before, model)
                findings.forgive(before)
                if contents_before is None:
                    raise StoreError(f"the model's layout is not in {arguments.before}")
                if contents:
                    compare(contents_before, contents, arguments, findings)
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
