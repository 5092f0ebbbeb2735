"""An SVG document as shapes and texts with positions and colours."""
import re
import unicodedata
from dataclasses import dataclass, field
from xml.etree import ElementTree

SPACE = "{http://www.w3.org/2000/svg}"
# The widths of the printable ASCII characters of DejaVu Sans, in thousandths of the font's size, from the space on.
WIDTHS = [
    318, 401, 460, 838, 636, 950, 780, 275, 390, 390, 500, 838, 318, 361, 318, 337, 636, 636, 636, 636, 636, 636, 636, 636, 636, 636, 337, 337,
    838, 838, 838, 531, 1000, 684, 686, 698, 770, 632, 575, 775, 752, 295, 295, 656, 557, 863, 748, 787, 603, 787, 695, 635, 611, 732, 684, 989,
    685, 611, 685, 390, 337, 390, 838, 500, 500, 613, 635, 550, 635, 615, 352, 635, 634, 278, 278, 579, 278, 974, 634, 612, 635, 635, 411, 521,
    392, 634, 592, 818, 592, 592, 525, 636, 337, 636, 838]


class PictureError(Exception):
    """What in a document is not understood."""


@dataclass
class Box:
    left: float
    top: float
    right: float
    bottom: float

    def overlaps(self, other, margin=0.0):
        """Whether the insides have a common point, or come nearer to each other than a margin."""
        return (self.left < other.right + margin and other.left < self.right + margin
                and self.top < other.bottom + margin and other.top < self.bottom + margin)

    def contains(self, other):
        return (self.left <= other.left and other.right <= self.right and self.top <= other.top and other.bottom <= self.bottom)

    def shrunk(self, by): return Box(self.left + by, self.top + by, self.right - by, self.bottom - by)


@dataclass
class Shape:
    box: Box
    points: list
    styles: dict            # by scheme: the values of the properties
    classes: set


@dataclass
class Text:
    content: str
    box: Box
    size: float
    styles: dict
    entity: str | None
    order: int = 0          # how many shapes are below it


@dataclass
class Line:
    """A relationship or an inheritance, with all its shapes."""
    kind: str
    attributes: dict
    path: list = field(default_factory=list)
    heads: list = field(default_factory=list)


@dataclass
class Picture:
    size: Box
    title: str
    description: str
    named: bool             # whether the title and the description are those that the root names
    boxes: dict             # by entity
    shapes: list
    texts: list
    lines: list


class Style:
    """The rules of a style sheet, for light and for dark surroundings."""

    def __init__(self, text):
        self.rules = []
        dark = re.search(r"@media \(prefers-color-scheme: dark\) \{((?:[^{}]*\{[^{}]*\})*)\s*\}", text)
        light = text.replace(dark[0], "") if dark else text
        self.schemes = ("light", "dark") if dark else ("light",)
        if "@" in light: raise PictureError(f"the style sheet has another rule with @ than that for dark surroundings")
        for schemes, block in ((("light", "dark"), light), (("dark",), dark[1] if dark else "")):
            for selectors, body in re.findall(r"([^{}]+)\{([^{}]*)\}", block):
                values = dict(re.findall(r"([\w-]+)\s*:\s*([^;]+);?", body))
                for selector in selectors.split(","):
                    parts = selector.split()
                    if not all(re.fullmatch(r"\.?[\w-]+", part) for part in parts):
                        raise PictureError(f"the selector {selector.strip()} is not understood")
                    weight = (sum(part[0] == "." for part in parts), sum(part[0] != "." for part in parts))
                    self.rules.append((schemes, parts, weight, len(self.rules), values))

    def values(self, chain, scheme):
        """The properties of the last of some elements, each in the one before; later ones inherit."""
        result = {}
        for depth in range(1, len(chain) + 1):
            matching = [rule for rule in self.rules if scheme in rule[0] and self.matches(rule[1], chain[:depth])]
            for rule in sorted(matching, key=lambda rule: rule[2:4]): result.update(rule[4])
        return result

    @staticmethod
    def matches(parts, chain):
        def fits(part, element):
            tag, classes = element
            return part[1:] in classes if part[0] == "." else part == tag
        if not fits(parts[-1], chain[-1]): return False
        rest = list(chain[:-1])
        for part in reversed(parts[:-1]):
            while rest and not fits(part, rest[-1]): rest.pop()
            if not rest: return False
            rest.pop()
        return True


def width(text, size, bold):
    """The width of a text; a bold one is at most a quarter wider."""
    units = 0
    for character in text:
        if 32 <= ord(character) < 127: units += WIDTHS[ord(character) - 32]
        elif unicodedata.east_asian_width(character) in "WF": units += 1250
        elif unicodedata.combining(character): units += 0
        else: units += 850
    return units * size / 1000 * (1.15 if bold else 1)


def points(path):
    """The points of a path. A curve has its control point, which the curve is on the inner side of."""
    tokens = re.findall(r"[A-Za-z]|-?\d+(?:\.\d+)?", path)
    found, command, at = [], "", 0

    def number():
        nonlocal at
        at += 1
        return float(tokens[at - 1])
    while at < len(tokens):
        if tokens[at].isalpha(): command, at = tokens[at], at + 1
        if command in "ML": found.append((number(), number()))
        elif command == "H": found.append((number(), found[-1][1]))
        elif command == "V": found.append((found[-1][0], number()))
        elif command == "Q": found += [(number(), number()), (number(), number())]
        elif command == "Z": found.append(found[0])
        else: raise PictureError(f"the path command {command} is not understood")
    return found


def extent(found):
    return Box(min(x for x, _ in found), min(y for _, y in found), max(x for x, _ in found), max(y for _, y in found))


def read(text):
    root = ElementTree.fromstring(text)
    style = Style("".join(element.text or "" for element in root.iter(SPACE + "style")))
    picture = Picture(Box(0, 0, float(root.get("width")), float(root.get("height"))), "", "", False, {}, [], [], [])
    titles = {e.get("id"): e.text or "" for e in root if e.tag in (SPACE + "title", SPACE + "desc")}
    picture.title, picture.description = (next((e.text or "" for e in root if e.tag == SPACE + tag), "") for tag in ("title", "desc"))
    picture.named = root.get("role") == "img" and (root.get("aria-labelledby") or "-").split() == list(titles) and len(titles) == 2
    visit(root, [], None, None, picture, style)
    return picture


def visit(element, chain, entity, line, picture, style):
    """Adds an element and what is in it. Pictures nest four levels deep."""
    tag = element.tag.removeprefix(SPACE)
    if tag in ("title", "desc", "style"): return
    if tag not in ("svg", "g", "rect", "path", "line", "text") or element.get("transform") or element.get("style"):
        raise PictureError(f"an element <{tag}>, or a transform or style of it, is not understood")
    classes = set((element.get("class") or "").split())
    chain = chain + [(tag, classes)]
    styles = {scheme: style.values(chain, scheme) for scheme in style.schemes}
    entity = element.get("data-entity", entity)
    for kind in ("relationship", "inheritance"):
        if element.get(f"data-{kind}") is not None:
            line = Line(kind, {name.removeprefix("data-"): value for name, value in element.attrib.items() if name.startswith("data-")})
            picture.lines.append(line)
    if tag == "text": add_text(element, styles, entity, picture)
    elif tag in ("rect", "path", "line"): add_shape(element, tag, classes, styles, entity, line, picture)
    for child in element: visit(child, chain, entity, line, picture, style)


def add_text(element, styles, entity, picture):
    values = styles["light"]
    content = "".join([element.text or ""] + [child.tail or "" for child in element])
    size = float(values.get("font-size", "0px").removesuffix("px"))
    length = width(content, size, values.get("font-weight") == "bold")
    x, y = float(element.get("x")), float(element.get("y"))
    left = x - length if values.get("text-anchor") == "end" else x
    box = Box(left, y - 0.78 * size, left + length, y + 0.22 * size)
    picture.texts.append(Text(content, box, size, styles, entity, len(picture.shapes)))


def add_shape(element, tag, classes, styles, entity, line, picture):
    if tag == "path": found = points(element.get("d"))
    elif tag == "line": found = [(float(element.get(f"x{n}")), float(element.get(f"y{n}"))) for n in (1, 2)]
    else:
        x, y = float(element.get("x", 0)), float(element.get("y", 0))
        right, bottom = x + float(element.get("width")), y + float(element.get("height"))
        found = [(x, y), (right, y), (right, bottom), (x, bottom), (x, y)]
    shape = Shape(extent(found), found, styles, classes)
    picture.shapes.append(shape)
    if entity is not None and tag == "rect" and entity not in picture.boxes: picture.boxes[entity] = shape.box
    if line is None: return
    if "line" in classes: line.path = found
    elif "head" in classes: line.heads.append(found)
