"""The built programs, and one run of some of their tests or cases."""

import json
import mmap
import os
import re
import select
import signal
import subprocess
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

TRACE_SIZE = 4096
COLOUR = re.compile(r"\x1b\[[\d;]*m")
FAILED = re.compile(r"✘ (?:Test|Suite) (.+?) (?:recorded an issue|failed)")
PASSED = re.compile(r"✔ Test run with (\d+) test")
# A store's program and how the cases of objects run on it.
STORES = {"memory": "store-conformance", "sqlite": "store-conformance", "atomic": "client-conformance",
          "incremental": "client-conformance"}


@dataclass(frozen=True)
class Verdict:
    """What failed first; nothing where `failure` is empty. `how` is failed, crashed or hung."""
    failure: str = ""
    how: str = ""

    def __bool__(self) -> bool: return bool(self.failure)


class Trace:
    """The mutants that a process has asked for."""

    def __init__(self, folder: Path):
        self.path = folder / f"trace-{os.getpid()}-{id(self)}"
        self.path.write_bytes(bytes(TRACE_SIZE))
        with open(self.path, "r+b") as file: self.memory = mmap.mmap(file.fileno(), TRACE_SIZE)

    def take(self) -> list[int]:
        found = [index for index, byte in enumerate(self.memory[:]) if byte]
        self.memory[:] = bytes(TRACE_SIZE)
        return found

    def close(self):
        self.memory.close()
        self.path.unlink()


class Child:
    """A process and what it starts, with a temporary folder of their own, read line by line until a moment."""

    def __init__(self, command: list, folder: Path, mutant: int, trace: Trace | None, takes_input: bool = False):
        self.temporary = tempfile.TemporaryDirectory(prefix="mutant-", ignore_cleanup_errors=True)
        values = {**os.environ, "TMPDIR": self.temporary.name, "OPENCOREDATA_MUTANT": str(mutant)}
        if trace: values["OPENCOREDATA_MUTANT_TRACE"] = str(trace.path)
        self.process = subprocess.Popen([str(word) for word in command], cwd=folder, env=values, start_new_session=True,
                                        stdin=subprocess.PIPE if takes_input else subprocess.DEVNULL,
                                        stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        self.rest = b""

    def lines(self, seconds: float):
        """Each line, `None` where none came within so many seconds in which the process was not stopped."""
        output, waited = self.process.stdout.fileno(), 0
        while True:
            while b"\n" in self.rest:
                line, self.rest = self.rest.split(b"\n", 1)
                waited = 0
                yield COLOUR.sub("", line.decode(errors="replace"))
            if not select.select([output], [], [], 1)[0]:
                waited += not self.is_stopped()
                if waited >= seconds:
                    yield None
                    waited = 0
                continue
            part = os.read(output, 65536)
            if not part: return
            self.rest += part

    def is_stopped(self) -> bool:
        """Whether somebody has stopped the process for a while, as where others measure on the same machine."""
        try: return Path(f"/proc/{self.process.pid}/stat").read_text().rsplit(")", 1)[1].split()[0] == "T"
        except FileNotFoundError: return False

    def session(self) -> list[int]:
        """The process and all that it has started: programs that tests start have process groups of their own."""
        found = []
        for name in filter(str.isdigit, os.listdir("/proc")):
            try:
                if os.getsid(int(name)) == self.process.pid: found.append(int(name))
            except ProcessLookupError: pass
        return found

    def end(self) -> int:
        for process in self.session():
            try: os.kill(process, signal.SIGKILL)
            except ProcessLookupError: pass
        self.process.stdout.close()
        if self.process.stdin: self.process.stdin.close()
        status = self.process.wait()
        self.temporary.cleanup()
        return status


class World:
    def __init__(self, bin: Path, tree: Path):
        self.bin, self.tree = bin, tree
        self.tests = bin / "OpenCoreDataPackageTests.xctest"

    def stores(self) -> list[str]: return [store for store, program in STORES.items() if (self.bin / program).exists()]

    def cases(self, store: str) -> list[str]:
        """The small cases of objects: those that their sources name."""
        folder = self.tree / "Conformance" / "GraphConformance" / "Cases"
        texts = "".join(file.read_text() for file in folder.rglob("*.swift"))
        named = set(re.findall(r'"([A-Z]{3}-\d{3}[\w/.-]*)"', texts))
        listed = subprocess.run([self.bin / STORES[store], "list"], check=True, capture_output=True, text=True).stdout
        rows = [line.split() for line in listed.splitlines() if len(line.split()) > 2]
        return [row[0] for row in rows if row[0] in named and row[2] == "S"]

    def suites(self) -> list[str]:
        if not self.tests.exists(): return []
        listed = subprocess.run([self.tests, "--testing-library", "swift-testing", "--list-tests"], check=True,
                                capture_output=True, text=True, cwd=self.tree).stdout
        return sorted({line.split("/")[0] for line in listed.splitlines() if re.match(r"CoreData(Tool)?Tests\.\w+/", line)})

    def run_cases(self, store: str, cases: list[tuple[str, float]], mutant: int = 0, done=None, trace=None) -> Verdict:
        """Runs cases until one fails; each with the seconds that it takes. `done` is told each result, and goes on."""
        if not cases: return Verdict()
        child = Child([self.bin / STORES[store], "worker", "--backend", store, "--profile", "plain", "--seed", "1"],
                      self.tree, mutant, trace, takes_input=True)
        try:
            for case, seconds in cases:
                start = time.monotonic()
                try:
                    child.process.stdin.write(f"{case}\n".encode())
                    child.process.stdin.flush()
                except BrokenPipeError: pass
                answer = None
                for line in child.lines(max(20, seconds * 8)):
                    if line is None: return Verdict(f"{store} {case}", "hung")
                    if line.startswith("@case "):
                        answer = json.loads(line[6:])["outcome"]["name"]
                        break
                if done: done(case, answer, time.monotonic() - start)
                if answer is None: return Verdict(f"{store} {case}", "crashed")
                if answer != "passed" and not done: return Verdict(f"{store} {case}", "failed")
            return Verdict()
        finally: child.end()

    def run_suites(self, suites: list[str], mutant: int = 0, trace=None, seconds: float = 60) -> Verdict:
        """Runs suites until a test fails. `seconds` is how long nothing may be heard of any."""
        names = "|".join(map(re.escape, suites))
        child = Child([self.tests, "--testing-library", "swift-testing", "--filter", rf"^({names})/"],
                      self.tree, mutant, trace)
        begun = ended = False
        last = ""
        try:
            for line in child.lines(seconds):
                if line is None: return Verdict(f"suites, after {last}", "hung")
                found = FAILED.search(line)
                if found: return Verdict(f"test {found.group(1)[:100]}", "failed")
                if "◇ Test " in line: begun, last = True, line.split("◇ Test ")[1][:80]
                if PASSED.search(line): ended = True
            return Verdict() if ended else Verdict(f"suites, after {last}" if begun else "suites", "crashed")
        finally: child.end()
