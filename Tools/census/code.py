"""Swift's sources without comments and without what strings say."""

import re

# What ends a piece of code, and the quotes of a string with its number signs.
PIECE = re.compile(r'//[^\n]*|/\*|(?P<signs>#*)(?P<quotes>"""|")|[()]')
COMMENT = re.compile(r"/\*|\*/")


def code_of(text: str) -> str:
    """The code of a source. Of a string its quotes are left, and the code that is interpolated into it."""
    found: list[str] = []
    _code(text, 0, False, found)
    return "".join(found)


def _code(text: str, at: int, is_interpolated: bool, found: list[str]) -> int:
    """Adds the code from `at` on; interpolated code ends with its parenthesis. Gives where it ends."""
    depth = 0
    while match := PIECE.search(text, at):
        found.append(text[at:match.start()])
        at, piece = match.end(), match[0]
        if piece == "/*":
            at = _comment(text, at)
        elif match["quotes"]:
            at = _string(text, at, match["quotes"], match["signs"], found)
        elif piece in "()":
            depth += 1 if piece == "(" else -1
            if is_interpolated and depth < 0: return at
            found.append(piece)
    found.append(text[at:])
    return len(text)


def _comment(text: str, at: int) -> int:
    depth = 1
    while depth and (match := COMMENT.search(text, at)):
        depth += 1 if match[0] == "/*" else -1
        at = match.end()
    return at if not depth else len(text)


def _string(text: str, at: int, quotes: str, signs: str, found: list[str]) -> int:
    found.append(quotes)
    piece = re.compile(rf"{quotes}{signs}|\\{signs}\(" + ("" if signs else r"|\\."), re.DOTALL)
    while match := piece.search(text, at):
        at = match.end()
        if match[0].startswith('"'):
            found.append(quotes)
            return at
        if match[0].endswith("(") and match[0] != "\\\\(":
            found.append(" ")
            at = _code(text, at, True, found)
            found.append(" ")
    return len(text)
