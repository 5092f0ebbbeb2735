"""The program that saves, and what is watched about it."""

from __future__ import annotations

import json
import os
import resource
import select
import signal
import subprocess
import tempfile
import time
from pathlib import Path

# For a debug build. A step takes some milliseconds.
SECONDS_OF_STEP, ADDRESS_SPACE, MEMORY = 20.0, 3 << 30, 512 << 20


class Died(Exception):
    """The program ended, or answered nothing for too long; the text says how."""


class Driver:
    """Takes steps in one process for many files, and in a new one after each that has died."""

    def __init__(self, program: Path, store: str, folder: Path, mistake: str | None = None):
        self.command = [str(program), "--hostile"]
        self.environment = {
            "PATH": os.environ.get("PATH", ""),
            "HOME": str(folder),
            "TMPDIR": str(folder),
            "LANG": "C.UTF-8",
            "SWIFT_BACKTRACE": "enable=no",
            "OPENCOREDATA_STORE_TYPE": store,
        }
        if mistake:
            self.environment["HOSTILE_SAVES_MISTAKE"] = mistake
        self.process: subprocess.Popen | None = None
        self.steps = 0
        self.longest = 0.0
        self.memory = 0
        self.patience = 2.0 if mistake == "hang" else SECONDS_OF_STEP

    def step(self, name: str, path: Path) -> dict:
        """Takes a step and gives its report. Raises Died."""
        process = self._running()
        begun = time.monotonic()
        self.steps += 1
        try:
            process.stdin.write(f"{name}\t{path}\n".encode())
            process.stdin.flush()
            line = self._line(begun + self.patience)
        except BrokenPipeError:
            line = b""
        self.longest = max(self.longest, time.monotonic() - begun)
        if line:
            return json.loads(line)
        raise Died(self._end())

    def close(self) -> None:
        if self.process is not None:
            self._note_memory()
            self.process.stdin.close()
            self.process.wait(timeout=SECONDS_OF_STEP)
            self.process = None

    def _note_memory(self) -> None:
        """Notes the most that the program has had so far, without what its maker had when it made it."""
        lines = Path(f"/proc/{self.process.pid}/status").read_text().splitlines()
        self.memory = max([self.memory, *(int(line.split()[1]) << 10 for line in lines if line.startswith("VmHWM"))])

    def _running(self) -> subprocess.Popen:
        if self.process is None:
            self.errors = tempfile.TemporaryFile()
            self.process = subprocess.Popen(
                self.command,
                env=self.environment,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self.errors,
                preexec_fn=_limit,
            )
            self.buffer = b""
        return self.process

    def _line(self, until: float) -> bytes:
        """The next line of the program's output; nothing if it ends, or says nothing until then."""
        output = self.process.stdout.fileno()
        while b"\n" not in self.buffer:
            left = until - time.monotonic()
            if left <= 0 or not select.select([output], [], [], left)[0]:
                return b""
            more = os.read(output, 1 << 20)
            if not more:
                return b""
            self.buffer += more
        line, _, self.buffer = self.buffer.partition(b"\n")
        return line

    def _end(self) -> str:
        """Ends what is left of the program, and says how it ended."""
        process, self.process = self.process, None
        try:
            status = process.wait(timeout=1)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            return f"hangs: no answer within {self.patience:.0f} s"
        self.errors.seek(0)
        text = self.errors.read()[-2000:].decode(errors="backslashreplace")
        fault = next((line for line in text.splitlines() if "Fatal error" in line or ": error" in line), "")
        how = f"died by {signal.Signals(-status).name}" if status < 0 else f"ended with status {status}"
        return f"{how} {fault or text[-300:]}".strip()


def _limit() -> None:
    resource.setrlimit(resource.RLIMIT_AS, (ADDRESS_SPACE, ADDRESS_SPACE))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
