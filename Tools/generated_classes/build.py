"""Generates, rewrites, compiles, links and runs."""
import collections
import concurrent.futures
import hashlib
import os
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

from clients.libraries import MODULES, ROOT, library_objects, search_paths

from .exerciser import Exerciser

WORK = ROOT / ".build" / "generated-classes"
TOOL, REWRITER = MODULES.parent / "coredata", MODULES.parent / "BuildTool"
SUPPORT = Path(__file__).resolve().parent / "Exercise.swift"
STRICT = ["-swift-version", "6", "-warnings-as-errors", "-enable-upcoming-feature", "ExistentialAny"]
# The forms of the text, which take turns.
FORMS = ["26", "16", "27"]
# What the tool says of the models that it refuses.
REFUSED = "the format of Xcode 3"


class Failure(Exception):
    """What keeps the classes of a model from being exercised."""


class Refused(Exception):
    """A model whose format the tool does not read."""


def output(command, **options):
    return subprocess.run([str(part) for part in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace",
                          **options)


def first_error(text):
    """The first line of the compiler's output that is an error, without the folder of the file."""
    lines = [line for line in text.splitlines() if "error:" in line] or text.strip().splitlines() or ["no output"]
    return re.sub(r"^\S*/", "", lines[0])


def write(file, text):
    if not file.exists() or file.read_text(encoding="utf-8") != text: file.write_text(text, encoding="utf-8")


class Target:
    """The module of one model."""

    def __init__(self, model, work=WORK):
        self.model, self.work = model, work
        self.folder = work / "Sources" / model.module
        self.layer, self.results = self.folder / "Layer", work / "Results" / model.module
        self.object = work / "Objects" / f"{model.module}.o"
        self.exerciser = None

    def prepare(self, plant=None):
        """Writes the sources of the target. `plant` changes the text of a generated class, by the name of its file."""
        shutil.rmtree(self.folder, ignore_errors=True)
        self.layer.mkdir(parents=True)
        source = self.model.source
        form = FORMS[self.model.number % len(FORMS)]
        generated = output([TOOL, "model", "generate", "--all", "--xcode", form, source, "-o", self.layer])
        if REFUSED in generated.stdout and not self.model.is_readable: raise Refused(generated.stdout.strip())
        if generated.returncode != 0: raise Failure(f"no classes are generated: {generated.stdout.strip()}")
        self.remove_built(source)
        shutil.copytree(source, self.layer / source.name)
        self.exerciser = Exerciser(self.model)
        for file in self.layer.glob("*.swift"):
            if plant: write(file, plant(file.name, file.read_text(encoding="utf-8")))
        write(self.layer / "Exercise.swift", self.exerciser.text)
        if self.exerciser.declarations: write(self.layer / "Stubs.swift", self.exerciser.declarations)
        # Without a source of its own a package would not have the target.
        write(self.folder / f"{self.model.module}.swift", "import CoreData\n")

    def remove_built(self, source):
        """Removes the files that the build tool generates itself, because of the code generation of the entities."""
        with tempfile.TemporaryDirectory() as folder:
            output([TOOL, "model", "generate", source, "-o", folder])
            for file in Path(folder).glob("*.swift"): (self.layer / file.name).unlink(missing_ok=True)

    def compile(self):
        """Rewrites and compiles. A module whose sources have not changed since is not compiled again."""
        self.rewrite()
        compile_module(self.model.module, sorted(self.results.glob("*.swift")), self.work)

    def check_isolated(self):
        """Checks the classes, without the source that exercises them, with an isolation to the main actor by default."""
        self.rewrite()
        sources = [file for file in sorted(self.results.glob("*.swift")) if file.name != "Rewritten+Layer+Exercise.swift"]
        result = output(["swiftc", "-typecheck", "-module-name", self.model.module, "-parse-as-library", *STRICT, *search_paths(),
                         "-default-isolation", "MainActor", *sources])
        if result.returncode != 0: raise Failure(f"isolated to the main actor, the classes do not compile: {first_error(result.stdout)}")

    def rewrite(self):
        shutil.rmtree(self.results, ignore_errors=True)
        model = self.layer / self.model.source.name
        sources = sorted(self.layer.glob("*.swift"))
        rewritten = output(
            [REWRITER, "--module", self.model.module, "--output", self.results, "--root", self.folder, model, *sources])
        if rewritten.returncode != 0: raise Failure(f"the build tool fails: {rewritten.stdout.strip()}")
        findings = [line for line in rewritten.stdout.splitlines() if re.match(r"\S+\.swift:\d+", line)]
        if findings: raise Failure(f"the rewriter reports {re.sub(r'^[^ ]*/', '', findings[0])}")

    def run(self, program, compiled=None):
        """The properties that were exercised, and the failures as sentences."""
        model = compiled or next(path for path in self.results.iterdir() if path.suffix in (".mom", ".momd"))
        try: result = output([program, self.model.module, model], timeout=300)
        except subprocess.TimeoutExpired: return set(), ["the program took longer than five minutes"]
        lines = result.stdout.splitlines()
        done = {line[5:] for line in lines if line.startswith("done ")}
        failures = [line[7:] for line in lines if line.startswith("FAILED ")]
        begun = [line[6:] for line in lines if line.startswith("begin ")]
        if result.returncode not in (0, 1):
            rest = " ".join(line for line in lines if not re.match(r"(done|FAILED|begin) ", line))
            failures.append(f"{begun[-1] if begun else 'the first property'}: the program stopped: {rest[:400]}")
        elif result.returncode == 1 and not failures: failures.append("the program failed: " + result.stdout[-400:])
        missing = sorted(set(self.exerciser.planned) - set(begun))
        if missing: failures.append(f"{len(missing)} properties were not reached, such as {missing[0]}")
        return done, failures


def compile_module(name, sources, work=WORK):
    """Compiles a module to one object."""
    objects = work / "Objects"
    objects.mkdir(parents=True, exist_ok=True)
    flags = ["-module-name", name, "-parse-as-library", *STRICT, "-Onone", "-wmo", *search_paths(), "-I", objects]
    digest = hashlib.sha256("\0".join(map(str, flags)).encode())
    for module in [MODULES / "CoreData.swiftmodule", *([objects / "ExerciseSupport.swiftmodule"] if name != "ExerciseSupport" else [])]:
        digest.update(str(module.stat().st_mtime_ns).encode())
    for source in sources: digest.update(source.read_bytes() + b"\0")
    mark, target = objects / f"{name}.digest", objects / f"{name}.o"
    if mark.exists() and target.exists() and mark.read_text() == digest.hexdigest(): return target
    mark.unlink(missing_ok=True)
    result = output(["swiftc", *flags, *sources, "-c", "-o", target, "-emit-module", "-emit-module-path", objects / f"{name}.swiftmodule"])
    if result.returncode != 0: raise Failure(f"the classes do not compile: {first_error(result.stdout)}")
    mark.write_text(digest.hexdigest())
    return target


def program_text(targets):
    names = [target.model.module for target in targets]
    entries = "".join(f"  \"{name}\": exercise_{name},\n" for name in names)
    imports = "".join(f"import {name}\n" for name in names)
    counts = collections.Counter(name for target in targets for name in target.model.owners)
    ambiguous = ", ".join(f"\"{name}\"" for name, count in sorted(counts.items()) if count > 1)
    return f"""import ExerciseSupport
import Foundation
{imports}
// Exercises the classes of one model: GeneratedClasses MODULE COMPILED-MODEL.
let exercises: [String: (PropertyExercise) -> Void] = [
{entries}]
let arguments = CommandLine.arguments
let exercise = try PropertyExercise(
  model: URL(fileURLWithPath: arguments[2]), module: arguments[1], ambiguousNames: [{ambiguous}])
exercises[arguments[1]]?(exercise)
exit(exercise.hasFailed ? 1 : 0)
"""


def link(targets, work=WORK):
    """One program of all modules."""
    main, objects, program = work / "main.swift", work / "Objects", work / "GeneratedClasses"
    write(main, program_text(targets))
    files = [objects / "ExerciseSupport.o", *(target.object for target in targets), *library_objects()]
    write(work / "objects", "\n".join(map(str, files)) + "\n")
    result = output(["swiftc", "-module-name", "GeneratedClasses", "-swift-version", "6", "-Onone", *search_paths(), "-I", objects, main,
                     f"@{work / 'objects'}", "-lsqlite3", "-lxml2", "-lz", "-o", program])
    if result.returncode != 0: raise Failure(f"the program is not linked: {first_error(result.stdout)}")
    return program


def for_each(targets, work):
    """Does the work for targets at a time, and returns the results in their order."""
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool: return list(pool.map(work, targets))
