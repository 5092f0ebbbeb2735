"""What is wrong with a picture."""
from collections import Counter
from itertools import combinations

from .picture import Box

SMALLEST = 11       # pixels
LEAST_CONTRAST = 4.5
# A line may begin so far from its box, where the shape at its end is.
REACH = 16


def findings(picture):
    """Sentences about the faults, each with its kind."""
    yield from overlaps(picture)
    yield from lines(picture)
    yield from lines_on_lines(picture)
    yield from texts(picture)
    for ratio, what in contrasts(picture):
        if ratio < LEAST_CONTRAST: yield "contrast", f"{what} has a contrast of {ratio:.2f}"
    if not picture.title.strip() or not picture.description.strip() or not picture.named:
        yield "title", "the picture has no title or description, or its root does not name them"
    if any("dark" not in text.styles for text in picture.texts): yield "dark", "there is no style for dark surroundings"


def counts(picture):
    return Counter(kind for kind, _ in findings(picture))


def least_contrast(picture): return min((ratio for ratio, _ in contrasts(picture)), default=0)


# Boxes and lines

def overlaps(picture):
    for (one, box), (other, second) in combinations(picture.boxes.items(), 2):
        if box.overlaps(second): yield "box", f"the boxes of {one} and {other} overlap"
    for name, box in picture.boxes.items():
        if not picture.size.contains(box): yield "box", f"the box of {name} is not in the picture"


def segments(found): return [(a, b) for a, b in zip(found, found[1:]) if a != b]


def crosses(a, b, box):
    """Whether a part of a segment is in a box: the segment is cut by each side (Liang and Barsky)."""
    begin, end = 0.0, 1.0
    for start, delta, low, high in ((a[0], b[0] - a[0], box.left, box.right), (a[1], b[1] - a[1], box.top, box.bottom)):
        if delta == 0:
            if not low < start < high: return False
            continue
        first, last = sorted(((low - start) / delta, (high - start) / delta))
        begin, end = max(begin, first), min(end, last)
    return begin < end


def name_of(line): return " - ".join(line.attributes.values())


def lines(picture):
    for line in picture.lines:
        if len(line.path) < 2:
            yield "line", f"{name_of(line)} has no line"
            continue
        for entity, box in picture.boxes.items():
            inner = box.shrunk(0.5)
            if any(crosses(a, b, inner) for found in [line.path, *line.heads] for a, b in segments(found)):
                yield "line", f"{name_of(line)} goes through the box of {entity}"
        if not all(picture.size.contains(Box(x, y, x, y)) for x, y in line.path):
            yield "line", f"{name_of(line)} is not in the picture"
        ends = list(line.attributes.values())
        for (x, y), name in zip((line.path[0], line.path[-1]), ends):
            if not any(is_end(picture, x, y, name, entity) for entity in picture.boxes):
                yield "end", f"{name_of(line)} does not end at {name}"


def is_end(picture, x, y, name, entity):
    """Whether a line that ends at a point ends beside an entity, or beside the row of its relationship, of this name."""
    box = picture.boxes[entity]
    if not (box.top < y < box.bottom and min(abs(x - box.left), abs(x - box.right)) <= REACH): return False
    if name == entity: return True
    if not name.startswith(entity + "."): return False
    row = name[len(entity) + 1:]
    return any(text.entity == entity and text.box.top - 6 < y < text.box.bottom + 6
               and shown(row, text.content.split(" → ")[0]) for text in picture.texts if " → " in text.content)


def shown(name, text): return name == text or text.endswith("…") and name.startswith(text[:-1])


def lines_on_lines(picture):
    """Lines that run on one another. Inheritance from one parent may share lines."""
    parts = [(line, a, b) for line in picture.lines for a, b in segments(line.path)]
    for upright in (False, True):
        along, across = (1, 0) if upright else (0, 1)
        tracks = {}
        for line, a, b in parts:
            if a[across] == b[across]: tracks.setdefault(a[across], []).append((*sorted((a[along], b[along])), line))
        seen = set()
        for track in tracks.values():
            for (low, high, one), (first, last, other) in combinations(track, 2):
                if one is other or min(high, last) - max(low, first) <= 2: continue
                if one.kind == other.kind == "inheritance" and one.attributes["parent"] == other.attributes["parent"]: continue
                if (key := (id(one), id(other))) not in seen: yield "track", f"{name_of(one)} and {name_of(other)} run on one another"
                seen.add(key)


# Texts

def texts(picture):
    for text in picture.texts:
        if text.size < SMALLEST: yield "size", f"\"{text.content}\" has a size of {text.size}"
        room = picture.size if text.entity is None else picture.boxes[text.entity]
        if not room.contains(text.box): yield "text", f"\"{text.content}\" does not fit"
        for entity, box in picture.boxes.items():
            if entity != text.entity and text.box.overlaps(box): yield "text", f"\"{text.content}\" is on the box of {entity}"
        for line in picture.lines:
            if any(crosses(a, b, text.box) for found in [line.path, *line.heads] for a, b in segments(found)):
                yield "text", f"{name_of(line)} goes through \"{text.content}\""
    ordered = sorted(picture.texts, key=lambda text: text.box.top)
    for index, one in enumerate(ordered):
        for other in ordered[index + 1:]:
            if other.box.top >= one.box.bottom: break
            if one.box.overlaps(other.box): yield "text", f"\"{one.content}\" and \"{other.content}\" overlap"


# Colours

def luminance(colour):
    """The relative luminance of #rrggbb, as WCAG 2.2 defines it."""
    parts = [int(colour[at:at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one, other):
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def background(picture, box, below, scheme):
    """The colour of the uppermost area under the middle of a box; None where nothing is filled."""
    x, y = (box.left + box.right) / 2, (box.top + box.bottom) / 2
    for shape in reversed(picture.shapes[:below]):
        fill = shape.styles.get(scheme, {}).get("fill", "none")
        if fill != "none" and shape.box.left <= x <= shape.box.right and shape.box.top <= y <= shape.box.bottom: return fill
    return None


def contrasts(picture):
    """The contrast of each text to what is under it, and of each line to the page, in both kinds of surroundings."""
    for text in picture.texts:
        for scheme, style in text.styles.items():
            behind = background(picture, text.box, text.order, scheme)
            yield contrast(style["fill"], behind) if behind and "fill" in style else 0, f"\"{text.content}\" ({scheme})"
    page = picture.shapes[0]
    for shape in picture.shapes[1:]:
        if "halo" in shape.classes: continue
        for scheme, style in shape.styles.items():
            stroke = style.get("stroke") or (style.get("fill") if "head" in shape.classes else None)
            if stroke and stroke != "none": yield contrast(stroke, page.styles[scheme]["fill"]), f"a line {stroke} ({scheme})"
