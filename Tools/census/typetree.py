"""Swift types as trees, so that two spellings of one type are equal.

A tree is a tuple whose first item says what it is:
  ("name", "Set", arguments)   ("function", parameters, result, effects)   ("tuple", elements)   ("escaping", type)
  ("inout", type)   ("meta", type)   ("some", type)   ("variadic", type)   ("all", types) for `A & B`
`[T]`, `[K: V]`, `T?` and `T!` become names with arguments. `any`, actors, `sending` and `@Sendable` are dropped.
"""

import re

TOKEN = re.compile(r"\s*(->|\.\.\.|==|@?[A-Za-z_$][\w$]*|`\w+`|\d[\d_.]*|\"(?:[^\"\\]|\\.)*\"|.)", re.S)
MODULES = ("Foundation.", "FoundationEssentials.", "CoreData.", "Swift.", "Dispatch.")
# Words before a type that do not make another type for the comparison. Attributes begin with @ and are dropped too.
DROPPED = {"any", "sending", "borrowing", "consuming", "isolated", "nonisolated", "__owned", "__shared"}
VOID = ("tuple", ())
ALIASES = {
    "Void": VOID,
    "TimeInterval": ("name", "Double", ()),
    "AnyClass": ("meta", ("name", "AnyObject", ())),
    "NSNotification.Name": ("name", "Notification.Name", ()),
}


class SyntaxProblem(Exception):
    """The text is not a declaration that the census can read."""


def named(name: str, *arguments: tuple) -> tuple:
    return ("name", name, arguments)


class Tokens:
    """The tokens of a text, and the place in them."""

    def __init__(self, text: str):
        self.text = text
        self.all = [token.strip("`") for token in TOKEN.findall(text.strip())]
        self.index = 0

    def peek(self, ahead: int = 0) -> str:
        return self.all[self.index + ahead] if self.index + ahead < len(self.all) else ""

    def next(self) -> str:
        token = self.peek()
        self.index += 1
        return token

    def take(self, token: str) -> bool:
        if self.peek() != token: return False
        self.index += 1
        return True

    def require(self, token: str) -> None:
        if not self.take(token):
            raise SyntaxProblem(f"{token!r} is missing before {self.peek()!r} in: {self.text}")

    def skip_parentheses(self) -> None:
        """Skips `(…)` where it comes next."""
        if self.peek() != "(": return
        depth = 0
        while self.peek():
            token = self.next()
            depth += (token == "(") - (token == ")")
            if depth == 0: return

    def skip_value(self) -> None:
        """Skips a default value, up to the comma or parenthesis behind it."""
        depth = 0
        while self.peek() and not (depth == 0 and self.peek() in (",", ")")):
            token = self.next()
            depth += (token in "([{") - (token in ")]}")


class TypeParser:
    """Reads types from tokens. `aliases` gives the tree of each type alias by its name."""

    def __init__(self, tokens: Tokens, aliases: dict[str, tuple]):
        self.tokens = tokens
        self.aliases = {**aliases, **ALIASES}

    def type(self) -> tuple:
        tokens, escaping, wrapper = self.tokens, False, None
        while True:
            word = tokens.peek()
            if word.startswith("@"):
                escaping |= tokens.next() == "@escaping"
                if word in ("@convention", "@isolated"): tokens.skip_parentheses()
            elif word in DROPPED and tokens.peek(1) not in (",", ")", ">", ""):
                tokens.next()
                if word == "nonisolated": tokens.skip_parentheses()
            elif word in ("inout", "some"):
                wrapper = tokens.next()
            else:
                break
        tree = self._joined()
        if wrapper: tree = (wrapper, tree)
        return ("escaping", tree) if escaping else tree

    def _joined(self) -> tuple:
        parts = [self._postfix()]
        while self.tokens.take("&"): parts.append(self._postfix())
        return parts[0] if len(parts) == 1 else ("all", tuple(sorted(parts)))

    def _postfix(self) -> tuple:
        tree, tokens = self._primary(), self.tokens
        while True:
            if tokens.take("?"):
                tree = named("Optional", tree)
            elif tokens.take("!"):
                tree = named("ImplicitlyUnwrappedOptional", tree)
            elif tokens.take("..."):
                tree = ("variadic", tree)
            elif tokens.peek() == "." and tokens.peek(1) in ("Type", "Protocol"):
                tokens.index += 2
                tree = ("meta", tree)
            else:
                return tree

    def _primary(self) -> tuple:
        if self.tokens.peek() == "(": return self._parenthesised()
        if self.tokens.take("["): return self._bracketed()
        return self._name()

    def _bracketed(self) -> tuple:
        key = self.type()
        if self.tokens.take(":"):
            value = self.type()
            self.tokens.require("]")
            return named("Dictionary", key, value)
        self.tokens.require("]")
        return named("Array", key)

    def _parenthesised(self) -> tuple:
        tokens, elements = self.tokens, []
        tokens.require("(")
        while not tokens.take(")"):
            # Labels of a tuple, and names of a closure's parameters.
            while re.fullmatch(r"\w+", tokens.peek()) and (
                    tokens.peek(1) == ":" or (tokens.peek() == "_" and tokens.peek(2) == ":")):
                tokens.index += 1 if tokens.peek(1) == ":" else 2
                tokens.require(":")
            elements.append(self.type())
            if tokens.peek() != ")": tokens.require(",")
        effects = self.effects()
        if tokens.take("->"): return ("function", tuple(elements), self.type(), effects)
        # A type in parentheses is that type; what was @escaping in them stays so.
        return elements[0] if len(elements) == 1 else ("tuple", tuple(elements))

    def effects(self) -> tuple:
        """`async` and `throws` in this order. The type that is thrown is left out."""
        effects = set()
        while self.tokens.peek() in ("async", "throws", "rethrows"):
            effects.add(self.tokens.next())
            self.tokens.skip_parentheses()
        return tuple(sorted(effects))

    def _name(self) -> tuple:
        tokens = self.tokens
        name = tokens.next()
        if not re.fullmatch(r"[A-Za-z_]\w*", name): raise SyntaxProblem(f"{name!r} is no type, in: {tokens.text}")
        arguments = self._arguments()
        while tokens.peek() == "." and tokens.peek(1) not in ("Type", "Protocol") and tokens.peek(1).isidentifier():
            tokens.next()
            name += f".{tokens.next()}"
            arguments = self._arguments() or arguments
        for module in MODULES: name = name.removeprefix(module)
        if name in self.aliases: return self.aliases[name]
        return ("name", name, arguments)

    def _arguments(self) -> tuple:
        if not self.tokens.take("<"): return ()
        arguments = [self.type()]
        while self.tokens.take(","): arguments.append(self.type())
        self.tokens.require(">")
        return tuple(arguments)


def spell(tree: tuple) -> str:
    """One spelling of a type, with sugar."""
    kind = tree[0]
    if kind == "name":
        name, arguments = tree[1], [spell(argument) for argument in tree[2]]
        if name in ("Optional", "ImplicitlyUnwrappedOptional") and arguments:
            inner = f"({arguments[0]})" if tree[2][0][0] in ("function", "all", "some") else arguments[0]
            return inner + ("?" if name == "Optional" else "!")
        if name == "Array" and arguments: return f"[{arguments[0]}]"
        if name == "Dictionary" and len(arguments) == 2: return f"[{arguments[0]}: {arguments[1]}]"
        return f"{name}<{', '.join(arguments)}>" if arguments else name
    if kind == "function":
        effects = "".join(f" {effect}" for effect in tree[3])
        return f"({', '.join(map(spell, tree[1]))}){effects} -> {spell(tree[2])}"
    if kind == "tuple": return f"({', '.join(map(spell, tree[1]))})" if tree[1] else "Void"
    if kind == "all": return " & ".join(map(spell, tree[1]))
    if kind == "meta": return f"{spell(tree[1])}.Type"
    if kind == "variadic": return f"{spell(tree[1])}..."
    return {"escaping": "@escaping ", "inout": "inout ", "some": "some "}[kind] + spell(tree[1])


class Matching:
    """Whether types of Apple's are ours. `generics` are the type parameters of Apple's declaration; each is bound to
    the type of ours that first stands for it. Where `ours` is given, those type parameters of ours may stand for types
    of Apple's instead. `aliases` gives types of ours that have another name than Apple's.
    """

    def __init__(self, aliases: dict[str, tuple], generics: set[str], ours: set[str] = frozenset()):
        self.aliases = aliases
        self.generics = generics
        self.ours = ours
        self.bound: dict[str, tuple] = {}

    def same(self, apple: tuple, ours: tuple, parameter: bool = False) -> bool:
        if parameter:
            # For a caller `T!` and `T?` are one type.
            apple, ours = (self._optional(tree) for tree in (apple, ours))
        if ours[0] == "name" and ours[1] in self.ours and not ours[2]:
            return self.bound.setdefault(ours[1], apple) == apple
        if apple[0] == "name" and apple[1] in self.generics and not apple[2]:
            return self.bound.setdefault(apple[1], ours) == ours
        if apple[0] == "name" and not apple[2]: apple = self.aliases.get(apple[1], apple)
        if apple[0] != ours[0]: return False
        if apple[0] == "name":
            # Apple's table has lost some arguments, as in `Set` for `Set<AnyHashable>`.
            return apple[1] == ours[1] and (not apple[2] or self._all(apple[2], ours[2]))
        if apple[0] == "function":
            return apple[3] == ours[3] and self._all(apple[1], ours[1]) and self.same(apple[2], ours[2])
        if apple[0] in ("tuple", "all"): return self._all(apple[1], ours[1])
        return self.same(apple[1], ours[1])

    def _all(self, apple: tuple, ours: tuple) -> bool:
        return len(apple) == len(ours) and all(map(self.same, apple, ours))

    def _optional(self, tree: tuple) -> tuple:
        if tree[:2] == ("name", "ImplicitlyUnwrappedOptional"): return named("Optional", *tree[2])
        return tree
