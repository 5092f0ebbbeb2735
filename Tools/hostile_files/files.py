"""Files that are not what their names say, property lists and archives as stores and models, and XML models."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from .base import Base
from .case import Case, Target
from .plists import ARCHIVES, FILES, PLISTS

OPENING = b'<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
MODEL = (
    '<model type="com.apple.IDECoreDataModeler.DataModel" documentVersion="1.0" lastSavedToolsVersion="1" '
    'systemVersion="1" minimumToolsVersion="Automatic" sourceLanguage="Swift" '
    'userDefinedModelVersionIdentifier="">{}</model>'
)
HOSTILE_NAMES = {
    "quote": 'a"b',
    "apostrophe": "a'b",
    "semicolon": "x; DROP TABLE ZPERSON; --",
    "bracket": "a]b",
    "backtick": "a`b",
    "newline": "a&#10;b",
    "escape": "a\x7fb",
    "empty": "",
    "space": " ",
    "slash": "../../etc/passwd",
    "percent": "%@%s%n",
    "huge": "N" * 100_000,
    "emoji": "👩‍👧",
    "combining": "e" + "\u0301" * 5000,
    "rtl": "\u202eabc",
    "dot": "a.b",
    "self": "self",
    "reserved": "Z_PK",
    "z-ent": "_ENT",
    "sqlite": "sqlite_master",
    "system": "_METADATA",
    "number": "1",
    "nul-reference": "a&#0;b",
    "dollar": "$null",
    "at": "@count",
    "long-case": "ß" * 300,
    "turkish": "ıİ",
}
NUMBERED = ("counts-", "validation-", "defaults-", "type-", "regex-")
NUMBERS = (
    "-1",
    "0",
    "99999999999999999999999",
    "-9223372036854775808",
    "9223372036854775807",
    "1e400",
    "NaN",
    "abc",
    "",
    "0x10",
    " 1 ",
    "1,5",
    "٣",
    "--1",
    "infinity",
    "1" * 100_000,
)


def cases(base: Base) -> Iterator[Case]:
    for name, data in {**FILES, **PLISTS}.items():
        yield Case("files", f"{name}-as-store", _store(data))
        yield Case("files", f"{name}-as-mom", _mom(data))
    for name, data in FILES.items():
        yield Case("files", f"{name}-as-contents", _contents(data))
    for name, data in ARCHIVES.items():
        yield Case("files", f"archive-{name}-as-mom", _mom(data), wide=True)
    for name, data in _xml().items():
        yield Case("models", name, _contents(data), wide="-named-" in name or name.startswith(NUMBERED))
    for name, data in FILES.items():
        yield Case("models", f"store-with-{name}-as-model", _good_store(base, data))
    for name, files in _folders(base).items():
        yield Case("models", name, _folder(files))


def _store(data: bytes):
    def build(folder: Path) -> Target:
        (folder / "store.sqlite").write_bytes(data)
        return Target(folder / "store.sqlite")

    return build


def _mom(data: bytes):
    def build(folder: Path) -> Target:
        (folder / "model.mom").write_bytes(data)
        return Target(folder / "model.mom", commands=("describe",))

    return build


def _contents(data: bytes):
    def build(folder: Path) -> Target:
        place = folder / "model.xcdatamodel"
        place.mkdir()
        (place / "contents").write_bytes(data)
        return Target(place, commands=("describe",))

    return build


def _good_store(base: Base, data: bytes):
    """A good store with a bad model beside it."""

    def build(folder: Path) -> Target:
        (folder / "model.mom").write_bytes(data)
        return Target(base.copy(folder), model=folder / "model.mom", commands=(), with_model=("info", "dump", "verify"))

    return build


def _folder(files: dict[str, bytes | None]):
    """A model that is a folder; the first name is the one that is described."""

    def build(folder: Path) -> Target:
        for name, data in files.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.mkdir() if data is None else path.write_bytes(data)
        return Target(folder / next(iter(files)).split("/")[0], commands=("describe", "info"))

    return build


def _folders(base: Base) -> dict[str, dict[str, bytes | None]]:
    version = (
        b'<?xml version="1.0"?><plist'
        b' version="1.0"><dict><key>_XCCurrentVersionName</key><string>%s</string></dict></plist>'
    )
    good = {"m.xcdatamodeld/a.xcdatamodel/contents": base.contents}
    info = (
        b'<?xml version="1.0"?><plist><dict><key>NSManagedObjectModel_CurrentVersionName</key>'
        b"<string>%s</string></dict></plist>"
    )
    return {
        "empty-xcdatamodeld": {"m.xcdatamodeld": None},
        "empty-momd": {"m.momd": None},
        "empty-xcdatamodel": {"m.xcdatamodel": None},
        "contents-is-a-folder": {"m.xcdatamodel/contents": None},
        "mom-is-a-folder": {"m.mom": None},
        "version-outside": {**good, "m.xcdatamodeld/.xccurrentversion": version % b"../../../etc/passwd"},
        "version-absolute": {**good, "m.xcdatamodeld/.xccurrentversion": version % b"/etc/passwd"},
        "version-missing": {**good, "m.xcdatamodeld/.xccurrentversion": version % b"b.xcdatamodel"},
        "version-empty": {**good, "m.xcdatamodeld/.xccurrentversion": version % b""},
        "version-is-itself": {**good, "m.xcdatamodeld/.xccurrentversion": version % b"."},
        "version-garbage": {**good, "m.xcdatamodeld/.xccurrentversion": b"\xff\xfe"},
        "version-deep": {**good, "m.xcdatamodeld/.xccurrentversion": PLISTS["xml-plist-deep"]},
        "version-cyclic": {**good, "m.xcdatamodeld/.xccurrentversion": PLISTS["cycle"]},
        "momd-version-outside": {
            "m.momd/a.mom": base.archive,
            "m.momd/VersionInfo.plist": info % b"../../../etc/passwd",
        },
        "momd-version-cyclic": {"m.momd/a.mom": base.archive, "m.momd/VersionInfo.plist": PLISTS["cycle"]},
        "momd-version-shared": {"m.momd/a.mom": base.archive, "m.momd/VersionInfo.plist": PLISTS["shared-30"]},
        "momd-thousand": {f"m.momd/{number}.mom": base.archive for number in range(1000)},
        "xcdatamodeld-in-itself": {"m.xcdatamodeld/m.xcdatamodeld/m.xcdatamodel/contents": base.contents},
    }


def model(inside: str, encoding: str = "utf-8") -> bytes:
    return OPENING + MODEL.format(inside).encode(encoding, "surrogatepass")


def entity(name: str = "A", inside: str = "", **attributes: str) -> str:
    extra = "".join(f' {key}="{value}"' for key, value in attributes.items())
    return f'<entity name="{_escaped(name)}"{extra}>{inside}</entity>'


def attribute(name: str = "a", kind: str = "String", inside: str = "", **attributes: str) -> str:
    extra = "".join(f' {key}="{value}"' for key, value in attributes.items())
    return f'<attribute name="{_escaped(name)}" optional="YES" attributeType="{kind}"{extra}>{inside}</attribute>'


def relationship(name: str, destination: str, **attributes: str) -> str:
    extra = "".join(f' {key}="{value}"' for key, value in attributes.items())
    return (
        f'<relationship name="{_escaped(name)}" optional="YES" maxCount="1" deletionRule="Nullify" '
        f'destinationEntity="{_escaped(destination)}"{extra}/>'
    )


def _escaped(text: str) -> str:
    return text.replace('"', "&quot;").replace("<", "&lt;")


def _xml() -> dict[str, bytes]:
    return {**_documents(), **_shapes(), **_values()}


def _documents() -> dict[str, bytes]:
    """What XML itself can do."""
    one = entity()
    laughs = "".join(f'<!ENTITY a{n} "{f"&a{n - 1};" * 10}">' for n in range(1, 10))
    plain = MODEL.format(one).encode()
    return {
        "laughs": f'<!DOCTYPE m [<!ENTITY a0 "lol">{laughs}]><model>&a9;</model>'.encode(),
        "laughs-in-attribute": f'<!DOCTYPE m [<!ENTITY a0 "lol">{laughs}]><model x="&a9;"/>'.encode(),
        "external-entity": b'<!DOCTYPE m [<!ENTITY x SYSTEM "file:///etc/hostname">]><model>&x;</model>',
        "external-dtd": b'<!DOCTYPE model SYSTEM "http://127.0.0.1:9/x.dtd">' + plain,
        "parameter-entity": b'<!DOCTYPE m [<!ENTITY % x SYSTEM "file:///etc/passwd"> %x;]><model/>',
        "quadratic": b'<!DOCTYPE m [<!ENTITY a "' + b"x" * 50_000 + b'">]><model>' + b"&a;" * 20_000 + b"</model>",
        "default-attribute": b'<!DOCTYPE model [<!ATTLIST model a CDATA "x">]>' + plain,
        "entity-of-itself": b'<!DOCTYPE m [<!ENTITY a "&a;">]><model>&a;</model>',
        "unknown-entity": b"<model>&nothing;</model>",
        "endless-reference": b"<model>&#99999999999999999999;</model>",
        "reference-to-nul": b"<model>&#0;</model>",
        "reference-to-surrogate": b"<model>&#xD800;</model>",
        "deep": b"<model>" * 200_000 + b"</model>" * 200_000,
        "deep-open": b"<a>" * 200_000,
        "many-attributes": b"<model " + b" ".join(b'x%d="1"' % number for number in range(100_000)) + b"/>",
        "same-attribute": b'<model a="1" a="2"/>',
        "huge-attribute": b'<model a="' + b"x" * (4 << 20) + b'"/>',
        "huge-text": b"<model>" + b"x" * (4 << 20) + b"</model>",
        "huge-comment": b"<model><!--" + b"-x" * (2 << 20) + b"--></model>",
        "huge-name": b"<" + b"m" * (1 << 20) + b"/>",
        "cdata": b"<model><![CDATA[" + b"]" * (1 << 20) + b"]]></model>",
        "utf-7": b'<?xml version="1.0" encoding="UTF-7"?>' + plain,
        "utf-16": (MODEL.format(one)).encode("utf-16"),
        "utf-16-without-mark": MODEL.format(one).encode("utf-16-be"),
        "utf-32": MODEL.format(one).encode("utf-32"),
        "says-utf-16": b'<?xml version="1.0" encoding="UTF-16"?>' + plain,
        "latin-1": b'<?xml version="1.0" encoding="ISO-8859-1"?>' + model(entity("\xe9"), "latin-1")[len(OPENING) :],
        "unknown-encoding": b'<?xml version="1.0" encoding="klingon"?>' + plain,
        "bad-utf-8": OPENING + plain.replace(b'"A"', b'"\xff\xfe"'),
        "overlong": OPENING + plain.replace(b'"A"', b'"\xc0\xaf"'),
        "surrogates-in-utf-8": OPENING + plain.replace(b'"A"', b'"\xed\xa0\x80"'),
        "nul": OPENING + plain.replace(b'"A"', b'"A\0B"'),
        "control": OPENING + plain.replace(b'"A"', b'"\x01\x1b[31m"'),
        "mark-twice": b"\xef\xbb\xbf" * 2 + OPENING + plain,
        "two-roots": OPENING + plain + plain,
        "text-after": OPENING + plain + b"text",
        "cut": OPENING + plain[:-9],
        "cut-in-attribute": OPENING + plain[:200],
        "cut-in-tag": OPENING + plain[: plain.index(b"<entity") + 3],
        "wrong-end": b"<model></modell>",
        "namespaces": b'<x:model xmlns:x="http://x"/>',
        "unbound": b"<x:model/>",
        "include": (
            b'<model xmlns:xi="http://www.w3.org/2001/XInclude"><xi:include href="/etc/passwd" parse="text"/></model>'
        ),
        "instruction": b'<?xml-stylesheet href="file:///etc/passwd"?>' + plain,
        "version-2": b'<?xml version="2.0"?>' + plain,
        "not-a-model": b"<plist/>",
        "empty-model": model(""),
        "many-elements": b"<model>" + b"<a/>" * 300_000 + b"</model>",
        "newlines": b"\n" * (1 << 20) + plain,
        "model-in-model": model(MODEL.format(one)),
    }


def _shapes() -> dict[str, bytes]:
    """What a model can say about entities and relationships."""
    found = {
        "own-parent": model(entity("A", parentEntity="A")),
        "parents-in-a-ring": model(
            entity("A", parentEntity="B") + entity("B", parentEntity="C") + entity("C", parentEntity="A")
        ),
        "parent-missing": model(entity("A", parentEntity="Z")),
        "same-name": model(entity("A") * 3),
        "same-name-other-case": model(entity("aB") + entity("AB")),
        "entities-10000": model("".join(entity(f"E{number}", attribute()) for number in range(10_000))),
        "line-of-1000": model(
            entity("E0")
            + "".join(
                entity(f"E{number}", attribute(f"a{number}"), parentEntity=f"E{number - 1}")
                for number in range(1, 1000)
            )
        ),
        "line-of-600": model(
            entity("E0")
            + "".join(
                entity(f"E{number}", attribute(f"a{number}"), parentEntity=f"E{number - 1}") for number in range(1, 600)
            )
        ),
        "entities-300": model("".join(entity(f"E{number}", attribute()) for number in range(300))),
        "line-of-60": model(
            entity("E0")
            + "".join(
                entity(f"E{number}", attribute(f"a{number}"), parentEntity=f"E{number - 1}") for number in range(1, 60)
            )
        ),
        "star-of-1000": model(
            entity("E0", "".join(attribute(f"a{number}") for number in range(50)))
            + "".join(entity(f"E{number}", parentEntity="E0") for number in range(1, 1000))
        ),
        "attributes-20000": model(entity("A", "".join(attribute(f"a{number}") for number in range(20_000)))),
        "relationships-5000": model(entity("A", "".join(relationship(f"r{number}", "A") for number in range(5000)))),
        "same-attribute-name": model(entity("A", attribute() * 3)),
        "same-attribute-case": model(entity("A", attribute("ab") + attribute("AB"))),
        "attribute-of-parent": model(entity("A", attribute()) + entity("B", attribute(), parentEntity="A")),
        "other-type-than-parent": model(
            entity("A", attribute()) + entity("B", attribute("a", "Date"), parentEntity="A")
        ),
        "attribute-and-relationship": model(entity("A", attribute("a") + relationship("a", "A"))),
        "destination-missing": model(entity("A", relationship("r", "Z"))),
        "destination-empty": model(entity("A", relationship("r", ""))),
        "inverse-missing": model(entity("A", relationship("r", "A", inverseName="x", inverseEntity="A"))),
        "inverse-elsewhere": model(entity("A", relationship("r", "A", inverseName="r", inverseEntity="Z"))),
        "inverse-is-attribute": model(
            entity("A", attribute() + relationship("r", "A", inverseName="a", inverseEntity="A"))
        ),
        "inverse-is-self": model(entity("A", relationship("r", "A", inverseName="r", inverseEntity="A"))),
        "inverses-in-a-ring": model(
            entity(
                "A",
                "".join(
                    relationship(f"r{number}", "A", inverseName=f"r{(number + 1) % 3}", inverseEntity="A")
                    for number in range(3)
                ),
            )
        ),
        "two-with-one-inverse": model(
            entity(
                "A",
                relationship("r", "A", inverseName="t", inverseEntity="A")
                + relationship("s", "A", inverseName="t", inverseEntity="A")
                + relationship("t", "A", inverseName="r", inverseEntity="A"),
            )
        ),
        "no-names": model("<entity/><entity><attribute/><relationship/></entity>"),
        "composite-of-itself": model(
            entity("A", attribute("c", "Composite", composite="C"))
            + f'<composite name="C">{attribute("c", "Composite", composite="C")}</composite>'
        ),
        "composite-ring": model(
            entity("A", attribute("c", "Composite", composite="C"))
            + f'<composite name="C">{attribute("d", "Composite", composite="D")}</composite>'
            + f'<composite name="D">{attribute("c", "Composite", composite="C")}</composite>'
        ),
        "composite-doubling": model(
            entity("A", attribute("c", "Composite", composite="C0"))
            + "".join(
                f'<composite name="C{n}">{attribute("l", "Composite", composite=f"C{n + 1}")}'
                f'{attribute("r", "Composite", composite=f"C{n + 1}")}</composite>'
                for n in range(40)
            )
            + f'<composite name="C40">{attribute()}</composite>'
        ),
        "composite-line": model(
            entity("A", attribute("c", "Composite", composite="C0"))
            + "".join(
                f'<composite name="C{n}">{attribute("c", "Composite", composite=f"C{n + 1}")}</composite>'
                for n in range(3000)
            )
            + f'<composite name="C3000">{attribute()}</composite>'
        ),
        "composite-missing": model(entity("A", attribute("c", "Composite", composite="Z"))),
        "entities-in-entity": model(entity("A", entity("B", entity("C")))),
        "unique-missing": model(
            entity(
                "A",
                "<uniquenessConstraints><uniquenessConstraint><constraint"
                ' value="zz"/></uniquenessConstraint></uniquenessConstraints>',
            )
        ),
        "unique-empty": model(entity("A", "<uniquenessConstraints><uniquenessConstraint/></uniquenessConstraints>")),
        "index-missing": model(
            entity("A", '<fetchIndex name="i"><fetchIndexElement property="zz" type="Binary" order="up"/></fetchIndex>')
        ),
        "index-expression": model(
            entity(
                "A",
                '<fetchIndex name="i"><fetchIndexElement expression="'
                + "(" * 50_000
                + '" type="Binary" expressionType="Double" order="ascending"/></fetchIndex>',
            )
        ),
        "index-partial-deep": model(
            entity(
                "A",
                attribute() + '<fetchIndex name="i"><fetchIndexElement property="a" type="Binary" '
                f'order="ascending" partialIndexPredicate="{"(" * 50_000}a = 1{")" * 50_000}"/></fetchIndex>',
            )
        ),
        "fetch-request-deep": model(
            entity("A", attribute())
            + '<fetchRequest name="f" entity="A" predicateString="'
            + "NOT (" * 50_000
            + "a = 1"
            + ")" * 50_000
            + '"/>'
        ),
        "fetch-request-long": model(
            entity("A", attribute())
            + '<fetchRequest name="f" entity="A" predicateString="'
            + " OR ".join(["a = 1"] * 100_000)
            + '"/>'
        ),
        "fetch-request-entity-missing": model('<fetchRequest name="f" entity="Z" predicateString="TRUEPREDICATE"/>'),
        "fetch-request-garbage": model(
            entity() + '<fetchRequest name="f" entity="A" predicateString="a == == b )(("/>'
        ),
        "fetched-property-missing": model(entity("A", '<fetchedProperty name="p"/>')),
        "fetched-property-deep": model(
            entity(
                "A",
                '<fetchedProperty name="p"><fetchRequest name="f" entity="A" '
                f'predicateString="{"-" * 100_000}1 = 1"/></fetchedProperty>',
            )
        ),
        "derived-deep": model(
            entity("A", attribute("d", "Double", derived="YES", derivationExpression="abs:(" * 50_000))
        ),
        "derived-of-itself": model(entity("A", attribute("d", "Double", derived="YES", derivationExpression="d"))),
        "derived-path": model(
            entity(
                "A",
                relationship("r", "A")
                + attribute("d", "Double", derived="YES", derivationExpression="r." * 50_000 + "d"),
            )
        ),
        "configurations": model(entity() + '<configuration name="c"><memberEntity name="Z"/></configuration>' * 1000),
        "user-info": model(entity("A", "<userInfo>" + '<entry key="k" value="v"/>' * 50_000 + "</userInfo>")),
        "user-info-deep": model(entity("A", "<userInfo>" * 1000 + "</userInfo>" * 1000)),
    }
    for what, name in HOSTILE_NAMES.items():
        found[f"entity-named-{what}"] = model(entity(name, attribute()))
        found[f"attribute-named-{what}"] = model(entity("A", attribute(name)))
        found[f"relationship-named-{what}"] = model(entity("A", relationship(name, "A")))
    return found


def _values() -> dict[str, bytes]:
    """What a model can say about single values."""
    found = {}
    for index, number in enumerate(NUMBERS):
        found[f"counts-{index}"] = model(
            entity(
                "A",
                f'<relationship name="r" toMany="YES" minCount="{number}" maxCount="{number}" destinationEntity="A"/>',
            )
        )
        found[f"validation-{index}"] = model(
            entity(
                "A",
                attribute("a", "Integer 16", minValueString=number, maxValueString=number, defaultValueString=number),
            )
        )
        found[f"defaults-{index}"] = model(
            entity(
                "A",
                "".join(
                    attribute(
                        f"a{n}",
                        kind,
                        defaultValueString=number,
                        defaultDateTimeInterval=number,
                        minDateTimeInterval=number,
                    )
                    for n, kind in enumerate(
                        (
                            "Integer 16",
                            "Integer 32",
                            "Integer 64",
                            "Decimal",
                            "Double",
                            "Float",
                            "Boolean",
                            "Date",
                            "UUID",
                            "URI",
                            "Binary",
                            "Transformable",
                            "String",
                        )
                    )
                ),
            )
        )
    for index, kind in enumerate(("", "Integer 128", "Composite", "undefined", "String\n", "x" * 10_000, "Object ID")):
        found[f"type-{index}"] = model(entity("A", attribute("a", kind)))
    for index, text in enumerate(("(" * 100_000, "[" * 100_000, "(a+)+$", "a{99999999}", "\\", "*", "(?" * 1000)):
        found[f"regex-{index}"] = model(
            entity("A", attribute("a", "String", regularExpressionString=text, defaultValueString="a" * 40))
        )
    return found
