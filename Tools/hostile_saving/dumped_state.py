"""What is in a store that only the library can read, as a dump by the program, and how it may differ after a save.

To-many links are left out. An LMDB store has them twice, once for each side; an entry that was forged together with its
checksum contradicts the other one, and either may be what is read.
"""

from __future__ import annotations

from pathlib import Path


def read(path: Path, driver) -> dict:
    """The report of a dump; it says what could not be read."""
    return driver.step("dump", path)


def judge(before: dict, after: dict, report: dict) -> list[str]:
    errors = [error for one in (before, after, report) for error in [*one.get("errors", []), one.get("error")] if error]
    wrong = [f"an untyped error: {error}" for error in errors if not error.get("isTyped")]
    old, new = _things(before), _things(after)
    if report["outcome"] != "saved":
        return wrong + ([] if old == new else [f"it ended as {report['outcome']}, and changed {_first(old, new)}"])
    if before["outcome"] != "read" or after["outcome"] != "read":
        return [*wrong, f"it saved into a file that cannot be read: {after.get('error', before.get('error'))}"]
    inserted = {(item["entity"], item["key"]): item for item in report["inserted"]}
    updated = {(item["entity"], item["key"]): item for item in report["updated"]}
    deleted = {tuple(item) for item in report["deleted"]}
    wrong += [f"lost: {key}" for key in old.keys() - deleted - new.keys()]
    if not after.get("errors"):
        wrong += [f"lost: {key}, which was saved" for key in (inserted.keys() | updated.keys()) - new.keys()]
    # What could not be fetched before may be found by others' keys afterwards; else nothing may appear.
    if not before.get("errors"):
        wrong += [f"{key} appeared" for key in new.keys() - old.keys() - inserted.keys()]
    for key, thing in new.items():
        item = inserted.get(key) or updated.get(key) or {}
        for part in ("changed", "toOnes"):
            for name, value in thing[part].items():
                if name in item.get(part, {}):
                    wanted, what = item[part][name], "is not as it was saved"
                elif key in old:
                    wanted, what = old[key][part].get(name), "was not touched"
                else:
                    continue
                if part == "toOnes" and wanted and tuple(wanted) in deleted:
                    wanted = None
                if value != wanted:
                    wrong.append(f"lost: {name} of {key} {what}: {wanted} is {value}"[:300])
    return wrong[:5]


def _things(report: dict) -> dict[tuple[str, int], dict]:
    things = {(item["entity"], item["key"]): item for item in report.get("objects", [])}
    for thing in things.values():
        # The order of a set is another one each time.
        for keys in thing["toManys"].values():
            keys.sort()
    return things


def _first(old: dict, new: dict) -> object:
    changed = [key for key in old.keys() | new.keys() if old.get(key) != new.get(key)]
    return (changed[0], old.get(changed[0]), new.get(changed[0])) if changed else None
