"""Builds the programs, runs the parts, and makes the lines of the table."""
import dataclasses
import os
import pathlib
import signal
import subprocess
import threading
import time
from concurrent.futures import ThreadPoolExecutor

from .ledger import Ledger
from .part import Part

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
FOLDER = ROOT / ".build" / "nightly"


@dataclasses.dataclass
class Programs:
    """The folders of the built programs and of the logs."""
    debug: pathlib.Path
    release: pathlib.Path
    benchmarks: pathlib.Path
    logs: pathlib.Path = FOLDER


@dataclasses.dataclass
class Line:
    """A line of the table."""
    row: str
    part: str
    unit: str
    keys: int
    stated: int | None
    tonight: int
    so_far: int
    findings: int
    seconds: int
    # "ok", "FAILED", "not complete", or "skipped: …" with the reason.
    result: str
    # With --report: the commits of the last runs.
    commits: str = ""

    @property
    def is_reached(self) -> bool:
        """Whether the stated size has been done. Where there is none, nothing can be reached."""
        return self.stated is not None and self.so_far >= self.stated

    @property
    def share(self) -> str:
        """How much of the stated size has been done, in percent; rounded down, so that only the whole is 100."""
        if not self.stated: return "-"
        percent = 100 * self.so_far / self.stated
        return f"{int(percent)} %" if percent >= 1 or not percent else f"{percent:.2g} %"


BUILDS = {
    "debug": ["swift", "build", "--traits", "LMDB", "--build-tests"],
    "release": ["swift", "build", "--traits", "LMDB", "-c", "release", "--scratch-path", FOLDER / "build", "--product",
                "store-conformance"],
    "benchmarks": ["swift", "build", "--traits", "LMDB", "-c", "release", "--package-path", "Benchmarks"],
}


def build(needs: set[str], given: pathlib.Path | None) -> Programs:
    """Builds the needed programs, or takes them from the given folder."""
    found = {}
    for name in BUILDS:
        if given and (name != "benchmarks" or name not in needs or (given / "store-memory").exists()):
            found[name] = given
        elif name in needs:
            with open(FOLDER / f"build-{name}.log", "w") as log:
                subprocess.run(BUILDS[name], cwd=ROOT, check=True, stdout=log, stderr=subprocess.STDOUT)
            shown = [one for one in BUILDS[name] if one != "--build-tests"] + ["--show-bin-path"]
            found[name] = pathlib.Path(subprocess.run(shown, cwd=ROOT, check=True, capture_output=True,
                                                      text=True).stdout.strip())
        else:
            found[name] = FOLDER
    return Programs(**found)


class Night:
    """Runs parts, and records each run in the ledger."""

    def __init__(self, programs: Programs, ledger: Ledger, base: int, again: bool, commit: str):
        self.programs, self.ledger, self.base, self.again, self.commit = programs, ledger, base, again, commit
        self.lock, self.processes = threading.Lock(), Processes()

    def run(self, part: Part, amounts: dict[str, int]) -> Line:
        """Runs a part. `amounts` has the size for each key."""
        start = time.monotonic()
        tonight, findings, troubles, skipped, short = dict.fromkeys(part.keys, 0), [0], [], [], []
        if part.script and not (ROOT / part.script).exists():
            skipped.append(f"there is no {part.script} yet")
            amounts = {}
        log = self.programs.logs / f"{part.name}.log"
        log.write_text("")

        def runs(key):
            sizes = part.slices(amounts.get(key, 0))
            for size, seed in zip(sizes, self.ledger.seeds(part, key, self.base, len(sizes), self.again)):
                status, done, found, text = self.one(part, key, size, seed)
                with self.lock:
                    with open(log, "a") as file: file.write(f"{text}nightly: status {status}\n")
                    if status == 77: skipped.append(text.strip().splitlines()[-1])
                    tonight[key] = tonight[key] + done if part.adds else max(tonight[key], done)
                    findings[0] += found
                    if status not in (*part.good, 77): troubles.append(status)
                    if status in part.short: short.append(key)
                # The next slice would most likely end in the same way.
                if status not in part.good: return
        with ThreadPoolExecutor(part.beside) as pool:
            try:
                list(pool.map(runs, part.keys))
            except KeyboardInterrupt:
                pool.shutdown(wait=False, cancel_futures=True)
                self.processes.stop()
                raise
        result = ("FAILED" if troubles else f"skipped: {skipped[0]}" if skipped else
                  "not complete: the time was over" if short else "ok")
        return Line(part.row, part.name, part.unit, len(part.keys), part.stated, min(tonight.values()),
                    self.ledger.done_of_each(part), findings[0], round(time.monotonic() - start), result)

    def one(self, part: Part, key: str, size: int, seed: int) -> tuple[int, int, int, str]:
        """One run: its status, units done, findings and output. A failed run counts as nothing done."""
        start, command = time.monotonic(), part.command(self.programs, key, size, seed)
        arguments = [str(one) for one in command.arguments]
        status, text = self.processes.execute(arguments, command.environment, 4 * part.time(size) + 3600)
        outcome = part.read(text)
        is_wrong = outcome.is_wrong or (outcome.findings and not part.may_find)
        if is_wrong and status in part.good: status = 1
        is_good = status in part.good
        done = (size if outcome.done is None else outcome.done) if is_good else 0
        found = max(outcome.findings or 0, int(not is_good and status != 77))
        if status != 77:
            self.ledger.add(part, key, {
                "seed": seed, "size": size, "done": done, "findings": found, "status": status, "commit": self.commit,
                "seconds": round(time.monotonic() - start, 1), "date": time.strftime("%Y-%m-%dT%H:%M:%S")})
        return status, done, found, f"$ {' '.join(arguments)}\n{text}"


class Stopped(Exception):
    """The night was stopped during the run. The ledger does not record the run."""


class Processes:
    """The running programs. Each has its own process group, so that its children are killed with it."""

    def __init__(self):
        self.running, self.lock, self.are_stopped = set(), threading.Lock(), False

    def execute(self, arguments: list[str], environment: dict[str, str], limit: float) -> tuple[int, str]:
        """Runs a program. Kills it with its children after `limit` seconds, with status 124."""
        with self.lock:
            if self.are_stopped: raise Stopped
            try:
                process = subprocess.Popen(arguments, cwd=ROOT, env={**os.environ, **environment},
                                           stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True)
            except OSError as error:
                return 127, f"{error}\n"
            self.running.add(process)
        try:
            output, _ = process.communicate(timeout=limit)
            status, end = process.returncode, ""
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            output, _ = process.communicate()
            status, end = 124, f"not done after {limit:.0f} s\n"
        with self.lock:
            self.running.discard(process)
            if self.are_stopped: raise Stopped
        text = output.decode(errors="replace")
        return status, text + ("" if text.endswith("\n") or not text else "\n") + end

    def stop(self) -> None:
        with self.lock:
            self.are_stopped = True
            for process in self.running: os.killpg(process.pid, signal.SIGKILL)
