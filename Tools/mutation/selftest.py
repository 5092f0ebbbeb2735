"""Lines whose mutants are known, and what is chosen of a small package."""

import tempfile
from pathlib import Path

from .choice import FOLDERS, SOURCES, Mutant, candidates, choose
from .operators import changes
from .source import Source, masked
from .tree import broken

# A line, and what it means in its mutants; `!` is written for the call that asks for the mutant.
LINES = [
    ("if isNew { return }", {"if !(isNew) { return }", "if true { return }", "if false { return }"}),
    ("if let row { return }", set()),
    ("if let row, row.isOld { return }", {f"if let row, {x} {{ return }}" for x in ("!(row.isOld)", "true", "false")}),
    ("guard try load() else { return }", set()),
    ("guard case .data(let bytes) = value else { return }", set()),
    ('report("a { b && c } == \\(name)")', {'// report("a { b && c } == \\(name)")'}),
    ("return a < b", {"return a <= b"}),
    ("let x = a ?? b == c", {"let x = a ?? b != c"}),
    ("let x = list[i] as? Int == 3", {"let x = list[i] as? Int != 3"}),
    ("count += 1", {"count += 0", "// count += 1"}),
    ("let list: [Int] = make(1 + 12)", set()),
    ("static let one = Flags(rawValue: 1)", set()),
    ("return true", {"return false"}),
    ("func f(_ x: Bool = true) {", set()),
    ("use(value, isRead: false)", {"use(value, isRead: true)", "// use(value, isRead: false)"}),
    ("rows.reserveCapacity(count)", set()),
    ("let x = min(a, b(c))", {"let x = max(a, b(c))"}),
    ("let x = isNew ? a : b", {"let x = !(isNew) ? a : b"}),
    ("guard let x else { continue }", {"guard let x else { break }"}),
    ("let x = list.filter { !$0.isNew }",
     {f"let x = list.filter {{ {x} }}" for x in ("!(!$0.isNew)", "true", "false")}),
    ("// if isNew { return }", set()),
    ("#if os(Linux)", set()),
    ("extension Array where Element == Int {", set()),
    ("case .a where b: return true", set()),
    (".filter { $0.isNew }", set()),
    ("if a,", set()),
]
COMPILED = [
    ("return a < b.count", "return (@@ ? a <= b.count : a < b.count)"),
    ("x = f(a == b, c)", "x = f((@@ != (a == b)), c)"),
    ("return try a == b", "return try (@@ != (a == b))"),
    ("try save(x)", "if !@@ { try save(x) }"),
    ("return a === b && c", "return (@@ || (a === b)) && c"),
    ("if isNew { continue }", "if isNew { if @@ { break } else { continue } }"),
]
# Texts of which no line is a whole statement, or none may be changed.
LEFT_ALONE = [
    "func f() -> Int {\n  make(1)\n}",
    "let x = y\n  .map(a)\n  .filter(b)",
    "let text = \"\"\"\n  if a { return }\n  \"\"\"",
    "#if DEBUG\ncheck(a)\n#endif",
    "@inlinable\npublic func f() {\n  check(a)\n}",
    "init(a: Int) {\n  x = a\n}",
    "convenience init?(a: Int) {\n  (self.x, y) = (a.b, nil)\n  end = first\n}",
    "call(\n  a == b,\n  c\n)",
    "let x =\n  make(a)",
    "table.withLock { rows in\n  rows.take(a)\n}",
]
MASKED = [('f("a // b") // c', 'f("______")     '), ('x("\\(y("z"))") + 1', 'x("_________") + 1')]


def of_line(line: str):
    return changes(Source(f"func f() {{\n{'  ' + line}\n  end()\n}}"), 1)


def check_lines():
    for line, expected in LINES:
        found = {change.after.strip() for change in of_line(line)}
        if found != expected: yield f"{line}: {sorted(found)} instead of {sorted(expected)}"
        for change in of_line(line):
            if "\n" in change.text or change.text.count("@@") != 1: yield f"{line}: not one mutant: {change.text}"
    for line, expected in COMPILED:
        found = [change.text.strip() for change in of_line(line)]
        if expected not in found: yield f"{line}: no {expected} in {found}"
    for text in LEFT_ALONE:
        found = [change.after.strip() for options in candidates(text).values() for change in options]
        if found: yield f"{text!r}: is to be left alone, not {found}"
    for line, expected in MASKED:
        if masked(line) != expected: yield f"{line}: is masked as {masked(line)!r}"


def check_choice():
    with tempfile.TemporaryDirectory() as name:
        root = Path(name)
        for index, folder in enumerate(FOLDERS):
            (root / SOURCES / folder).mkdir(parents=True)
            body = "".join(f"  if a{line} {{ return }}\n" for line in range(4 * index + 1))
            (root / SOURCES / folder / "File.swift").write_text(f"func f() {{\n{body}}}\n")
        first, again, other = choose(root, 30, 1), choose(root, 30, 1), choose(root, 30, 2)
        if first != again: yield "the same seed gives other mutants"
        if first == other: yield "another seed gives the same mutants"
        if len(first) != 30 or {mutant.folder for mutant in first} != set(FOLDERS):
            yield f"a folder has no mutant: {[mutant.folder for mutant in first]}"
        if len({(mutant.file, mutant.line) for mutant in first}) != len(first): yield "a line has two mutants"
        for mutant in first:
            line = (root / mutant.file).read_text().split("\n")[mutant.line - 1]
            if line != mutant.before or f"mutated({mutant.number})" not in mutant.compiled: yield f"elsewhere: {mutant}"
        place = f"/x/{first[0].file}:{first[0].line}:3"
        if broken(first, f"{place}: error: no\n") != [first[0]]: yield "an error names no mutant"
        if broken(first, f"{place}: warning: no\n"): yield "a warning names a mutant"


def run_self_test() -> list[str]:
    wrong = [*check_lines(), *check_choice()]
    number = len(LINES) + len(COMPILED) + len(LEFT_ALONE) + len(MASKED)
    return wrong + [f"self-test: {number} lines and texts are mutated as they are to be, {len(wrong)} findings"]
