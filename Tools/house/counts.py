"""Lines by module and stored properties by type, as the sources have them."""
import collections
import re

TYPE = re.compile(r"^(?P<indent> *)(?:(?:public|package|internal|fileprivate|private|open|final|indirect|@\w+(?:\([^)]*\))?)\s+)*"
                  r"(?:class|struct|actor|enum|extension)\s+(?P<name>[\w.]+)")
STORED = re.compile(r"^ *(?:(?:public|package|internal|fileprivate|private|open|final|weak|unowned(?:\(\w+\))?|lazy|nonisolated(?:\(\w+\))?"
                    r"|(?:public|package|internal|fileprivate|private)\(set\)|@\w+(?:\([^)]*\))?)\s+)*(?:let|var)\s+\(?\w+")
COMPUTED = re.compile(r"\{\s*(?!didSet|willSet)(?:$|\S)")


def modules(root):
    """The lines of Swift of each module, the longest first."""
    found = collections.Counter()
    for file in [*root.glob("Sources/*/**/*.swift"), *root.glob("Backends/*/Sources/**/*.swift")]:
        found[file.relative_to(root).parts[1]] += len(file.read_text().splitlines())
    return found


def stored_properties(root):
    """The number of stored properties of each class and struct, with the names of the types around it and its module.

    It reads lines as the formatter leaves them: a property of a type stands two columns further in than the type.
    """
    found = collections.Counter()
    for file in [*root.glob("Sources/**/*.swift"), *root.glob("Backends/*/Sources/**/*.swift")]:
        types = []
        for line in file.read_text().splitlines():
            indent = len(line) - len(line.lstrip(" "))
            if line.strip() == "}": types = [each for each in types if each[0] < indent]
            if match := TYPE.match(line):
                types.append((len(match["indent"]), match["name"]))
            elif types and indent == types[-1][0] + 2 and STORED.match(line) and " static " not in f" {line}":
                if not COMPUTED.search(line.split("=")[0]):
                    name = ".".join(name for _, name in types)
                    found[f"{name} ({file.relative_to(root).parts[1]})"] += 1
    return found
