"""Changes of the store made by hand, and what the canonical dump must show of them."""

from dataclasses import dataclass


@dataclass
class Dump:
    """A change, the object and property to look at, what the dump has there, and how many values are invalid."""
    change: list[str]
    place: tuple[str, int]
    name: str
    expected: object
    invalid: int = 0


def album(assignment: str, name: str, expected: object) -> Dump:
    invalid = int(isinstance(expected, dict) and "$invalid" in expected)
    return Dump([f"UPDATE ZALBUM SET {assignment} WHERE Z_PK = 1"], ("Album", 1), name, expected, invalid)


def wrong(reason: str) -> dict:
    return {"$invalid": reason}


def links(statement: str, name: str, expected: object, invalid: int) -> Dump:
    return Dump([statement], ("Album", 1), name, expected, invalid)


DUMPS = [
    # Values
    album("ZISOPEN = 0", "isOpen", False),
    album("ZISOPEN = 2", "isOpen", wrong("2 in a Boolean")),
    album("ZSMALL = -32768", "small", -32768),
    album("ZSMALL = 32768", "small", wrong("32768 in an integer of 16 bits")),
    album("ZSMALL = 1.5", "small", wrong("1.5 in an integer")),
    album("ZSMALL = 'x'", "small", wrong("a text in an integer")),
    album("ZPHOTOSCOUNT = 1e300", "photosCount", wrong("1e+300 in an integer of 64 bits")),
    album("ZRATIO = 1e22", "ratio", 1e22),
    album("ZRATIO = -9e999", "ratio", {"$double": "-inf"}),
    album("ZRATING = 0.1", "rating", 0.10000000149011612),
    album("ZRATING = 1e300", "rating", wrong("1e+300 is beyond a Float")),
    album("ZMADEAT = 5", "madeAt", {"$date": 5.0}),
    album("ZMADEAT = x'00'", "madeAt", wrong("a blob in a number")),
    album("ZPRICE = 100", "price", {"$decimal": "100"}),
    album("ZPRICE = 1e-7", "price", {"$decimal": "0.0000001"}),
    album("ZPRICE = '1.50d'", "price", {"$decimal": "1.5"}),
    album("ZPRICE = '1.2.3'", "price", wrong("'1.2.3' is no decimal number")),
    album("ZTITLE = x'c3a9'", "title", "é"),
    album("ZTITLE = x'ff'", "title", wrong("a blob in a string that is not valid UTF-8")),
    album("ZTITLE = CAST(x'ff' AS TEXT)", "title", wrong("text that is not valid UTF-8")),
    album("ZLINK = 'a b'", "link", {"$url": "a b"}),
    album("ZIDENTIFIER = x'00'", "identifier", wrong("1 bytes in a UUID")),
    album("ZSHAPE = x'00ff'", "shape", {"$transformable": "AP8="}),
    album("ZSHAPE = 'x'", "shape", wrong("a text in a column of bytes")),
    Dump([], ("Tag", 1), "place", {"x": 1.5}),
    Dump(["UPDATE ZTAG SET ZX = NULL"], ("Tag", 1), "place", None),
    # External data
    Dump([], ("Photo", 2), "picture", {"$data": "bGFyZ2U="}),
    Dump(["UPDATE ZMEDIA SET ZPICTURE = x'0361' WHERE Z_PK = 1"], ("Photo", 1), "picture",
         wrong("a value with external storage has the prefix 03"), 1),
    Dump(["UPDATE ZMEDIA SET ZPICTURE = x'0261' WHERE Z_PK = 1"], ("Photo", 1), "picture",
         wrong("the name of an external data file is not a UUID"), 1),
    Dump(["UPDATE ZMEDIA SET ZPICTURE = x'02' || CAST('21111111-2222-3333-4444-555555555555' AS BLOB) || x'00' "
          "WHERE Z_PK = 1", "UPDATE ZMEDIA SET ZPICTURE = CAST(ZPICTURE AS BLOB)"], ("Photo", 1), "picture",
         wrong("external data file 21111111-2222-3333-4444-555555555555: No such file or directory"), 1),
    # Relationships
    links("UPDATE ZMEDIA SET Z_FOK_ALBUM = 1 WHERE Z_PK = 2", "photos", ["Photo/p2", "Photo/p1"], 0),
    links("UPDATE ZMEDIA SET Z_FOK_ALBUM = NULL WHERE Z_PK = 2", "photos", wrong("Photo 2 has no order key"), 1),
    links("UPDATE ZMEDIA SET Z_FOK_ALBUM = 5", "photos", wrong("2 members have the order key 5"), 1),
    links("UPDATE ZALBUM SET ZLEADING = 3 WHERE Z_PK = 1", "leading", "Clip/p3", 0),
    links("UPDATE ZALBUM SET ZLEADING = 9 WHERE Z_PK = 1", "leading", wrong("there is no Media 9"), 1),
    links("UPDATE ZALBUM SET ZLEADING = 0 WHERE Z_PK = 1", "leading", wrong("there is no Media 0"), 1),
    links("INSERT INTO Z_1TAGS VALUES (1, 9, 1)", "tags", [wrong("there is no Tag 9"), "Tag/p1", "Tag/p2"], 1),
    Dump(["UPDATE ZMEDIA SET Z_ENT = 6 WHERE Z_PK = 1"], ("Album", 1), "leading", wrong("there is no Media 1"), 1),
    Dump(["INSERT INTO Z_5FRIENDS VALUES (3, 7)"], ("person", 3), "friends",
         ["person/p1", wrong("there is no person 7")], 1),
    Dump([], ("person", 2), "friends", ["person/p1"]),
]
