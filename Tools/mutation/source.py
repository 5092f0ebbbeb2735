"""Lines of Swift as far as mutants need them: what is code, and where an expression begins and ends."""

import re

OPENING, CLOSING = "([{", ")]}"
# What an operand cannot reach over, to its left: operators that bind less, and words that begin an expression.
LEFT_END = re.compile(r"(?:&&|\|\||(?<=\s)[?:=]|(?<=\w):|[-+*/%&|]=|[=!]==?|(?<=\s)[<>]=?|,|->"
                      r"|\b(?:return|if|guard|while|where|in|try[?!]?|await|else|throw|case))\s+$")
RIGHT_END = re.compile(r"\s+(?:&&|\|\||[?:=]\s|[-+*/%&|]=|[=!]==?|[<>]=?\s|else\b|where\b|in\b)|,")


def masked(text: str) -> str:
    """The text with the content of its string literals and its comment replaced by `_`, of the same length."""
    result, index = list(text), 0
    while index < len(text):
        if text.startswith("//", index):
            result[index:] = " " * (len(text) - index)
            break
        if text[index] != '"':
            index += 1
            continue
        end = string_end(text, index)
        for position in range(index + 1, end): result[position] = "_"
        index = end + 1
    return "".join(result)


def string_end(text: str, start: int) -> int:
    """Where the literal that begins there ends; interpolations, with literals of their own, are a part of it."""
    index, depth = start + 1, 0
    while index < len(text):
        if text.startswith("\\(", index) and not depth: depth, index = 1, index + 1
        elif depth: depth += {"(": 1, ")": -1}.get(text[index], 0)
        elif text[index] == "\\": index += 1
        elif text[index] == '"': return index
        index += 1
    return len(text) - 1


def is_balanced(text: str) -> bool:
    """Whether each bracket of a masked text has its partner in it."""
    open_ones = []
    for character in text:
        if character in OPENING: open_ones.append(character)
        elif character in CLOSING:
            if not open_ones or OPENING.index(open_ones.pop()) != CLOSING.index(character): return False
    return not open_ones


def end_of_group(text: str, start: int) -> int | None:
    """Where the bracket at `start` is closed."""
    depth = 0
    for index in range(start, len(text)):
        if text[index] in OPENING: depth += 1
        elif text[index] in CLOSING:
            depth -= 1
            if depth == 0: return index
    return None


def left_operand(text: str, end: int) -> int:
    """Where the operand that ends before `end` begins, in a masked text."""
    depth, index = 0, end
    while index > 0:
        character = text[index - 1]
        if character in CLOSING: depth += 1
        elif character in OPENING:
            if depth == 0: break
            depth -= 1
        elif depth == 0 and character == " " and LEFT_END.search(text[:index]): break
        index -= 1
    while index < end and text[index] == " ": index += 1
    return index


def right_operand(text: str, start: int) -> int:
    """Where the operand that begins at `start` ends."""
    depth, index = 0, start
    while index < len(text):
        character = text[index]
        if depth == 0 and (character in CLOSING or character == "{" or RIGHT_END.match(text, index)): break
        if character in OPENING: depth += 1
        elif character in CLOSING: depth -= 1
        index += 1
    while index > start and text[index - 1] == " ": index -= 1
    return index


def split(text: str, separator: str) -> list[tuple[int, int]]:
    """The parts of a masked text between separators outside of brackets, as positions."""
    parts, depth, start, index = [], 0, 0, 0
    while index < len(text):
        if text[index] in OPENING: depth += 1
        elif text[index] in CLOSING: depth -= 1
        elif depth == 0 and text.startswith(separator, index):
            parts.append((start, index))
            start = index + len(separator)
            index = start
            continue
        index += 1
    return parts + [(start, len(text))]


class Source:
    """The lines of a file, masked, and which of them are no statements: comments, long literals, declarations."""

    def __init__(self, text: str):
        self.lines = text.split("\n")
        self.masked = [masked(line) for line in self.lines]
        self.is_code = [True] * len(self.lines)
        self.is_inlined = [False] * len(self.lines)
        self._leave_out_texts()
        self._mark_bodies()

    def _leave_out_texts(self):
        in_text = in_comment = in_condition = False
        for index, line in enumerate(self.lines):
            stripped = line.strip()
            if stripped.startswith("/*"): in_comment = True
            if in_text or in_comment or in_condition or '"""' in line or "#" in self.masked[index]:
                self.is_code[index] = False
            if line.count('"""') % 2: in_text = not in_text
            if "*/" in line: in_comment = False
            if stripped.startswith("#if"): in_condition = True
            if stripped.startswith("#endif"): in_condition = False
            if stripped.startswith(("//", "@", "import ")) and not re.search(r"\b(?:func|var)\b", stripped):
                self.is_code[index] = False
            # A line that is not whole, and declarations without a body.
            if re.match(r"\s*(?:\w+ )*(?:init|func|typealias|protocol|subscript)\b[^{]*$", self.masked[index]):
                self.is_code[index] = False

    def _mark_bodies(self):
        """What other modules inline calls nothing that is not public."""
        for index, line in enumerate(self.lines):
            if not re.search(r"@(?:inlinable|usableFromInline|_alwaysEmitIntoClient)", line): continue
            indent = len(line) - len(line.lstrip())
            for after in range(index, len(self.lines)):
                self.is_inlined[after] = True
                if after > index and re.match(rf" {{{indent}}}\}}|\s*$", self.lines[after]): break

    def usable(self) -> list[int]:
        return [index for index in range(len(self.lines)) if self.is_code[index] and not self.is_inlined[index]
                and self.masked[index].strip()]

    def previous(self, index: int) -> str:
        """The code line before."""
        while index > 0 and not self.masked[index - 1].strip(): index -= 1
        return self.masked[index - 1].strip() if index else ""

    def following(self, index: int) -> str:
        while index + 1 < len(self.masked) and not self.masked[index + 1].strip(): index += 1
        return self.masked[index + 1].strip() if index + 1 < len(self.masked) else ""
