"""How operations come to SQLite: the functions on the backtraces of their calls of sqlite3_step."""
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

RECORDER = pathlib.Path(__file__).resolve().parent / "Recorder"
OPERATIONS = ("fault", "fetch", "save")
# What a function's name says of closures and generics: a closure counts as the function that it stands in.
WITHIN = re.compile(r"^(?:(?:implicit )?closure #\d+ (?:\([^()]*\) )?in |partial apply for |specialized |merged )+")


def record(root):
    """Of each operation the functions on its backtraces, as pairs of file and function, outermost first."""
    copy = root / "Tools/house/Recorder"
    if not copy.exists(): shutil.copytree(RECORDER, copy, ignore=shutil.ignore_patterns(".build"))
    command = ["swift", "build", "--package-path", copy]
    subprocess.run(command, check=True, stdout=sys.stderr)
    folder = subprocess.run(command + ["--show-bin-path"], check=True, capture_output=True, text=True).stdout.strip()
    program = pathlib.Path(folder) / "Recorder"
    with tempfile.TemporaryDirectory() as store:
        output = pathlib.Path(store) / "steps"
        subprocess.run([program, pathlib.Path(store) / "store.sqlite", output], check=True)
        lines = [line.split() for line in output.read_text().splitlines()]
    places = symbolicate(program, sorted({address for line in lines for address in line[1:]}))
    functions = {operation: [] for operation in OPERATIONS}
    for operation, *addresses in lines:
        for address in reversed(addresses):
            function, file = places[address]
            if not file.startswith(str(root)): continue
            found = (file.removeprefix(f"{root}/"), WITHIN.sub("", function))
            if found[0].startswith(("Sources/", "Backends/")) and found not in functions[operation]: functions[operation].append(found)
    return functions


def symbolicate(program, addresses):
    """Of each address the function and its file."""
    tool = pathlib.Path(shutil.which("swift")).resolve().parent / "llvm-symbolizer"
    text = subprocess.run([tool, "--no-inlines", "--no-demangle", f"--obj={program}"], check=True, capture_output=True, text=True,
                          input="\n".join(addresses)).stdout
    text = subprocess.run(["swift", "demangle", "--simplified", "--compact"], check=True, capture_output=True, text=True, input=text).stdout
    found = [entry.split("\n") for entry in text.strip().split("\n\n")]
    return {address: (entry[0], entry[1].rsplit(":", 2)[0]) for address, entry in zip(addresses, found, strict=True)}
