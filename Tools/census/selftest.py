"""Pairs of declarations whose outcome is known, and checks of a baseline whose findings are known."""

import tempfile
from pathlib import Path

from .comparison import Comparison
from .declaration import parse
from .code import code_of
from .record import Call, Entry, Tests, check, unassigned
from .symbols import Symbols
from .table import Row, judge

# What Apple has, the access of ours, what we have, and the state. All are members of the class C.
MEMBERS = [
    ("func f(a: Int)", "open", "func f(a b: Int)", "exact"),
    ("func f( _ x: Int, in y: [String : Any]? = nil ) throws", "open",
     "@discardableResult func f(_ z: Int, in w: Optional<Dictionary<String, Any>> = nil) throws(StoreError)", "exact"),
    ("func f() -> Error?", "open", "@MainActor @preconcurrency func f() -> (any Error)?", "exact"),
    ("func f(a: Foundation.URL) -> [NSManagedObject]", "open", "func f(a: URL) -> Array<CoreData.NSManagedObject>",
     "exact"),
    ("func f(a: Set)", "open", "func f(a: Set<AnyHashable>)", "exact"),
    ("func f(a: TimeInterval)", "open", "func f(a: Double)", "exact"),
    ("func f(a: Int!)", "open", "func f(a: Int?)", "exact"),
    ("func f() -> Int!", "open", "func f() -> Int?", "different"),
    ("func f(a: AnyClass?)", "open", "func f(a: AnyObject.Type?)", "exact"),
    ("func f(a: Int)", "public", "func f(a: Int)", "different"),
    ("func f(a: Int)", "public", "final func f(a: Int)", "different"),
    ("func f(a: Int)", "open", "func f(b: Int)", "absent"),
    ("func f(a: Int)", "open", "func f(a: Int64)", "different"),
    ("func f(a: Int)", "open", "class func f(a: Int)", "different"),
    ("func f(a: Int = 1)", "open", "func f(a: Int)", "different"),
    ("func f(a: Int)", "open", "func f(a: Int) throws", "different"),
    ("func f(a: Int) async throws", "open", "func f(a: Int) throws", "different"),
    ("func f(_ b: @escaping () -> Void)", "open", "func f(_ b: sending @escaping () -> ())", "exact"),
    ("func f(_ b: @escaping () -> Void)", "open", "func f(_ b: () -> Void)", "different"),
    ("func f(_ b: @escaping () throws -> T) async rethrows -> T", "public",
     "final func f<R>(_ b: @escaping () throws -> R) async rethrows -> sending R", "exact"),
    ("func f<T>(_ r: NSFetchRequest<T>) -> [T] where T : P", "public",
     "func f<T>(_ r: NSFetchRequest<T>) -> [T] where T : P", "exact"),
    ("func f(_ r: NSFetchRequest<P>)", "open", "func f<T>(_ r: NSFetchRequest<T>) where T : P", "different"),
    ("func f(type: NSPersistentStore.StoreType)", "public", "func f(type: NSPersistentStore.StoreType)", "exact"),
    ("class var v: Int { get }", "open", "class var v: Int { get }", "exact"),
    ("class var v: Int { get }", "public", "static let v: Int", "different"),
    ("static let v: Int", "public", "static var v: Int { get }", "exact"),
    ("class var v: Int { get }", "open", "class func v() -> Int", "absent"),
    ("@NSCopying var v: Int?", "open", "var v: Int? { get set }", "exact"),
    ("unowned(unsafe) var v: C? { get }", "open", "weak var v: C? { get }", "exact"),
    ("var v: Int", "open", "var v: Int { get }", "different"),
    ("var v: Int { get }", "open", "var v: Int", "exact"),
    ("var v: ((A, B) throws -> Void)?", "open", "var v: Optional<(A, B) throws -> ()>", "exact"),
    ("static let v: C", "public", "case v", "exact"),
    ("case v", "public", "static let v: C", "different"),
    ("init(a: Int)", "public", "init(a: Int)", "exact"),
    ("init(a: Int)", "public", "convenience init(a: Int)", "different"),
    ("init(a: Int)", "public", "required init(a: Int)", "different"),
    ("convenience init(a: Int)", "public", "init(a: Int)", "exact"),
    ("/*not inherited*/ init?(a: Int)", "public", "convenience init?(a: Int)", "exact"),
    ("init?(a: Int)", "public", "init(a: Int)", "different"),
    ("subscript(key: String) -> Any? { get set }", "open", "subscript(key: String) -> Any? { get set }", "exact"),
    ("subscript(key: String) -> Any? { get set }", "open", "subscript(key: String) -> Any? { get }", "different"),
    ("optional func f()", "open", "func f()", "different"),
]
# Apple's type, and ours with its access.
TYPES = [
    ("class C : NSObject", "open", "class C", "exact"),
    ("class C", "public", "final class C", "different"),
    ("class C", "public", "struct C", "different"),
    ("class C<T> : NSObject where T : P", "open", "class C<U> where U : Q", "different"),
    ("class C : NSCoding", "open", "class C", "different"),
]


# A source, and what is code in it.
SOURCES = [
    ("a // b\nc", "a \nc"),
    ("a /* b /* c */ d */ e", "a  e"),
    ('a("b", "\\"c", "")', 'a("", "", "")'),
    ('a("b \\(c("d")) e") f', 'a(" c("") ") f'),
    ('a(#"b \\(c) " \\#(d)"#)', 'a(" d ")'),
    ('a("""\n b "c" \\(d)\n """) e', 'a(""" d """) e'),
    ('a("// b") c', 'a("") c'),
]


def entry(path: list[str], access: str, text: str, number: int = 0) -> dict:
    """A symbol as it stands in a symbol graph."""
    return {"identifier": {"precise": f"s:{number}:{'.'.join(path)}"}, "kind": {"identifier": "swift.test"},
            "pathComponents": path, "accessLevel": access, "declarationFragments": [{"spelling": text}]}


def graph(entries: list[dict]) -> list[dict]:
    relations = [{"kind": "inheritsFrom", "source": "s:0:C", "target": "x", "targetFallback": "Foundation.NSObject"}]
    return [{"symbols": [entry(["C"], "open", "class C"), *entries], "relationships": relations}]


def row(text: str, recorded: str = "exact") -> Row:
    return Row("C", text, recorded, "", False, parse(text))


def member_state(apple: str, access: str, ours: str) -> str:
    rows = [row("class C"), row(apple)]
    judge(rows, Symbols(graph([entry(["C", "m"], access, ours, 1)])), {})
    return rows[1].state


def type_state(apple: str, access: str, ours: str) -> str:
    symbols = Symbols([{**graph([])[0], "symbols": [entry(["C"], access, ours)]}])
    return Comparison(symbols, {"C"}, set()).type("C", parse(apple)).state


def stub_states() -> list[tuple[str, str, str]]:
    """A recorded stub without a test, with one, and with one while its documentation says that it is unfinished."""
    unfinished = {**entry(["C", "f"], "open", "func f()", 1), "docComment": {"lines": [{"text": "Not yet: throws."}]}}
    states = []
    for symbol, tests, expected in ((entry(["C", "f"], "open", "func f()", 1), {}, "stub"),
                                    (entry(["C", "f"], "open", "func f()", 1), {("C", "func f()"): "A/b"}, "exact"),
                                    (unfinished, {("C", "func f()"): "A/b"}, "stub")):
        rows = [row("class C"), row("func f()", "stub")]
        judge(rows, Symbols(graph([symbol])), tests)
        states.append((f"a recorded stub with {tests}", rows[1].state, expected))
    return states


def check_counts() -> list[tuple[str, int, int]]:
    """How many lines the check of one row finds."""
    counts = []
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "Tests").mkdir()
        (Path(folder) / "Tests" / "A.swift").write_text(
            '@Suite struct A {\n  // h(), as H(1) does\n  @Test func b() { c.f(); D(1); i("j K(2)"); let l: L } }\n')
        tests = Tests(Path(folder))
        for name, now, recorded, baseline, expected in (
                ("an unchanged row", "exact", "exact", Entry("exact"), 0),
                ("a row that waits for a step", "stub", "stub", Entry("stub", "", "step 10: migration"), 0),
                ("a step that is over", "stub", "stub", Entry("stub", "", "step 6: migration"), 1),
                ("no step", "stub", "stub", Entry("stub", "", "migration"), 1),
                ("an exact row that waits", "exact", "exact", Entry("exact", "", "step 10: migration"), 1),
                ("a worse row", "stub", "stub", Entry("exact"), 1),
                ("a better row", "exact", "exact", Entry("different"), 0),
                ("a row that is not there", "exact", "exact", None, 1),
                ("a left stub without a test", "exact", "stub", Entry("stub"), 1),
                ("a left stub with a test", "exact", "stub", Entry("exact", "A/b"), 0),
                ("a test that is not there", "exact", "stub", Entry("exact", "A/d"), 1),
                ("no name of a test", "exact", "stub", Entry("exact", "b"), 1)):
            judged = row("func f()", recorded)
            judged.state = now
            found = check([judged], {judged.id: baseline} if baseline else {}, {}, tests)
            counts.append((name, len(found), expected))
        for name, call, expected in (
                ("a test that calls it", Call.of_word("f"), False),
                ("a test that calls something else", Call.of_word("g"), True),
                ("a name in a comment", Call.of_word("h"), True),
                ("a name in a string", Call.of_word("j"), True),
                ("a call of an initialiser", Call.of_initialiser("D"), False),
                ("an initialiser in a comment", Call.of_initialiser("H"), True),
                ("an initialiser in a string", Call.of_initialiser("K"), True),
                ("a type without a call", Call.of_initialiser("L"), True)):
            counts.append((name, tests.problem("A/b", call) is not None, expected))
        stub = row("func f()", "stub")
        stub.state = "stub"
        for name, step, exceptions, loose, wrong in (
                ("no step and no exception", "", {}, 1, 0),
                ("an open step", "step 11: batch requests", {}, 0, 0),
                ("a word for a step", "later", {}, 1, 1),
                ("an exception", "", {stub.id: "why"}, 0, 0),
                ("an exception without a reason", "", {stub.id: " "}, 0, 1),
                ("an exception that waits", "step 10: migration", {stub.id: "why"}, 0, 1)):
            baseline = {stub.id: Entry("stub", "", step)}
            counts.append((f"unassigned: {name}", len(unassigned([stub], baseline, exceptions)), loose))
            counts.append((f"wrong: {name}", len(check([stub], baseline, exceptions, tests)), wrong))
    return counts


def run_self_test() -> list[str]:
    """One line for each outcome that is not what it should be, and a last line that counts."""
    outcomes = [(f"{apple}  and  {access} {ours}", member_state(apple, access, ours), expected)
                for apple, access, ours, expected in MEMBERS]
    outcomes += [(f"{apple}  and  {access} {ours}", type_state(apple, access, ours), expected)
                 for apple, access, ours, expected in TYPES]
    outcomes += [(f"the code of {text}", code_of(text), expected) for text, expected in SOURCES]
    outcomes += stub_states() + check_counts()
    wrong = [f"WRONG  {name}: {found} instead of {expected}" for name, found, expected in outcomes if found != expected]
    return [*wrong, f"{len(outcomes)} outcomes, {len(wrong)} wrong"]
