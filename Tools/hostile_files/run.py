"""Runs the tool on the files of a case and judges what it did."""

from __future__ import annotations

import hashlib
import json
import os
import shlex
import shutil
import signal
import stat
import subprocess
import sys
import threading
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from .case import Case, Target
from .choice import Choice

# For a debug build, which takes five to ten times as long as a release build.
CPU_SECONDS, WALL_SECONDS, MEMORY, OUTPUT, ADDRESS_SPACE = 20.0, 40.0, 512 << 20, 256 << 20, 3 << 30
HASHED, KEPT_TEXT, KILLED_OF_CASE = 64 << 20, 400, 2
SQLITE_SUFFIXES = ("-wal", "-shm")
FAULTS_OF_THE_PROGRAM = (b"Fatal error", b"Thread 0 crashed", b"Illegal instruction", b"AddressSanitizer")


@dataclass
class Run:
    """What one run of the tool left."""

    command: list[str]
    status: int
    output: bytes
    errors: bytes
    cpu: float
    wall: float
    memory: int
    patience: float


@dataclass
class Verdict:
    """What came of a case: outcomes by kind, what is wrong, and the most that any run took."""

    outcomes: Counter = field(default_factory=Counter)
    failures: list[tuple[str, str, str]] = field(default_factory=list)
    runs: int = 0
    killed: int = 0
    cpu: float = 0
    most: tuple[float, float, int] = (0, 0, 0)


class Spawner:
    """Runs commands through a small process of its own, one for each thread; see spawn.py."""

    def __init__(self):
        self.of_thread = threading.local()

    def run(self, command: list[str], place: Path, folder: Path) -> Run:
        """Runs a command in `place`, within limits beyond which it is killed; `folder` takes its output."""
        patience = wall_limit()
        request = {
            "command": command,
            "place": str(place),
            "environment": {
                "PATH": os.environ.get("PATH", ""),
                "HOME": str(place),
                "TMPDIR": str(place),
                "LANG": "C.UTF-8",
                "SWIFT_BACKTRACE": "enable=no",
            },
            "output": str(folder / "output"),
            "errors": str(folder / "errors"),
            "patience": patience + 1,
            "limits": {
                "RLIMIT_CPU": int(CPU_SECONDS) + 1,
                "RLIMIT_FSIZE": OUTPUT,
                "RLIMIT_DATA": ADDRESS_SPACE,
                "RLIMIT_CORE": 0,
            },
        }
        process = self._process()
        process.stdin.write(json.dumps(request) + "\n")
        process.stdin.flush()
        answer = json.loads(process.stdout.readline())
        output, errors = (folder / "output").read_bytes(), (folder / "errors").read_bytes()
        return Run(command, output=output, errors=errors, patience=patience, **answer)

    def _process(self) -> subprocess.Popen:
        if not hasattr(self.of_thread, "process"):
            program = str(Path(__file__).with_name("spawn.py"))
            self.of_thread.process = subprocess.Popen(
                [sys.executable, "-I", "-S", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
            )
        return self.of_thread.process


def wall_limit() -> float:
    """How long a run may take in all: more where others use the machine too, so that only the tool is judged."""
    return WALL_SECONDS * max(1.0, os.getloadavg()[0] / (os.cpu_count() or 1))


def snapshot(folder: Path) -> dict[bytes, tuple]:
    """Every name below a folder with its type, mode, size, times and content; links are not followed."""
    found: dict[bytes, tuple] = {}
    waiting = [os.fsencode(folder)]
    while waiting:
        path = waiting.pop()
        facts = os.lstat(path)
        content: object = None
        if stat.S_ISREG(facts.st_mode):
            content = _digest(path, facts.st_size)
        elif stat.S_ISLNK(facts.st_mode):
            content = os.readlink(path)
        elif stat.S_ISDIR(facts.st_mode):
            waiting += [os.path.join(path, name) for name in os.listdir(path)]
        size = None if stat.S_ISDIR(facts.st_mode) else facts.st_size
        found[path] = (facts.st_mode, facts.st_uid, size, facts.st_mtime_ns, content)
    return found


def _digest(path: bytes, size: int) -> str:
    with open(path, "rb") as stream:
        return hashlib.blake2b(stream.read(HASHED)).hexdigest() if size else ""


def difference(before: dict[bytes, tuple], after: dict[bytes, tuple]) -> str | None:
    """One sentence about the first difference between two snapshots."""
    aspects = ("mode", "owner", "size", "time of change", "content")
    for path in sorted(before.keys() | after.keys()):
        name = os.path.basename(path).decode(errors="backslashreplace")
        if path not in after or path not in before:
            return f"{name} {'appeared' if path in after else 'is gone'}"
        if before[path] != after[path]:
            which = [aspect for aspect, one, other in zip(aspects, before[path], after[path]) if one != other]
            return f"{name}: another {', '.join(which)}"
    return None


def limits_broken(run: Run) -> list[str]:
    found = []
    if run.status < 0:
        took = f"after {run.cpu:.1f} s of CPU and {run.wall:.1f} s"
        found.append(f"died by signal {-run.status} ({signal.Signals(-run.status).name}) {took}")
    elif run.status not in (0, 1):
        found.append(f"exit status {run.status}")
    if run.cpu > CPU_SECONDS or run.wall > run.patience:
        found.append(f"took {run.cpu:.1f} s of CPU, {run.wall:.1f} s in all")
    if run.memory > MEMORY:
        found.append(f"grew to {run.memory >> 20} MiB")
    if any(text in run.errors for text in FAULTS_OF_THE_PROGRAM):
        found.append("a runtime trap")
    return found


def words_wrong(run: Run, kind: str) -> list[str]:
    """What is wrong with what a run said."""
    found = []
    lines = run.errors.decode(errors="replace").split("\n")
    if len(lines) > 2 or lines[-1]:
        found.append(f"{len(lines) - 1} lines on stderr")
    if any(character < " " or "\x7f" <= character <= "\x9f" for character in lines[0]):
        found.append("control characters on stderr")
    if run.status == 1 and not run.errors and not finding(run, kind):
        found.append("status 1 without a word")
    if run.status == 0 and b'"$invalid"' in run.output and kind == "dump":
        found.append("an invalid value and status 0")
    return found + ([] if kind == "apply" and run.status else output_wrong(run, kind))


def output_wrong(run: Run, kind: str) -> list[str]:
    """What is written must be whole lines of JSON, or text without control characters."""
    try:
        text = run.output.decode()
    except UnicodeDecodeError:
        return ["output that is not UTF-8"]
    if kind == "verify":
        bad = any(character < " " and character != "\n" or "\x7f" <= character <= "\x9f" for character in text)
        return ["control characters in the output"] if bad else []
    if len(text) > 4 << 20:
        text = text[: 4 << 20].rpartition("\n")[0]
    try:
        for line in text.split("\n"):
            if line:
                json.loads(line)
    except (ValueError, RecursionError) as error:
        return [f"output that is not JSON: {error}"[:200]]
    return []


def finding(run: Run, kind: str) -> bool:
    return bool(run.output) if kind == "verify" else b'"$invalid"' in run.output


def outcome(run: Run, kind: str) -> str:
    if run.status == 0:
        return "ok"
    if run.status == 1:
        return "invalid" if not run.errors and finding(run, kind) else "error"
    return "failure"


class Judge:
    """Runs the tool on cases, each in a folder of its own below `folder`; what fails is kept in `kept`."""

    def __init__(self, tool: Path, folder: Path, kept: Path, choice: Choice):
        self.tool, self.folder, self.kept, self.choice = tool, folder, kept, choice
        self.spawner = Spawner()

    def judge(self, case: Case) -> Verdict:
        place = self.folder / case.family / case.name
        shutil.rmtree(place, ignore_errors=True)
        verdict = Verdict()
        try:
            files = place / "files"
            target = self._build(case, files)
            self._reads(case, place, files, target, verdict)
            for number in self.choice.ops(case, len(target.ops)) if verdict.killed < KILLED_OF_CASE else ():
                self._apply(case, place, number, target.ops[number], verdict)
        finally:
            if verdict.failures:
                self._keep(case, verdict)
            _remove(place)
        return verdict

    @staticmethod
    def _build(case: Case, files: Path) -> Target:
        files.mkdir(parents=True)
        return case.build(files)

    def command(self, kind: str, target: Target, with_model: bool) -> list[str]:
        path = str(target.path)
        words = {
            "info": ["store", "info", path, "--json"],
            "dump": ["store", "dump", path, "--json"],
            "verify": ["store", "verify", path, "--apple"],
            "fetch": ["store", "fetch", path, "--entity", target.entity, "--decode"],
            "describe": ["model", "describe", path, "--json"],
        }[kind]
        return [str(self.tool), *words, *(["--model", str(target.model)] if with_model else [])]

    def _reads(self, case: Case, place: Path, files: Path, target: Target, verdict: Verdict) -> None:
        plan = [(kind, False) for kind in target.commands]
        if target.model is not None:
            plan += [(kind, True) for kind in target.with_model]
        before = snapshot(files)
        for kind, with_model in self.choice.commands(case, plan):
            # One that never ends would not end with other commands either, and the others wait.
            if verdict.killed == KILLED_OF_CASE:
                return
            run = self._run(case, self.command(kind, target, with_model), place, verdict)
            wrong = limits_broken(run) + (words_wrong(run, kind) if run.status in (0, 1) else [])
            after = snapshot(files)
            if text := difference(before, after):
                wrong.append(f"reading changed something: {text}")
                before = after
            self._count(case, run, kind, wrong, verdict)

    def _apply(self, case: Case, place: Path, number: int, ops: str, verdict: Verdict) -> None:
        """Applies operations to files made anew: all of it or nothing, and nothing but rows and SQLite's own files."""
        files = place / f"apply{number}"
        target = self._build(case, files)
        script = place / f"ops{number}.jsonl"
        script.write_bytes(ops.encode(errors="surrogateescape"))
        words = ["--model", str(target.model)] if target.model is not None else []
        dump = [str(self.tool), "store", "dump", str(target.path), "--json", *words]
        old, names = self._run(case, dump, place, verdict), set(snapshot(files))
        run = self._run(case, [str(self.tool), "store", "apply", str(target.path), str(script), *words], place, verdict)
        wrong = limits_broken(run) + (words_wrong(run, "apply") if run.status in (0, 1) else [])
        new = self._run(case, dump, place, verdict)
        wrong += [f"the dump afterwards {text}" for text in limits_broken(new)]
        if run.status == 1 and (old.status, old.output) != (new.status, new.output):
            wrong.append("an error, and yet another dump")
        if run.status == 0 and is_only_inserting(ops) and old.status in (0, 1):
            # A reference to nothing may lead to the new object afterwards, whose key nobody could know to be taken.
            sound = {line for line in old.output.splitlines() if b"$invalid" not in line}
            if gone := sound - set(new.output.splitlines()):
                wrong.append(f"an insertion changed other objects: {min(gone)[:200]!r}")
        allowed = {os.fsencode(f"{target.path}{suffix}") for suffix in SQLITE_SUFFIXES}
        if extra := set(snapshot(files)) - names - allowed:
            if run.status == 1:
                wrong.append(f"left {os.path.basename(min(extra))!r}")
        self._count(case, run, "apply", wrong, verdict, ops)

    def _run(self, case: Case, command: list[str], place: Path, verdict: Verdict) -> Run:
        """Runs a command in an empty folder; what it leaves there is a failure of its own."""
        work = place / "work"
        work.mkdir(exist_ok=True)
        run = self.spawner.run(command, work, place)
        if left := os.listdir(work):
            verdict.failures.append((self._kept_command(case, command), f"left {left[0]} in the working folder", ""))
            shutil.rmtree(work)
        verdict.runs += 1
        verdict.cpu += run.cpu
        verdict.killed += run.status == -signal.SIGKILL
        verdict.most = tuple(max(pair) for pair in zip(verdict.most, (run.cpu, run.wall, run.memory)))
        return run

    def _count(
        self, case: Case, run: Run, kind: str, wrong: list[str], verdict: Verdict, ops: str | None = None
    ) -> None:
        verdict.outcomes[outcome(run, kind) if not wrong else "failure"] += 1
        if wrong:
            text = run.errors.decode(errors="backslashreplace").strip().replace("\n", " | ")[:KEPT_TEXT]
            verdict.failures.append((self._kept_command(case, run.command), "; ".join(wrong), text))

    def _kept_command(self, case: Case, command: list[str]) -> str:
        place, kept = str(self.folder / case.family / case.name), str(self.kept / case.family / case.name)
        return shlex.join(word.replace(place, kept).replace(str(self.folder), str(self.kept)) for word in command)

    def _keep(self, case: Case, verdict: Verdict) -> None:
        """Makes the files of a case again where they stay, with the operations and the commands that failed."""
        place = self.kept / case.family / case.name
        _remove(place)
        target = self._build(case, place / "files")
        for number, ops in enumerate(target.ops):
            self._build(case, place / f"apply{number}")
            (place / f"ops{number}.jsonl").write_bytes(ops.encode(errors="surrogateescape"))
        text = "".join(f"{command}\n  {wrong}\n  {errors}\n" for command, wrong, errors in verdict.failures)
        (place / "failures.txt").write_text(text, errors="backslashreplace")


def is_only_inserting(ops: str) -> bool:
    try:
        found = [json.loads(line) for line in ops.split("\n") if line]
        return all(item["op"] == "insert" and set(item["values"]) <= {"name"} for item in found)
    except (ValueError, TypeError, KeyError):
        return False


def _remove(place: Path) -> None:
    if not place.exists():
        return
    for folder, _, _ in os.walk(place):
        os.chmod(folder, 0o700)
    shutil.rmtree(os.fsencode(place))
