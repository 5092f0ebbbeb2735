"""Runs the cases: what is found must be what is expected, no more and no less."""

import json
import shutil
import sqlite3
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

from ..check import check
from ..compare import Comparison
from ..dump import StoreReader
from ..findings import Findings
from ..model import Model
from ..store import Store
from ..touched import load_touched
from .cases_compare import WRITES, Write
from .cases_dump import DUMPS, Dump
from .cases_single import SINGLE, Case
from .fixture import external_folder, make_store, model

# Most cases leave the history out.
NOT_COMPARED = {"history-change"}


def run_self_test() -> list[str]:
    """One line for each case that went otherwise than expected; the last line counts."""
    failures, count = [], 0
    with tempfile.TemporaryDirectory() as folder:
        make_store(Path(folder) / "store.sqlite")
        for failure in _results(Path(folder)):
            count += 1
            failures += [failure] if failure else []
    return failures + [f"self-test: {count - len(failures)} of {count} cases went as expected"]


def _results(folder: Path) -> Iterator[str | None]:
    description = model()
    for number, case in enumerate(SINGLE):
        yield _single(folder / "store.sqlite", folder / f"single{number}", description, case)
    for number, write in enumerate(WRITES):
        yield _write(folder / "store.sqlite", folder / f"write{number}", description, write)
    for number, dump in enumerate(DUMPS):
        yield _dump(folder / "store.sqlite", folder / f"dump{number}", description, dump)


def _single(original: Path, folder: Path, description: Model, case: Case) -> str | None:
    with Store(_changed(original, folder, case.change)) as store:
        findings, _ = check(store, description)
    return _mismatch(folder.name, findings, case.checks, case.words)


def _write(original: Path, folder: Path, description: Model, write: Write) -> str | None:
    original = _changed(original, folder / "before", write.before)
    path = _changed(original, folder / "after", write.change)
    (folder / "touched.jsonl").write_text("".join(map(_touched_line, filter(None, write.touched.split(", ")))))
    findings = _compared(original, path, folder / "touched.jsonl", description, write.metadata_keys)
    notes = {name for name, _ in findings.notes} - NOT_COMPARED
    if notes != write.notes:
        return f"{folder.name}: noted {sorted(notes)}, expected {sorted(write.notes)}\n{findings.notes}"
    return _mismatch(folder.name, findings, write.checks, write.words)


def _compared(original: Path, path: Path, touched: Path, description: Model, keys: set[str]) -> Findings:
    with Store(original) as store_before, Store(path) as store:
        before, contents_before = check(store_before, description)
        findings, contents = check(store, description)
        findings.forgive(before)
        Comparison(contents_before, contents, load_touched(touched, contents_before), keys, findings).run()
    findings.notes = [note for note in findings.notes if note not in before.notes]
    return findings


def _dump(original: Path, folder: Path, description: Model, dump: Dump) -> str | None:
    with Store(_changed(original, folder, dump.change)) as store:
        reader = StoreReader(store, description, lambda _: None)
        found = next(item for item in reader.objects() if (item["entity"], item["key"]) == dump.place)
        kind = "attributes" if dump.name in found["attributes"] else "relationships"
        value = json.dumps(found[kind].get(dump.name))
    if value != json.dumps(dump.expected) or reader.invalid_values != dump.invalid:
        return f"{folder.name}: {dump.name} is {value}, expected {dump.expected} ({reader.invalid_values} invalid)"
    return None


def _changed(original: Path, folder: Path, change: list[str] | Callable) -> Path:
    """A copy of a store with its external data, after a change."""
    folder.mkdir(parents=True)
    path = Path(shutil.copy(original, folder))
    shutil.copytree(external_folder(original), external_folder(path))
    connection = sqlite3.connect(path, isolation_level=None)
    if callable(change):
        change(connection, path)
    else:
        for statement in change:
            connection.execute(statement)
    connection.close()
    return path


def _touched_line(text: str) -> str:
    change, entity, key = text.split()
    return json.dumps({"entity": entity, "key": int(key), "change": change}) + "\n"


def _mismatch(name: str, findings: Findings, checks: set[str], words: str) -> str | None:
    found = {check for check, _ in findings.findings}
    if found != checks:
        return f"{name}: found {sorted(found)}, expected {sorted(checks)}: {words}\n{findings.findings}"
    if checks and not any(words in text for _, text in findings.findings):
        return f"{name}: no finding says {words!r}\n{findings.findings}"
    return None
