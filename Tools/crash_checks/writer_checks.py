"""What `crash-writer STORE TRANSACTIONS` must leave, for the scripts that disturb it."""
import json
import os
import sqlite3
import subprocess

ROWS, WINDOW, ACCOUNTS, PHOTO = 3, 1, 10, 120_000


class Wrong(Exception):
    pass


def need(condition, text):
    if not condition:
        raise Wrong(text)


def check(writer, path, store):
    """The number of the last transaction in a store: plain SQLite reads one of SQLite, a process of its own any other."""
    return check_sqlite(path) if store == "SQLite" else check_facts(writer, path)


def check_sqlite(path):
    """The number of the last transaction in the store, -1 for one without accounts or without tables."""
    if not os.path.exists(path):
        return -1
    db = sqlite3.connect(path)
    try:
        need(db.execute("PRAGMA integrity_check").fetchone()[0] == "ok", "integrity_check")
        tables = {name for name, in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
        if not tables:
            return -1
        need({"Z_METADATA", "Z_PRIMARYKEY", "Z_MODELCACHE", "ZACCOUNT", "ZENTRY"} <= tables, "half of the tables")
        numbers = {number for number, in db.execute("SELECT ZTRANSACTION FROM ZACCOUNT")}
        if not numbers:
            return -1
        need(len(numbers) == 1, f"accounts of several transactions: {sorted(numbers)}")
        last = numbers.pop()
        need(db.execute("SELECT count(*), sum(ZBALANCE) FROM ZACCOUNT").fetchone() == (ACCOUNTS, 1000 * ACCOUNTS),
             "the sum of the accounts")
        wanted = {t: ROWS for t in range(max(1, last - WINDOW + 1), last + 1)}
        groups = dict(db.execute("SELECT ZTRANSACTION, count(*) FROM ZENTRY GROUP BY 1"))
        need(groups == wanted, f"entries {groups} instead of {wanted}")
        for number, value in db.execute("SELECT ZTRANSACTION, ZCHECK FROM ZENTRY"):
            need(0 <= value - number * 1000003 < ROWS, "an entry's check")
        pairs, = [name for name in tables if name.startswith("Z_") and name[2].isdigit()]
        need(db.execute(f"SELECT count(*) FROM {pairs}").fetchone()[0] == sum(wanted.values()), "link pairs")
        highest = dict(db.execute("SELECT Z_NAME, Z_MAX FROM Z_PRIMARYKEY"))
        need((highest["Account"], highest["Entry"]) == (ACCOUNTS, last * ROWS), f"highest keys {highest}")
        check_photo(db, path, last)
        return last
    finally:
        db.close()


def check_photo(db, path, last):
    """The first account's photo is in a file of its own, which is there whole."""
    photo, = db.execute("SELECT ZPHOTO FROM ZACCOUNT ORDER BY Z_PK").fetchone()
    if last == 0:
        return need(photo is None, "a photo before the first transaction")
    name = os.path.splitext(os.path.basename(path))[0]
    file = os.path.join(os.path.dirname(path), f".{name}_SUPPORT", "_EXTERNAL_DATA", photo[1:-1].decode())
    need(os.path.exists(file), "the file of the photo is gone")
    with open(file, "rb") as stream:
        need(stream.read() == bytes([last & 255]) * PHOTO, "the file of the photo has other bytes")


def check_facts(writer, path):
    """The same for a store of any type, by what a reader in a process of its own says."""
    done = subprocess.run([writer, path, "check"], capture_output=True, text=True, timeout=60)
    need(done.returncode == 0, f"the store cannot be read: {done.stderr}")
    facts = json.loads(done.stdout)
    if not facts.get("accounts"):
        return -1
    need(len(facts["transactions"]) == 1, f"accounts of several transactions: {facts['transactions']}")
    last = facts["transactions"][0]
    need((facts["accounts"], facts["sum"]) == (ACCOUNTS, 1000 * ACCOUNTS), "the sum of the accounts")
    wanted = {str(t): ROWS for t in range(max(1, last - WINDOW + 1), last + 1)}
    need(facts["entries"] == wanted, f"entries {facts['entries']} instead of {wanted}")
    need(all(0 <= value < ROWS for value in facts["checks"]), "an entry's check")
    count = sum(wanted.values())
    need((facts["pairs"], facts["owned"]) == (count, count), "links")
    need(facts["photos"] == ([[last & 255, PHOTO]] if last > 0 else []), f"photos {facts['photos']}")
    return last


def allowed(lines, certain):
    """The transactions that the store may end with, by what the writer said; `certain` is the one it began with."""
    possible = None
    for line in lines:
        word, *rest = line.split()
        if word == "read":
            seen = int(rest[0])
            need(seen >= certain, f"read {seen} after {certain} was certain")
            need(seen in (certain, possible), f"read {seen}, of which was said that it is not saved")
            certain, possible = seen, None
        elif word == "begin":
            possible = int(rest[0])
        elif word == "saved":
            certain, possible = int(rest[0]), None
        elif word == "failed" and rest[1] == "notSaved":
            possible = None
        elif word == "other:":
            raise Wrong(line)
    return {certain, certain if possible is None else possible}
