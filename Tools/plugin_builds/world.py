"""The packages while they are built, and the checks that were made of them."""
import re
import subprocess
import time

from .packages import APP

LAYER = APP / "Sources" / "Model" / "Layer"
LIBRARY = LAYER / "Library.xcdatamodeld"
DEBUG, RELEASE = APP / ".build" / "debug", APP / ".build" / "release"
RESOURCES = DEBUG / "App_Model.resources"


def run(*command, folder=APP):
    """The exit status and the output of a program. It has no terminal, so that Swift prints a line for each command."""
    done = subprocess.run([str(word) for word in command], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, errors="replace", stdin=subprocess.DEVNULL)
    return done.returncode, done.stdout


class World:
    """Makes changes, builds, and compares what the program prints with what it must print."""

    def __init__(self):
        self.checks = []
        # What the program prints, by the word before the colon.
        self.expected = {
            "container Library": "Book(pages title) Note(text)", "container Settings": "Setting(theme)",
            "container Other": "Author(name)", "merged": "Author Book Draft Leaflet Note Setting",
            "main bundle": "Library.momd", "bundle of a class": "Library.momd", "born": "born here",
            "label": "label of born here", "shelf": "none", "authorPath": "name", "note": "none", "found": "1",
            "setting": "dark", "author": "hello"}

    # Checks

    def check(self, name, measured, *faults):
        """Notes a check. It has failed where there is a fault that is not empty."""
        faults = [fault for fault in faults if fault]
        self.checks.append({"name": name, "ok": not faults, "measured": measured, "faults": faults})
        print(f"{'FAILED' if faults else 'ok':6}  {name}: {measured}" + "".join(f"\n        {fault}" for fault in faults),
              flush=True)

    def step(self, name, *commands, fault=None, **printed):
        """Builds once after a change, and runs the program.

        `commands` are the targets whose models and sources must be processed again, and no others. Swift's package
        manager links the tool again where the set of files has changed. Then the commands of all targets run, and must
        change nothing.

        `printed` are the lines of the program that the change must change: underscores stand for spaces. `fault` is
        called after the build, and returns what is wrong, or None."""
        self.expected |= {key.replace("_", " "): value for key, value in printed.items()}
        status, output, seconds = self.build()
        done, again = layers(output), []
        if "Linking BuildTool-tool" in output:
            again = [name for name in done if name not in commands]
            done = [name for name in done if name in commands]
        measured = f"{len(done)} command{'' if len(done) == 1 else 's'} ({' '.join(done) or '-'}), "
        if again: measured += f"{len(again)} more because the tool was linked again ({' '.join(again)}), "
        measured += f"{seconds:.1f} s"
        if status:
            return self.check(name, measured, "the build failed:\n" + errors(output))
        self.check(name, measured,
                   done != sorted(commands) and f"expected the commands {' '.join(commands) or '-'}",
                   # Other depends on no target that a step changes. So there is nothing to compile again.
                   "Other" in again and "Compiling Other " in output and "the sources of Other were compiled again",
                   self.difference(), fault and fault())

    def failing(self, name, *texts):
        """Builds once after a change with an error. All texts must be in one line of the output."""
        status, output, seconds = self.build()
        if status == 0: self.check(name, f"{seconds:.1f} s", "the build did not fail")
        else: self.find(name, output, seconds, *texts)

    def build(self, *options, package=APP):
        begin, self.unhandled = time.monotonic(), None
        status, output = run("swift", "build", *options, folder=package)
        unhandled = re.search(r"found (\d+) file\(s\) which are unhandled", output)
        self.unhandled = unhandled and unhandled[0]
        return status, output, time.monotonic() - begin

    def tests(self, name, *texts):
        """Builds the tests and runs them. All texts must be in one line of the output."""
        status, output, seconds = self.build("--build-tests")
        if status: return self.check(name, f"{seconds:.1f} s", "the build failed:\n" + errors(output))
        _, output = run(DEBUG / "AppPackageTests.xctest")
        self.find(name, output, seconds, *texts)

    def find(self, name, output, seconds, *texts):
        lines = [line for line in output.splitlines() if all(text in line for text in texts)]
        self.check(name, f"{lines[0].strip().replace(str(APP) + '/', '') if lines else '-'}; {seconds:.1f} s",
                   not lines and f"no line has {' and '.join(texts)}:\n" + errors(output))

    def difference(self, program=None, **printed):
        """What the program prints and should not, or None. `printed` is what only this program prints."""
        status, output = run(program or DEBUG / "Program")
        return self.differing(status, output, **printed)

    def differing(self, status, output, **printed):
        found = dict(line.split(": ", 1) for line in output.splitlines() if ": " in line)
        wrong = [f"{key}: {found.get(key)}, expected {value}" for key, value in {**self.expected, **printed}.items()
                 if found.get(key) != value]
        if status: return f"the program ended with status {status}: {output[:800]}"
        return "; ".join(wrong) or None


def layers(output):
    """The targets whose models and sources were processed."""
    return sorted(re.findall(r"^\[\d+/\d+\] Model layer of (\S+)", output, re.MULTILINE))


def errors(output):
    lines = output.splitlines()
    return "\n".join([line for line in lines if "error" in line][:8] or lines[-8:])


def replace(file, old, new):
    text = file.read_text(encoding="utf-8")
    assert old in text, f"{file} does not contain {old}"
    file.write_text(text.replace(old, new), encoding="utf-8")


def names(folder):
    return sorted(path.name for path in folder.iterdir()) if folder.is_dir() else []


def unlike(what, found, expected):
    """The fault where two lists differ."""
    return None if found == expected else f"{what}: {' '.join(found) or '-'}, expected {' '.join(expected) or '-'}"
