"""The forms of what Objective-C adds to Swift: of attributes, `@NSManaged` properties, `#selector` and `#keyPath`.

Two sources have one form where they differ in names of their own alone. This reads words, not Swift: it is for sources that compile.
"""

import re

KEYWORDS = "class|func|var|let|init|protocol|enum|extension|subscript|static|actor"
MODIFIERS = ("(?:public|open|internal|private|fileprivate|final|dynamic|lazy|weak|unowned|override|required|convenience|nonisolated|static|"
             "class)")
# Types that are read in ways of their own.
KNOWN = {
    "Any", "AnyObject", "Array", "Bool", "CGFloat", "Data", "Date", "Decimal", "Dictionary", "Double", "Float", "Int", "Int16", "Int32", "Int64",
    "Int8", "NSArray", "NSData", "NSDate", "NSDecimalNumber", "NSDictionary", "NSManagedObject", "NSMutableOrderedSet", "NSMutableSet",
    "NSNumber", "NSObject", "NSOrderedSet", "NSSet", "NSString", "NSURL", "NSUUID", "Set", "String", "TimeInterval", "UInt16", "UInt32",
    "UInt64", "UInt8", "URL", "UUID", "any", "some",
}


def code(text):
    """The source without comments and without the content of strings."""
    text = re.sub(r"/\*.*?\*/", " ", text, flags=re.S)
    text = re.sub(r'#?"""(?:.|\n)*?"""#?', '""', text)
    text = re.sub(r'"(?:\\.|[^"\\\n])*"', '""', text)
    return re.sub(r"//[^\n]*", "", text)


def type_form(text):
    text = re.sub(r"\s*([\[\]:<>,?!])\s*", r"\1", re.sub(r"\s+", " ", text.strip()))
    return re.sub(r"\w+", lambda word: word[0] if word[0] in KNOWN else "Own", text)


def forms(text):
    text, found = code(text), set()
    attribute = (rf"@(objc|objcMembers|nonobjc|NSManaged)(\s*\([^)]*\))?(?:\s+@\w+(?:\([^)]*\))?)*(?:\s+{MODIFIERS})*\s+({KEYWORDS})\b")
    for match in re.finditer(attribute, text):
        found.add(f"@{match[1]}{'(name)' if match[2] else ''} {match[3]}")
    for match in re.finditer(r"@NSManaged[^{}\n;]*?\bvar\s+`?\w+`?\s*:\s*([^={}\n]+)", text):
        found.add(f"@NSManaged var: {type_form(match[1])}")
    for match in re.finditer(r"#selector\(([^()]*(?:\([^()]*\))?[^()]*)\)", text):
        path = re.sub(r"\w+:", "label:", re.sub(r"\s+", "", match[1]))
        found.add("#selector " + re.sub(r"(?<![:\w])(?!label:|self|Self)\w+", "name", path))
    for match in re.finditer(r"#keyPath\(([^()]*)\)", text):
        words = re.sub(r"\s+", "", match[1]).split(".")
        found.add("#keyPath " + ".".join("Type" if word[:1].isupper() else "name" for word in words))
    return found


def of_folder(folder):
    """Each form in the sources of a folder, with a file that has it. Results of builds and snapshots of texts are left out."""
    found = {}
    for file in sorted(folder.rglob("*.swift")):
        if not {".build", "Pods", "__Snapshots__"} & set(file.parts):
            for form in forms(file.read_text(encoding="utf-8", errors="replace")): found.setdefault(form, file.relative_to(folder))
    return found
