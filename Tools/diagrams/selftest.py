"""A sound picture, and changed ones whose faults are known."""
from . import checks, picture

SOUND = """<svg xmlns="http://www.w3.org/2000/svg" width="600" height="300" role="img" aria-labelledby="t d">
<title id="t">Model</title>
<desc id="d">Two entities.</desc>
<style>
text { font-size: 13px; fill: #000000; }
.page, .box { fill: #ffffff; }
.line { fill: none; stroke: #24598c; }
.head { fill: #24598c; }
@media (prefers-color-scheme: dark) {
text { fill: #ffffff; }
.page, .box { fill: #000000; }
.line { stroke: #7fb4e6; }
.head { fill: #7fb4e6; }
}
</style>
<rect class="page" width="600" height="300"/>
<g data-relationship="A.b" data-inverse="B.a">
<path class="line" d="M 204 50 L 294 50 Q 300 50 300 56 L 300 84 Q 300 90 306 90 L 396 90"/>
<path class="head" d="M 201 50 L 209 46 L 209 54 Z"/>
</g>
<g data-inheritance="C" data-parent="A"><path class="line" d="M 200 220 L 250 220 L 250 30 L 214 30"/></g>
<g data-entity="A"><rect class="box" x="20" y="20" width="180" height="80"/><text x="30" y="54">b → B</text></g>
<g data-entity="B"><rect class="box" x="400" y="20" width="180" height="80"/><text x="410" y="94">a → A</text></g>
<g data-entity="C"><rect class="box" x="20" y="200" width="180" height="40"/><text x="30" y="224">C</text></g>
</svg>"""
# What is replaced, by what, and the kinds of the faults then.
CHANGES = [
    ('x="400" y="20" width="180"', 'x="190" y="20" width="180"', {"box", "line", "end", "text"}),
    ('x="400" y="20"', 'x="440" y="20"', {"box", "end", "text"}),
    ("L 300 84", "L 300 150 L 150 150 L 150 60 L 300 60 L 300 84", {"line"}),
    ("M 204 50 L 294 50", "M 204 90 L 294 90", {"end"}),
    ("M 204 50", "M 190 50", {"line"}),
    ('data-inverse="B.a"', 'data-inverse="B.z"', {"end"}),
    ("L 250 220 L 250 30", "L 240 220 L 240 30", set()),
    ("L 250 220 L 250 30", "L 300 220 L 300 30", {"track"}),
    ("font-size: 13px", "font-size: 10px", {"size"}),
    ("text { font-size: 13px; fill: #000000; }", "text { font-size: 13px; fill: #888888; }", {"contrast"}),
    (".line { stroke: #7fb4e6; }", "", {"contrast"}),
    ("b → B", "a name that is too wide → B", {"text", "end"}),
    ('x="30" y="224"', 'x="300" y="70"', {"text"}),
    ('<text x="30" y="224">C</text>', '<text x="30" y="224">C</text><text x="34" y="230">C</text>', {"text"}),
    (' role="img"', "", {"title"}),
    ("Two entities.", "", {"title"}),
    ("@media (prefers-color-scheme: dark) {", "", {"dark"}),
]


def run():
    wrong = []
    if found := checks.counts(picture.read(SOUND)): wrong.append(f"the sound picture has {dict(found)}")
    for before, after, expected in CHANGES:
        changed = SOUND.replace(before, after, 1)
        if before.startswith("@media"): changed = changed.replace("}\n}\n</style>", "}\n</style>")
        found = set(checks.counts(picture.read(changed)))
        if changed == SOUND or not expected <= found or (not expected and found):
            wrong.append(f"{before!r} changed to {after!r}: expected {sorted(expected)}, found {sorted(found)}")
    for line in wrong: print(line)
    print(f"{len(CHANGES) + 1 - len(wrong)} of {len(CHANGES) + 1} pictures are judged right")
    return 1 if wrong else 0
