#!/usr/bin/env python3
"""Takes the Swift code out of README.md: type-checks every block, or writes the first program as a package.

A block that begins with `// swift-tools-version` is a manifest; the first other block is the first program. Each block
stands for itself, as its reader will paste it.
"""

import argparse
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

from census.symbols import module_maps

ROOT = Path(__file__).resolve().parent.parent
README = ROOT / "README.md"


class Block(NamedTuple):
    line: int  # of its first line of code, from 1
    code: str

    @property
    def is_manifest(self) -> bool:
        return self.code.startswith("// swift-tools-version")


def blocks() -> list[Block]:
    text = README.read_text()
    return [Block(text.count("\n", 0, match.start(1)) + 1, match[1])
            for match in re.finditer(r"^```swift\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)]


def expected_output() -> str:
    """What the README says that the first program prints: its first block of plain text."""
    return re.search(r"^```text\n(.*?)^```$", README.read_text(), re.MULTILINE | re.DOTALL)[1]


def compiler_options() -> list[str]:
    """The flags by which a client sees the modules of the debug build, and the C modules that they import."""
    products = Path(subprocess.run(["swift", "build", "--show-bin-path"], cwd=ROOT, check=True, text=True,
                                   stdout=subprocess.PIPE).stdout.strip())
    return ["-swift-version", "6", "-I", str(products / "Modules"),
            *(option for file in module_maps(ROOT, products) for option in ("-Xcc", f"-fmodule-map-file={file}"))]


def check() -> int:
    failures, options = 0, compiler_options()
    programs = [block for block in blocks() if not block.is_manifest]
    for block in programs:
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "main.swift"
            file.write_text(f'#sourceLocation(file: "README.md", line: {block.line})\n{block.code}')
            status = subprocess.run(["swiftc", "-typecheck", *options, str(file)], check=False).returncode
        print(f"README.md:{block.line}: {'FAILED' if status else 'ok'}", flush=True)
        failures += status != 0
    if not programs:
        print("README.md has no Swift code")
    return 0 if programs and not failures else 1


def write_package(folder: Path, url: str) -> None:
    """The README's manifest and first program, depending on the package at `url` instead of the published one."""
    manifest = next(block for block in blocks() if block.is_manifest)
    program = next(block for block in blocks() if not block.is_manifest)
    code, changes = re.subn(r'\.package\(url: "[^"]*"', lambda _: f'.package(url: "{url}"', manifest.code)
    if changes != 1:
        sys.exit("The manifest in README.md should depend on one package by its URL.")
    sources = folder / "Sources" / re.search(r'executableTarget\(\s*name: "([^"]*)"', code)[1]
    sources.mkdir(parents=True)
    (folder / "Package.swift").write_text(code)
    (sources / "main.swift").write_text(program.code)
    (folder / "expected.txt").write_text(expected_output())


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("check", help="type-check every block against the debug build")
    package = commands.add_parser("package", help="write the first program as a package")
    package.add_argument("folder", type=Path)
    package.add_argument("url", help="where the package depends on OpenCoreData")
    arguments = parser.parse_args()
    if arguments.command == "check":
        return check()
    write_package(arguments.folder, arguments.url)
    return 0


if __name__ == "__main__":
    sys.exit(main())
