"""Swift declarations, read from a line of text."""

import re
from dataclasses import dataclass, field

from .typetree import VOID, SyntaxProblem, Tokens, TypeParser, spell

KINDS = {"class", "struct", "enum", "protocol", "typealias", "extension", "var", "let", "func", "init", "subscript",
         "case"}
TYPES = {"class", "struct", "enum", "protocol"}
MODIFIERS = {"open", "public", "final", "static", "class", "convenience", "required", "override", "optional", "weak",
             "unowned", "mutating", "nonmutating", "dynamic", "lazy", "nonisolated", "private", "internal", "indirect"}
NOT_INHERITED = "/*not inherited*/"


@dataclass(frozen=True)
class Parameter:
    """A parameter as callers see it. The label of an unlabelled one is `_`."""
    label: str
    type: tuple
    has_default: bool


@dataclass
class Declaration:
    """`kind` is a keyword, with `var` for `let`, or `conformance` for `A : P`. The protocol names a conformance."""
    kind: str
    name: str
    modifiers: set[str] = field(default_factory=set)
    generics: list[str] = field(default_factory=list)
    constraints: set[str] = field(default_factory=set)
    parameters: list[Parameter] = field(default_factory=list)
    type: tuple | None = None
    effects: tuple = ()
    failable: bool = False
    settable: bool = False
    inherits: list[str] = field(default_factory=list)
    subject: str = ""

    @property
    def is_static(self) -> bool:
        return bool(self.modifiers & {"static", "class"})

    @property
    def labels(self) -> str:
        return "".join(f"{parameter.label}:" for parameter in self.parameters)

    def spelled(self) -> str:
        """One spelling of what is compared, without access: equal for equal declarations."""
        if self.kind == "conformance": return f"{self.subject} : {self.name}"
        words = [word for word in ("optional", "convenience", "required") if word in self.modifiers]
        if self.is_static: words.append("static")
        if self.kind == "var": return " ".join([*words, "var", self._typed(": ")]) + self._accessors()
        if self.kind == "case": return f"case {self.name}"
        if self.kind == "typealias": return f"typealias {self._typed(' = ')}"
        if self.kind in TYPES: return f"{self.kind} {self.name}{self._generics()}{self._inherits()}{self._where()}"
        failable = "?" if self.failable else ""
        head = self.kind if self.kind in ("init", "subscript") else f"func {self.name}"
        effects = "".join(f" {effect}" for effect in self.effects)
        result = f" -> {spell(self.type)}" if self.type not in (None, VOID) else ""
        accessors = self._accessors() if self.kind == "subscript" else ""
        words.append(f"{head}{failable}{self._generics()}({self._parameters()}){effects}{result}{accessors}")
        return " ".join(words) + self._where()

    def _typed(self, sign: str) -> str:
        return f"{self.name}{sign}{spell(self.type)}" if self.type else self.name

    def _accessors(self) -> str:
        return " { get set }" if self.settable else " { get }"

    def _generics(self) -> str:
        return f"<{', '.join(self.generics)}>" if self.generics else ""

    def _inherits(self) -> str:
        return f" : {', '.join(self.inherits)}" if self.inherits else ""

    def _where(self) -> str:
        return f" where {', '.join(sorted(self.constraints))}" if self.constraints else ""

    def _parameters(self) -> str:
        return ", ".join(f"{parameter.label}: {spell(parameter.type)}{' = default' if parameter.has_default else ''}"
                         for parameter in self.parameters)


class Parser:
    """Reads one declaration."""

    def __init__(self, text: str, aliases: dict[str, tuple]):
        self.is_inherited = NOT_INHERITED not in text
        self.tokens = Tokens(re.sub(r"/\*.*?\*/", " ", text))
        self.types = TypeParser(self.tokens, aliases)

    def parse(self) -> Declaration:
        modifiers = self._modifiers()
        kind = self.tokens.peek()
        if kind not in KINDS: return self._conformance()
        self.tokens.next()
        if kind == "extension": return self._conformance()
        declaration = Declaration("var" if kind == "let" else kind, "", modifiers)
        if not self.is_inherited: declaration.modifiers.add("not inherited")
        if kind == "init":
            declaration.name = "init"
            declaration.failable = self.tokens.take("?") or self.tokens.take("!")
        elif kind == "subscript":
            declaration.name = "subscript"
        else:
            declaration.name = self._name()
        {"var": self._variable, "let": self._variable, "func": self._function, "init": self._function,
         "subscript": self._function, "typealias": self._alias, "case": lambda _: None}.get(
            kind, self._nominal)(declaration)
        if kind == "let": declaration.settable = False
        return declaration

    def _modifiers(self) -> set[str]:
        modifiers, tokens = set(), self.tokens
        while tokens.peek().startswith("@") or tokens.peek() in MODIFIERS:
            word = tokens.peek()
            # `class` is a modifier only before another word of a declaration.
            if word == "class" and tokens.peek(1) not in KINDS | MODIFIERS: break
            tokens.next()
            if word not in ("private", "internal") or tokens.peek() != "(": modifiers.add(word)
            tokens.skip_parentheses()
        return modifiers

    def _name(self) -> str:
        name = self.tokens.next()
        while self.tokens.take("."): name += f".{self.tokens.next()}"
        return name

    def _conformance(self) -> Declaration:
        subject = self._name()
        self.tokens.require(":")
        return Declaration("conformance", spell(self.types._name()), subject=subject)

    def _variable(self, declaration: Declaration) -> None:
        self.tokens.require(":")
        declaration.type = self.types.type()
        declaration.settable = self._accessors()

    def _accessors(self) -> bool:
        """Whether there is a setter: none where only `get` stands in braces."""
        if not self.tokens.take("{"): return True
        words = set()
        while not self.tokens.take("}"):
            words.add(self.tokens.next())
            if not self.tokens.peek(): raise SyntaxProblem(f"}} is missing in: {self.tokens.text}")
        return "set" in words

    def _alias(self, declaration: Declaration) -> None:
        self._generics(declaration)
        self.tokens.require("=")
        declaration.type = self.types.type()

    def _generics(self, declaration: Declaration) -> None:
        if not self.tokens.take("<"): return
        while not self.tokens.take(">"):
            name = self.tokens.next()
            declaration.generics.append(name)
            if self.tokens.take(":"): declaration.constraints.add(f"{name}: {spell(self.types.type())}")
            self.tokens.take(",")

    def _constraints(self, declaration: Declaration) -> None:
        if not self.tokens.take("where"): return
        while True:
            left = spell(self.types.type())
            sign = " == " if self.tokens.take("==") else ": "
            if sign == ": ": self.tokens.require(":")
            declaration.constraints.add(f"{left}{sign}{spell(self.types.type())}")
            if not self.tokens.take(","): return

    def _function(self, declaration: Declaration) -> None:
        self._generics(declaration)
        self.tokens.require("(")
        while not self.tokens.take(")"):
            declaration.parameters.append(self._parameter(declaration.kind == "subscript"))
            if self.tokens.peek() != ")": self.tokens.require(",")
        declaration.effects = self.types.effects()
        declaration.type = self.types.type() if self.tokens.take("->") else VOID
        self._constraints(declaration)
        if declaration.kind == "subscript": declaration.settable = self._accessors()

    def _parameter(self, in_subscript: bool) -> Parameter:
        label, name = self.tokens.next(), ""
        if self.tokens.peek() != ":": name = self.tokens.next()
        self.tokens.require(":")
        tree = self.types.type()
        has_default = self.tokens.take("=")
        if has_default: self.tokens.skip_value()
        return Parameter("_" if in_subscript and not name else label, tree, has_default)

    def _nominal(self, declaration: Declaration) -> None:
        self._generics(declaration)
        if self.tokens.take(":"):
            declaration.inherits.append(spell(self.types._name()))
            while self.tokens.take(","): declaration.inherits.append(spell(self.types._name()))
        self._constraints(declaration)


def parse(text: str, aliases: dict[str, tuple] | None = None) -> Declaration:
    return Parser(text, aliases or {}).parse()
