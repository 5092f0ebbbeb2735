"""Compares a declaration of Apple's with ours, and finds ours."""

from dataclasses import dataclass, field

from .declaration import TYPES, Declaration
from .symbols import Symbol, Symbols
from .typetree import Matching, named, spell

# Types that exist in Swift alone. A member of a class that names one is written in Swift, in an extension, where
# nothing can be overridden.
SWIFT_ONLY = ("NSPersistentStore.StoreType", "NSAttributeDescription.AttributeType",
              "NSManagedObjectContext.ConcurrencyType", "NSManagedObjectContext.ScheduledTaskType")
# More members that Apple writes in Swift, by class and name with labels.
# Properties of that kind, whose names functions have as well.
SWIFT_VARIABLES = {("NSPersistentContainer", "defaultDirectoryURL")}
SWIFT_MEMBERS = {("NSManagedObject", "subscript(_:)"), ("NSPersistentStoreCoordinator", "managedObjectID(for:)")}


@dataclass
class Outcome:
    """What the comparison of one row gives: `exact`, `different` or `absent`, and what differs, in words."""
    state: str
    symbol: Symbol | None = None
    differences: list[str] = field(default_factory=list)


class Comparison:
    """Compares Apple's declarations with symbols. `classes` are the classes that Apple writes in Objective-C, and
    `conformances` those conformances that have a row of their own, by type and protocol.
    """

    def __init__(self, symbols: Symbols, classes: set[str], conformances: set[tuple[str, str]],
                 with_access: bool = True):
        self.symbols = symbols
        self.with_access = with_access
        self.classes = classes
        self.conformances = conformances

    # MARK: What Apple's access is

    def is_open(self, owner: str, apple: Declaration) -> bool:
        """Whether Apple's declaration can be overridden or subclassed: classes and what they declare in Objective-C."""
        if not self.with_access or owner not in self.classes: return False
        if apple.kind == "class": return True
        if apple.kind not in ("var", "func", "subscript") or "static" in apple.modifiers: return False
        if apple.kind == "var" and (owner, apple.name) in SWIFT_VARIABLES: return False
        if self._is_generic(apple) or (owner, f"{apple.name}({apple.labels})") in SWIFT_MEMBERS: return False
        types = [parameter.type for parameter in apple.parameters] + [apple.type]
        return not any(name in spell(tree) for tree in types for name in SWIFT_ONLY)

    def _is_generic(self, apple: Declaration) -> bool:
        return bool(self._generics(apple))

    def _generics(self, apple: Declaration) -> set[str]:
        """The type parameters of Apple's declaration. Its table has lost the `<T>` of some."""
        texts = [spell(parameter.type) for parameter in apple.parameters]
        texts += [spell(apple.type)] if apple.type else []
        lost = {"T"} if any(word == "T" for text in texts for word in self._words(text)) else set()
        return {*apple.generics, *lost}

    def _words(self, text: str) -> list[str]:
        return "".join(character if character.isalnum() else " " for character in text).split()

    # MARK: What differs

    def differences(self, owner: str, apple: Declaration, symbol: Symbol) -> list[str]:
        ours = symbol.declaration
        found = [] if self._same_kind(owner, apple, ours) else [f"kind: {ours.kind} instead of {apple.kind}"]
        if apple.kind in TYPES: return found + self._of_type(owner, apple, symbol)
        if apple.kind == "var" and ours.kind == "case": return found
        if apple.kind not in ("init", "case") and apple.is_static != ours.is_static:
            found.append("static" if ours.is_static else "not static")
        found += self._of_signature(apple, ours) + self._of_initialiser(apple, ours)
        if "optional" in apple.modifiers and not symbol.has_default: found.append("required of who conforms")
        if self.is_open(owner, apple) and not symbol.is_open: found.append(self._access(symbol))
        return found

    def _access(self, symbol: Symbol) -> str:
        return f"access: {'final' if 'final' in symbol.declaration.modifiers else 'public'} instead of open"

    def _same_kind(self, owner: str, apple: Declaration, ours: Declaration) -> bool:
        if apple.kind == ours.kind: return True
        # A case without a value serves whoever reads a constant of its type.
        return apple.kind == "var" and ours.kind == "case" and apple.is_static and apple.type == named(owner)

    def _of_signature(self, apple: Declaration, ours: Declaration) -> list[str]:
        found, matching = [], Matching(self.symbols.aliases, self._generics(apple))
        if apple.labels != ours.labels: return [f"labels: {ours.labels} instead of {apple.labels}"]
        for theirs, own in zip(apple.parameters, ours.parameters):
            if not matching.same(theirs.type, own.type, parameter=True):
                found.append(f"type of {own.label}: {spell(own.type)} instead of {spell(theirs.type)}")
            if theirs.has_default and not own.has_default: found.append(f"no default for {own.label}")
        if apple.type and ours.type and not matching.same(apple.type, ours.type):
            found.append(f"type: {spell(ours.type)} instead of {spell(apple.type)}")
        if len(matching.bound) != len(ours.generics): found.append("generic" if ours.generics else "not generic")
        if apple.generics and {c.replace(" ", "") for c in apple.constraints} != {
                c.replace(" ", "") for c in ours.constraints}: found.append("constraints of type parameters")
        if apple.effects != ours.effects:
            found.append(f"effects: {' '.join(ours.effects) or 'none'} instead of {' '.join(apple.effects) or 'none'}")
        if apple.settable and not ours.settable: found.append("no public setter")
        return found

    def _of_initialiser(self, apple: Declaration, ours: Declaration) -> list[str]:
        if apple.kind != "init" or ours.kind != "init": return []
        found = []
        if apple.failable != ours.failable: found.append("failable" if ours.failable else "not failable")
        # What Apple makes of a class method is not inherited, and no subclass can call it by super.
        if "convenience" in ours.modifiers and not apple.modifiers & {"convenience", "not inherited"}:
            found.append("convenience, so no subclass can call it by super")
        if "required" in ours.modifiers and "required" not in apple.modifiers: found.append("required")
        return found

    def _of_type(self, owner: str, apple: Declaration, symbol: Symbol) -> list[str]:
        ours, found = symbol.declaration, []
        if ours.kind == "class" and self.is_open(owner, apple) and not symbol.is_open:
            found.append(self._access(symbol))
        if len(apple.generics) != len(ours.generics) or apple.constraints != ours.constraints:
            found.append("type parameters")
        known = self.symbols.ancestors(owner) | self.symbols.conforms(owner) | set(ours.inherits)
        for name in apple.inherits:
            if (owner, name) in self.conformances or name in known: continue
            if apple.kind == "enum" and self._raw_type(owner) == name: continue
            found.append(f"no {name}")
        return found

    def _raw_type(self, owner: str) -> str | None:
        for symbol in self.symbols.named(owner, "init"):
            if symbol.declaration.labels == "rawValue:": return spell(symbol.declaration.parameters[0].type)
        return None

    # MARK: Which of ours

    def conformance(self, apple: Declaration) -> Outcome:
        """A type of ours that lacks a protocol lacks the row; a protocol of ours that refines others is different."""
        symbol = self.symbols.type(apple.subject)
        if apple.name in self.symbols.conforms(apple.subject): return Outcome("exact", symbol)
        if symbol and symbol.declaration.kind == "protocol":
            return Outcome("different", symbol, [f"no {apple.name}"])
        return Outcome("absent")

    def type(self, owner: str, apple: Declaration) -> Outcome:
        symbol = self.symbols.type(owner)
        if not symbol: return Outcome("absent")
        found = self.differences(owner, apple, symbol)
        return Outcome("different" if found else "exact", symbol, found)

    def exact_member(self, owner: str, apple: Declaration) -> Symbol | None:
        return next((symbol for symbol in self.symbols.named(owner, apple.name)
                     if not self.differences(owner, apple, symbol)), None)

    def near_member(self, owner: str, apple: Declaration, taken: set[str]) -> Outcome:
        """Ours with the same name and labels that differs least. One that is another row's own counts only where it
        is generic and Apple's is one use of it.
        """
        outcomes = []
        for symbol in self.symbols.named(owner, apple.name):
            ours = symbol.declaration
            if ours.labels != apple.labels or not self._same_sort(apple, ours): continue
            if symbol.id in taken and not self._covers(apple, ours): continue
            outcomes.append(Outcome("different", symbol, self.differences(owner, apple, symbol)))
        return min(outcomes, key=lambda outcome: len(outcome.differences), default=Outcome("absent"))

    def _same_sort(self, apple: Declaration, ours: Declaration) -> bool:
        sorts = [{"func"}, {"init"}, {"subscript"}, {"var", "case"}, {"typealias"}]
        return any({apple.kind, ours.kind} <= sort for sort in sorts)

    def _covers(self, apple: Declaration, ours: Declaration) -> bool:
        if not ours.generics: return False
        matching = Matching(self.symbols.aliases, set(), set(ours.generics))
        return all(matching.same(theirs.type, own.type, parameter=True)
                   for theirs, own in zip(apple.parameters, ours.parameters))
