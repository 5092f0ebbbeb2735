"""The judge's checks of what no row of an entity tells: the file, Z_PRIMARYKEY and the metadata."""

import base64
import hashlib
import plistlib
import re

from . import StoreError
from .contents import HISTORY_ENTITIES, shown
from .findings import Findings
from .model import Model
from .store import Store

UUID_TEXT = re.compile(r"[0-9A-F]{8}(-[0-9A-F]{4}){3}-[0-9A-F]{12}")
METADATA_KEYS = {
    "NSPersistenceFrameworkVersion": int, "NSStoreModelVersionHashes": dict, "NSStoreModelVersionHashesVersion": int,
    "NSStoreModelVersionIdentifiers": list, "NSStoreType": str, "_NSAutoVacuumLevel": str,
    "NSStoreModelVersionHashesDigest": str, "NSStoreModelVersionChecksumKey": str,
    "NSPersistenceMaximumFrameworkVersion": int, "_NSStoreAncillaryModelVersionHashesMetadataKey": dict,
    "migrationManagerClass": str}
# The first framework version that writes the key; 0: each does.
REQUIRED_FROM = {
    "NSPersistenceFrameworkVersion": 0, "NSStoreModelVersionHashes": 0, "NSStoreModelVersionHashesVersion": 0,
    "NSStoreModelVersionIdentifiers": 0, "NSStoreType": 0, "_NSAutoVacuumLevel": 249,
    "NSStoreModelVersionHashesDigest": 977, "NSStoreModelVersionChecksumKey": 1327,
    "NSPersistenceMaximumFrameworkVersion": 1513}


class SystemChecks:
    """Checks that need no layout, so that they still speak when a table is missing."""

    def __init__(self, store: Store, model: Model, findings: Findings):
        self.store, self.model, self.findings = store, model, findings

    def run(self) -> None:
        for name, check in {"the integrity check": self._integrity, "the file": self._file,
                            "Z_PRIMARYKEY": self._primary_keys, "the metadata": self._metadata}.items():
            self.findings.run(name, check)

    def _integrity(self) -> None:
        for text, in self.store.rows("PRAGMA integrity_check"):
            if text != "ok":
                self.findings.find("integrity", text)

    def _file(self) -> None:
        try:
            self.store.journal_mode()
        except StoreError as error:
            self.findings.find("file", str(error))
        for name, expected in {"encoding": "UTF-8", "user_version": 0, "application_id": 0}.items():
            value = self.pragma(name)
            if value != expected:
                self.findings.find("file", f"{name} is {value}, not {expected}")
        for name in {"Z_PRIMARYKEY", "Z_METADATA"} - self.store.tables().keys():
            self.findings.find("file", f"there is no table {name}")

    def pragma(self, name: str):
        return self.store.rows(f"PRAGMA {name}").fetchone()[0]

    # Z_PRIMARYKEY

    def _primary_keys(self) -> None:
        rows = {number: values for number, *values in self.store.rows(
            "SELECT Z_ENT, Z_NAME, Z_SUPER, Z_MAX FROM Z_PRIMARYKEY")}
        expected = expected_numbers(self.model)
        for name, number in expected.items():
            if number in rows:
                self._primary_key(name, number, expected, *rows.pop(number))
            else:
                self.findings.find("primary-key", f"entity {name} has no row {number}")
        for number, (name, parent, highest) in rows.items():
            if (name, parent) != (HISTORY_ENTITIES.get(number, [None])[0], 0):
                self.findings.find("primary-key", f"row {number} {name}, Z_SUPER {shown(parent)}, is of no entity")
            else:
                self._highest_key(name, HISTORY_ENTITIES[number][1], highest)
        for number, (name, table) in HISTORY_ENTITIES.items():
            if number not in rows and table in self.store.tables() and self.store.row_count(table):
                self.findings.find("primary-key", f"{table} has rows, and Z_PRIMARYKEY has no row {number} {name}")

    def _primary_key(self, name: str, number: int, expected: dict[str, int], stored: str, parent, highest) -> None:
        entity = self.model.entities[name]
        if stored != name and stored == entity.renaming_identifier:
            self.findings.note("primary-key", f"entity {name} has its former name {stored}")
        elif stored != name:
            self.findings.find("primary-key", f"row {number} is {stored}, not {name}")
        number_of_parent = expected[entity.parent] if entity.parent else 0
        if parent != number_of_parent or not isinstance(parent, int):
            self.findings.find("primary-key", f"Z_SUPER of {name} is {shown(parent)}, not {number_of_parent}")
        if entity.parent is None:
            tables = ("Z" + entity.name.upper(), "Z" + entity.renaming_identifier.upper())
            table = next((table for table in tables if table in self.store.tables()), None)
            if table:
                self._highest_key(name, table, highest)
        elif highest != 0 or not isinstance(highest, int):
            self.findings.find("primary-key", f"Z_MAX of {name} is {shown(highest)}: only roots have one")

    def _highest_key(self, name: str, table: str, highest) -> None:
        used, = self.store.rows(f'SELECT IFNULL(MAX(Z_PK), 0) FROM "{table}"').fetchone()
        if not isinstance(highest, int) or highest < used:
            self.findings.find("key-max", f"Z_MAX of {name} is {shown(highest)}, the highest Z_PK is {used}")

    # Metadata

    def _metadata(self) -> None:
        rows = self.store.rows("SELECT Z_VERSION, Z_UUID, Z_PLIST FROM Z_METADATA").fetchall()
        if len(rows) != 1:
            self.findings.find("metadata", f"Z_METADATA has {len(rows)} rows")
            return
        (version, identifier, data), = rows
        if version != 1:
            self.findings.find("metadata", f"Z_VERSION is {version}")
        if not isinstance(identifier, str) or not UUID_TEXT.fullmatch(identifier):
            self.findings.find("metadata", f"Z_UUID is {shown(identifier)}")
        if not isinstance(data, bytes) or not data.startswith(b"bplist00"):
            self.findings.find("metadata", "Z_PLIST is no binary property list")
            return
        metadata = plistlib.loads(data, fmt=plistlib.FMT_BINARY)
        if not isinstance(metadata, dict):
            self.findings.find("metadata", "Z_PLIST is no dictionary")
        elif self._metadata_types(metadata):
            self._metadata_values(metadata)

    def _metadata_types(self, metadata: dict) -> bool:
        """Whether the keys that a framework of its version writes are there and have their types."""
        framework = metadata.get("NSPersistenceFrameworkVersion")
        problems = [f"the key {key} is missing" for key, first in REQUIRED_FROM.items()
                    if key not in metadata and (first == 0 or isinstance(framework, int) and framework >= first)]
        problems += [f"{key} is a {type(metadata[key]).__name__}" for key, kind in METADATA_KEYS.items()
                     if key in metadata and type(metadata[key]) is not kind]
        for problem in problems:
            self.findings.find("metadata", problem)
        return not problems

    def _metadata_values(self, metadata: dict) -> None:
        expected = {"NSStoreModelVersionHashesVersion": 3, "NSStoreType": "SQLite", "_NSAutoVacuumLevel": "2",
                    "NSPersistenceMaximumFrameworkVersion": metadata["NSPersistenceFrameworkVersion"]}
        hashes = metadata["NSStoreModelVersionHashes"]
        if not all(isinstance(item, str) for item in metadata["NSStoreModelVersionIdentifiers"]):
            self.findings.find("metadata", "NSStoreModelVersionIdentifiers has members that are no strings")
        for name in sorted(hashes.keys() ^ self.model.entities.keys()):
            which = "no entity of the model" if name in hashes else "without a version hash"
            self.findings.find("metadata", f"entity {name} is {which}")
        if all(isinstance(value, bytes) and len(value) == 32 for value in hashes.values()):
            ordered = sorted(hashes, key=str.encode)
            named = b"".join(name.encode() + hashes[name] for name in ordered)
            plain = b"".join(hashes[name] for name in ordered)
            expected["NSStoreModelVersionHashesDigest"] = base64.b64encode(hashlib.sha512(named).digest()).decode()
            expected["NSStoreModelVersionChecksumKey"] = base64.b64encode(hashlib.sha256(plain).digest()).decode()
        else:
            self.findings.find("metadata", "a version hash does not have 32 bytes")
        for key, value in expected.items():
            if key in metadata and metadata[key] != value:
                self.findings.find("metadata", f"{key} is {metadata[key]!r}, not {value!r}")
        if metadata.get("_NSAutoVacuumLevel") == "2" and self.pragma("auto_vacuum") != 2:
            self.findings.find("metadata", f"auto_vacuum is {self.pragma('auto_vacuum')}, _NSAutoVacuumLevel is 2")


def expected_numbers(model: Model) -> dict[str, int]:
    """Z_ENT of every entity: from 1, each before its sub-entities, by name without regard to case."""
    children: dict[str | None, list[str]] = {}
    for name in sorted(model.entities, key=lambda name: (name.lower(), name)):
        children.setdefault(model.entities[name].parent, []).append(name)
    order: list[str] = []

    def walk(parent: str | None) -> None:
        for name in children.get(parent, []):
            order.append(name)
            walk(name)

    walk(None)
    return {name: number for number, name in enumerate(order, 1)}
