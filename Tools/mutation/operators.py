"""The ways to change one line. Each gives texts with `@@` where the call that asks for the mutant comes."""

import re
from dataclasses import dataclass
from typing import Callable, Iterator

from .source import Source, end_of_group, is_balanced, left_operand, right_operand, split

CONDITION = re.compile(r"^(\s*(?:\} else )?(?:if|guard) )(.+?)( else \{.*| \{.*)$")
# What is no expression of a truth value by itself, or none that may stand in brackets.
BINDS = re.compile(r"\b(?:let|var|case|try|await)\b|[^=!<>]=[^=]|#")
COMPARISON = re.compile(r" (==|!=|===|!==) ")
LIMITS = {"<": "<=", "<=": "<", ">": ">=", ">=": ">"}
LIMIT = re.compile(r" (<=|>=|<|>) ")
ONE = re.compile(r"(?<=[\w)\]] )(&?[-+]=? )1(?![\w.])")
FLAG = re.compile(r"(?<=[(\s])(?:(?<=: )|(?<=return )|(?<== ))(true|false)(?=[,)}\s]|$)")
CALL = re.compile(r"^(\s+)((?:try )?[a-zA-Z_$][\w.?!]*(?:\[[^\]]*\][?!]?)?[\w.?!]*\(.*\)|_ = (?:try )?[\w.]+\(.*\))$")
NO_CALL = re.compile(r"\s*(?:try )?(?:super\.)?(?:self\.)?(?:init|misuse|fatalError|preconditionFailure|return|if|"
                     r"guard|switch|while|for|throw|case|defer|precondition|assert|withExtendedLifetime)\b")
# What only makes room or waits for memory: without it all is the same, slower.
ROOM = re.compile(r"\.reserve(?:Capacity)?\(|keepingCapacity|\bcd_prefetch\(|\.prefetch\(|capacity")
ASSIGNMENT = re.compile(r"^(\s+)((?!let |var |return |if |_ )[a-zA-Z_(][\w.?!,() ]*(?:\[[^\]]*\][\w.?!]*)* "
                        r"(?:[-+|&]?=) [^{]+)$")
JUDGING = re.compile(r"\.?(?:filter|removeAll|contains|allSatisfy|first|firstIndex|lastIndex|count|drop|prefix)"
                     r"(?:\(where: )? ?\{ ((?:\w+(?:, \w+)* in )?)([^{}]+?) \}")
WHERE = re.compile(r" where (.+?)( \{.*)?$")
CHOICE_END = re.compile(r"(?:[^=!<>]=|,|:|\b(?:return|try|in|case))\s$")
CHOICE = re.compile(r" \? ")
BOUND = re.compile(r"\b(min|max)\(")


@dataclass(frozen=True)
class Change:
    """A mutant of one line. `after` is what the line means where the mutant is chosen, `text` what is compiled."""
    operator: str
    text: str
    after: str


def truth(line: str, start: int, end: int) -> Iterator[Change]:
    """A condition that is always true, never true, or the opposite."""
    part = line[start:end]
    def changed(operator, compiled, meaning):
        return Change(operator, line[:start] + compiled + line[end:], line[:start] + meaning + line[end:])
    yield changed("condition: opposite", f"(@@ != ({part}))", f"!({part})")
    yield changed("condition: always", f"(@@ || ({part}))", "true")
    yield changed("condition: never", f"(!@@ && ({part}))", "false")


def parts_of_truth(line: str, mask: str, start: int, end: int) -> Iterator[Change]:
    """Mutants of the parts of a condition that commas, && and || join."""
    for first, last in split(mask[start:end], ","):
        text = mask[start + first:start + last]
        if BINDS.search(text) or not is_balanced(text) or not text.strip() or " ? " in text: continue
        joined = "||" if len(split(text, " || ")) > 1 else "&&"
        for low, high in split(text, f" {joined} "):
            while text[low] == " ": low += 1
            yield from truth(line, start + first + low, start + first + high)


def conditions(source: Source, index: int) -> Iterator[Change]:
    line, mask = source.lines[index], source.masked[index].rstrip()
    found = CONDITION.match(mask)
    if not found or "{" in found.group(2): return
    yield from parts_of_truth(line, mask, found.start(2), found.end(2))


def filters(source: Source, index: int) -> Iterator[Change]:
    line, mask = source.lines[index], source.masked[index].rstrip()
    found = WHERE.search(mask)
    if found and is_balanced(found.group(1)) and "extension" not in mask and "func" not in mask and "catch" not in mask:
        yield from parts_of_truth(line, mask, found.start(1), found.end(1))
    for found in JUDGING.finditer(mask):
        if not BINDS.search(found.group(2)) and is_balanced(found.group(2)) and "," not in found.group(2):
            yield from parts_of_truth(line, mask, found.start(2), found.end(2))


def truths_returned(source: Source, index: int) -> Iterator[Change]:
    """`return a && b`, `let isX = a && b`."""
    line, mask = source.lines[index], source.masked[index].rstrip()
    found = re.search(r"(?:\breturn | = )(.+?)( \})?$", mask)
    if not found or not re.search(r" (?:&&|\|\|) ", found.group(1)) or not is_balanced(found.group(1)): return
    if "{" not in found.group(1): yield from parts_of_truth(line, mask, found.start(1), found.end(1))


def operands(mask: str, found: re.Match) -> tuple[int, int] | None:
    """Where the operands of an operator begin and end; none where it stands in no expression that is known."""
    start, end = left_operand(mask, found.start()), right_operand(mask, found.end())
    whole = mask[start:end]
    if start >= found.start() or end <= found.end() or not is_balanced(mask[start:found.start()]): return None
    is_plain = is_balanced(mask[found.end():end]) and "{" not in whole
    return (start, end) if is_plain and not re.search(r"\b(?:let|var|case|func)\b", whole) else None


def comparisons(source: Source, index: int) -> Iterator[Change]:
    line, mask = source.lines[index], source.masked[index].rstrip()
    if re.search(r"\b(?:extension|operator|func ==|where [A-Z])", mask): return
    for found in COMPARISON.finditer(mask):
        place = operands(mask, found)
        if not place or found.end() >= len(mask): continue
        (start, end), sign = place, found.group(1)
        other = {"==": "!=", "!=": "==", "===": "!==", "!==": "==="}[sign]
        yield Change("comparison: opposite", f"{line[:start]}(@@ != ({line[start:end]})){line[end:]}",
                     f"{line[:found.start(1)]}{other}{line[found.end(1):]}")


def limits(source: Source, index: int) -> Iterator[Change]:
    line, mask = source.lines[index], source.masked[index].rstrip()
    if re.search(r"\b(?:extension|operator|func|import)\b", mask): return
    for found in LIMIT.finditer(mask):
        place = operands(mask, found)
        if not place: continue
        (start, end), other = place, LIMITS[found.group(1)]
        changed = line[start:found.start(1)] + other + line[found.end(1):end]
        yield Change("limit: by one", f"{line[:start]}(@@ ? {changed} : {line[start:end]}){line[end:]}",
                     line[:start] + changed + line[end:])


def ones(source: Source, index: int) -> Iterator[Change]:
    line, mask = source.lines[index], source.masked[index].rstrip()
    if re.match(r"\s*(?:\w+ )*static let\b", mask): return
    for found in ONE.finditer(mask):
        start, end = found.end() - 1, found.end()
        yield Change("number: one left out", f"{line[:start]}(@@ ? 0 : 1){line[end:]}", f"{line[:start]}0{line[end:]}")


def flags(source: Source, index: int) -> Iterator[Change]:
    line, mask = source.lines[index], source.masked[index].rstrip()
    # Not the initial values of properties, nor standard values of parameters.
    if re.search(r"\b(?:func|init\(|subscript|let|var|case|default)\b", mask): return
    for found in FLAG.finditer(mask):
        start, end = found.span(1)
        other = "false" if found.group(1) == "true" else "true"
        yield Change("truth value: other", f"{line[:start]}(@@ != {found.group(1)}){line[end:]}",
                     line[:start] + other + line[end:])


def stands_alone(source: Source, index: int) -> bool:
    """Whether a line is a whole statement, whose value nobody uses."""
    before, after = source.previous(index), source.following(index)
    if not re.search(r"[{})\]\w?!\"]$|\bin$", before) or re.search(r"(?:\breturn|\belse|=)$", before): return False
    if re.match(r"[.?:{)&|+\-*/<>=]|else\b|where\b", after): return False
    if before.endswith(":") or re.match(r"(?:@|case |default)", before): return False
    is_only = re.search(r"\{$|\bin$", before) and after.startswith("}")
    statement = re.match(r"(?:\} )?(?:else\b|if |guard |for |while |do |defer |catch |repeat )", before)
    # The only line of a function may be its value.
    return not is_only or statement or (re.search(r"\bfunc |\binit|\bset ", before) and "->" not in before)


def statements(source: Source, index: int) -> Iterator[Change]:
    line, mask = source.lines[index], source.masked[index].rstrip()
    if not is_balanced(mask) or not stands_alone(source, index): return
    found = CALL.match(mask)
    if found and not NO_CALL.match(mask) and "{" not in mask:
        operator = "statement: left out"
    else:
        found = ASSIGNMENT.match(mask)
        if not found or "{" in mask: return
        # A property must have a value before an initialiser ends.
        if re.match(r"\s*\(?(?:self\.)?\w+(?:, \w+)*\)? = ", mask) and in_initialiser(source, index): return
        operator = "assignment: left out"
    if re.search(r"\b(?:let|var)\b", mask) or ROOM.search(mask): return
    indent, statement = found.group(1), line[len(found.group(1)):].split("  //")[0].rstrip()
    yield Change(operator, f"{indent}if !@@ {{ {statement} }}", f"{indent}// {statement}")


def in_initialiser(source: Source, index: int) -> bool:
    for before in range(index, -1, -1):
        mask = source.masked[before].rstrip()
        if re.search(r"(?<![.\w])init[?!]?[(<]", mask): return True
        if re.match(r"\s*(?:[\w()]+ )*(?:func|var|subscript|deinit)\b.*\{$", mask): return False
    return False


def jumps(source: Source, index: int) -> Iterator[Change]:
    line, mask = source.lines[index], source.masked[index].rstrip()
    for found in re.finditer(r"(?<=\{ )continue(?= \})|(?<=^)\s+continue$", mask):
        start = found.end() - len("continue")
        yield Change("jump: break for continue",
                     f"{line[:start]}if @@ {{ break }} else {{ continue }}{line[start + 8:]}",
                     f"{line[:start]}break{line[start + 8:]}")


def choices(source: Source, index: int) -> Iterator[Change]:
    """`a ? b : c`."""
    line, mask = source.lines[index], source.masked[index].rstrip()
    for found in CHOICE.finditer(mask):
        start = left_choice(mask, found.start())
        part = mask[start:found.start()]
        if not part or not is_balanced(part) or BINDS.search(part) or "{" in part or "??" in part: continue
        yield Change("choice: other", f"{line[:start]}(@@ != ({line[start:found.start()]})){line[found.start():]}",
                     f"{line[:start]}!({line[start:found.start()]}){line[found.start():]}")


def left_choice(mask: str, end: int) -> int:
    """Where the condition before a `?` begins: it may have comparisons, && and ||."""
    depth, index = 0, end
    while index > 0:
        character = mask[index - 1]
        if character in ")]}": depth += 1
        elif character in "([{":
            if depth == 0: break
            depth -= 1
        elif depth == 0 and character == " " and CHOICE_END.search(mask[:index]): break
        index -= 1
    while index < end and mask[index] == " ": index += 1
    return index


def bounds(source: Source, index: int) -> Iterator[Change]:
    line, mask = source.lines[index], source.masked[index].rstrip()
    for found in BOUND.finditer(mask):
        end = end_of_group(mask, found.end() - 1)
        if end is None or found.start() and mask[found.start() - 1] == "." or "{" in mask[found.end():end]: continue
        other = "max" if found.group(1) == "min" else "min"
        inside = line[found.end():end]
        before, after = line[:found.start()], line[end + 1:]
        yield Change("bound: other", f"{before}(@@ ? {other}({inside}) : {found.group(0)}{inside})){after}",
                     f"{before}{other}({inside}){after}")


OPERATORS: list[Callable[[Source, int], Iterator[Change]]] = [
    conditions, filters, truths_returned, comparisons, limits, ones, flags, statements, jumps, choices, bounds]


def changes(source: Source, index: int) -> list[Change]:
    """All mutants of a line, each text once."""
    if not is_whole(source.masked[index]): return []
    result = {}
    for operator in OPERATORS:
        for change in operator(source, index): result.setdefault(change.text, change)
    return list(result.values())


def is_whole(mask: str) -> bool:
    """Round and square brackets have their partners in the line: it is no part of a longer expression."""
    stripped = mask.strip()
    kept = "".join(character for character in stripped if character in "()[]")
    return is_balanced(kept) and not re.match(r"[.?:)]|&&|\|\||\+|case |default", stripped) and \
        not re.search(r"(?:[(,=:]|&&|\|\|| \+|\?\?)$", stripped)
