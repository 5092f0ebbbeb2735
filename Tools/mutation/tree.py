"""The copy of the package that has all mutants, and its build."""

import hashlib
import os
import re
import subprocess
from pathlib import Path

from .choice import SOURCES, Mutant

MOST_ROUNDS = 8
MUTATED = '''import Foundation

/// Whether the environment variable OPENCOREDATA_MUTANT chooses this mutant. A file that OPENCOREDATA_MUTANT_TRACE
/// names gets a byte for each mutant that was asked for.
@inline(never)
func mutated(_ number: Int) -> Bool {
  if let reached { reached[number] = 1 }
  return number == chosenMutant
}

private let chosenMutant = Int(ProcessInfo.processInfo.environment["OPENCOREDATA_MUTANT"] ?? "") ?? 0

/// Shared with whoever reads the file, so that a process that is killed leaves no less.
nonisolated(unsafe) private let reached: UnsafeMutablePointer<UInt8>? = {
  guard let path = ProcessInfo.processInfo.environment["OPENCOREDATA_MUTANT_TRACE"] else { return nil }
  let file = open(path, O_RDWR)
  let bytes = file < 0 ? nil : mmap(nil, 4096, PROT_READ | PROT_WRITE, Int32(MAP_SHARED), file, 0)
  return bytes?.assumingMemoryBound(to: UInt8.self)
}()
'''


class Tree:
    """The committed sources below .build/mutants/tree, with the mutants in them."""

    def __init__(self, root: Path):
        self.root = root
        self.tree, self.scratch = root / ".build" / "mutants" / "tree", root / ".build" / "mutants" / "build"

    def copy(self):
        """The package as it is committed. Files that are the same stay, so that a second build is short."""
        listed = subprocess.run(["git", "ls-files", "-z"], cwd=self.root, check=True, capture_output=True)
        wanted = {name for name in listed.stdout.decode().split("\0") if name and (self.root / name).is_file()}
        # The sources that may have mutants are written with them.
        for name in wanted:
            if name.startswith(f"{SOURCES}/") and (self.tree / name).exists(): continue
            self.write(name, (self.root / name).read_bytes(), (self.root / name).stat().st_mode)
        for path in [path for path in self.tree.rglob("*") if path.is_file() or path.is_symlink()]:
            name = str(path.relative_to(self.tree))
            if name not in wanted and name != f"{SOURCES}/Mutated.swift": path.unlink()

    def write(self, name: str, content: bytes, mode: int = 0o644):
        target = self.tree / name
        if target.is_file() and target.read_bytes() == content: return
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content)
        os.chmod(target, mode & 0o777)

    def mutate(self, mutants: list[Mutant]):
        """Writes the files that have mutants, and those that had some."""
        self.write(f"{SOURCES}/Mutated.swift", MUTATED.encode())
        by_file: dict[str, list[Mutant]] = {}
        for mutant in mutants: by_file.setdefault(mutant.file, []).append(mutant)
        for path in (self.root / SOURCES).rglob("*.swift"):
            name = path.relative_to(self.root).as_posix()
            lines = path.read_text().split("\n")
            for mutant in by_file.get(name, []): lines[mutant.line - 1] = mutant.compiled
            self.write(name, "\n".join(lines).encode())

    def build(self, mutants: list[Mutant], with_tests: bool, log: Path) -> tuple[list[Mutant], list[Mutant]]:
        """Builds, without the mutants that do not compile; gives those that are left and those that were dropped."""
        self.copy()
        left, dropped = list(mutants), []
        for _ in range(MOST_ROUNDS):
            self.mutate(left)
            output = self.run_build(with_tests)
            log.write_text(output)
            if output.endswith("EXIT 0\n"): return left, dropped
            bad = broken(left, output)
            if not bad: raise SystemExit(f"mutants: the copy does not build, and no mutant is to blame; see {log}")
            dropped += bad
            left = [mutant for mutant in left if mutant not in bad]
        raise SystemExit(f"mutants: mutants still do not compile after {MOST_ROUNDS} rounds; see {log}")

    def command(self, *words: str) -> list[str]:
        return ["swift", "build", "--traits", "LMDB", "--package-path", str(self.tree),
                "--scratch-path", str(self.scratch), *words]

    def run_build(self, with_tests: bool) -> str:
        # Tests are found in the index.
        what = ["--build-tests"] if with_tests else ["--product", "store-conformance", "--disable-index-store"]
        done = subprocess.run(self.command(*what), capture_output=True, text=True, errors="replace")
        return f"{done.stdout}\n{done.stderr}\nEXIT {done.returncode}\n"

    def folder(self) -> Path:
        done = subprocess.run(self.command("--show-bin-path"), check=True, capture_output=True, text=True)
        return Path(done.stdout.strip())

    def states(self) -> dict[str, str]:
        """Stand for the copy as it is, with and without its tests: another text, another state."""
        digest = hashlib.sha256()
        states = {}
        for kind, folders in ("cases", ("Sources", "Backends", "Conformance")), ("suites", ("Tests",)):
            for path in sorted(path for folder in folders for path in (self.tree / folder).rglob("*.swift")):
                digest.update(path.read_bytes())
            states[kind] = digest.hexdigest()
        return states


def broken(mutants: list[Mutant], output: str) -> list[Mutant]:
    """The mutants of the lines that errors name; of a line without one the nearest before it, else any of the file."""
    named = {(name, int(line)) for name, line in re.findall(rf"({SOURCES}/[^\s:]+\.swift):(\d+):\d+: error:", output)}
    found = []
    for name, line in sorted(named):
        own = [mutant for mutant in mutants if mutant.file == name]
        own.sort(key=lambda mutant: (mutant.line > line, abs(mutant.line - line)))
        exact = [mutant for mutant in own if mutant.line == line]
        found += [mutant for mutant in exact or own[:1] if mutant not in found]
    return found
