"""Writes a store whose rows are nearly all in its -wal, as a crash or a copy of an open store leaves it."""

from __future__ import annotations

import shutil
import struct
import tempfile
from pathlib import Path

from .history import insert_row
from .store import Fixture, StoreWriter

MAIN_FILE_STEP, ROWS_OF_TRANSACTION, LOST_ROWS, GONE_KEYS = 50, 997, 3000, 5_000_000
WAL_HEADER, FRAME_HEADER = 32, 24
SALTS = struct.pack(">II", 0x0C0DEDA7, 0x5EEDF11E)


def write_store_in_wal(fixture: Fixture, path: Path) -> None:
    """The main file keeps old values of few rows, and rows deleted since; the -wal also ends in an open transaction."""
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder) / path.name
        with StoreWriter(fixture, work) as writer:
            rows = list(writer.all_rows())
            writer.transaction(lambda: _write_main_file(writer, rows))
        with StoreWriter(fixture, work) as writer:
            writer.connection.execute("PRAGMA wal_autocheckpoint = 0")
            _write_wal(writer, rows)
            _leave_a_transaction_open(writer, rows)
            for suffix in ("", "-wal"):
                shutil.copyfile(f"{work}{suffix}", f"{path}{suffix}")
            writer.connection.execute("ROLLBACK")
    wal = path.with_name(path.name + "-wal")
    wal.write_bytes(with_fixed_salts(wal.read_bytes()))


def _write_main_file(writer: StoreWriter, rows: list[tuple[str, dict]]) -> None:
    """Old values of some rows, and of rows that are gone since."""
    writer.write_system()
    for table, row in _objects(rows)[::MAIN_FILE_STEP]:
        old = {name: f"old {value}" if isinstance(value, str) else value for name, value in row.items()}
        insert_row(writer.connection, table, {**old, "Z_OPT": 0})
        insert_row(writer.connection, table, {"Z_PK": row["Z_PK"] + GONE_KEYS, "Z_ENT": row["Z_ENT"], "Z_OPT": 1})


def _write_wal(writer: StoreWriter, rows: list[tuple[str, dict]]) -> None:
    """Every row, in transactions whose later ones write over pages of the earlier ones."""
    def replace(part: list[tuple[str, dict]]) -> None:
        for table, row in part:
            if "Z_PK" in row:
                keys = row["Z_PK"], row["Z_PK"] + GONE_KEYS
                writer.connection.execute(f"DELETE FROM {table} WHERE Z_PK IN (?, ?)", keys)
            insert_row(writer.connection, table, row)

    for start in range(0, len(rows), ROWS_OF_TRANSACTION):
        writer.transaction(lambda: replace(rows[start:start + ROWS_OF_TRANSACTION]))


def _leave_a_transaction_open(writer: StoreWriter, rows: list[tuple[str, dict]]) -> None:
    """Changes and rows that no commit follows; a small cache makes their pages reach the -wal all the same."""
    writer.connection.execute("PRAGMA cache_size = 10")
    writer.connection.execute("BEGIN")
    for table, row in _objects(rows)[:LOST_ROWS]:
        writer.connection.execute(f"UPDATE {table} SET Z_OPT = 99 WHERE Z_PK = ?", (row["Z_PK"],))
        insert_row(writer.connection, table, {**row, "Z_PK": row["Z_PK"] + 9_000_000})


def _objects(rows: list[tuple[str, dict]]) -> list[tuple[str, dict]]:
    """The rows that are no pairs of a many-to-many relationship."""
    return [(table, row) for table, row in rows if "Z_PK" in row]


def with_fixed_salts(wal: bytes) -> bytes:
    """The same -wal with salts that are not random, so that equal fixtures are equal files; checksums follow."""
    magic, _, page_size = struct.unpack(">III", wal[:12])
    order = ">" if magic & 1 else "<"
    header = wal[:16] + SALTS
    sums = _checksum(order, header, (0, 0))
    parts = [header + struct.pack(">II", *sums)]
    for start in range(WAL_HEADER, len(wal), FRAME_HEADER + page_size):
        begin, page = wal[start:start + 8], wal[start + FRAME_HEADER:start + FRAME_HEADER + page_size]
        sums = _checksum(order, begin + page, sums)
        parts += [begin + SALTS, struct.pack(">II", *sums), page]
    return b"".join(parts)


def _checksum(order: str, data: bytes, sums: tuple[int, int]) -> tuple[int, int]:
    """SQLite's cumulative checksum over pairs of 32-bit words."""
    first, second = sums
    words = struct.unpack(f"{order}{len(data) // 4}I", data)
    for even, odd in zip(words[::2], words[1::2]):
        first = (first + even + second) & 0xFFFFFFFF
        second = (second + odd + first) & 0xFFFFFFFF
    return first, second
