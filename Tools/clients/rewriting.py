"""The rules for sources of clients. Scripts/check_clients has a table of the rules R1 to R17, and M."""

import re

FRAMEWORKS = "Combine|SwiftUI|UIKit|AppKit|Cocoa|CloudKit|CoreLocation|Security|UniformTypeIdentifiers|CoreSpotlight|SwiftData"



def rewrite(text):
    """The text by rules R1 to R17."""
    text = re.sub(r"^[ \t]*//[ \t]*@objc.*\n", "", text, flags=re.M)  # so that no comment takes the next line, too
    text = re.sub(r"@objc[ \t]+(?:dynamic[ \t]+)?(?=var[ \t]+\w+[ \t]*:[^{\n]*$)", "final ", text, flags=re.M)  # R16
    text = re.sub(r"@objc(Members)?(?!\w)(\([\w.:]*\))?[ \t]*\n?", "", text)  # R1
    text = re.sub(r"@nonobjc\b[ \t]*\n?", "", text)
    text = re.sub(r"\bdynamic[ \t]+(?=(var|func|open|public|override|class|internal|private|fileprivate)\b)", "", text)  # R2
    text = re.sub(r"#keyPath\(\s*\w+(?:\.self)?\.([\w.]+)\s*\)", r'"\1"', text)  # R3
    text = re.sub(r"#keyPath\(\s*(\w+)\s*\)", r'"\1"', text)
    text = re.sub(r"NSStringFromSelector\(\s*#selector\(\s*getter:\s*(?:\w+\.)*(\w+)\s*\)\s*\)", r'"\1"', text)  # R4
    attributes = r"^([ \t]*)(?:@\w+(?:\([^)]*\))?[ \t]+)*(?:(?:public|internal|package|private|fileprivate)[ \t]+)?"
    kinds = r"(?:(?:class|struct|enum|protocol|func|typealias|let|var)[ \t]+)?"
    text = re.sub(attributes + r"import[ \t]+" + kinds + r"Foundation\.ValueTransformer\b.*$", r"\1import CoreData", text, flags=re.M)  # R9
    text = re.sub(attributes + rf"import[ \t]+{kinds}(?:{FRAMEWORKS})\b.*\n", r"", text, flags=re.M)  # R5
    text = re.sub(attributes + rf"import[ \t]+{kinds}(?:os|OSLog)\b(?:\.\w+)*.*$", r"\1import LoggingShim", text, flags=re.M)  # R6
    text = re.sub(rf"\bimport[ \t]+{kinds}CoreData\.\w+", "import CoreData", text)  # R7
    text = re.sub(r"\bFoundation\.ValueTransformer\b", "ValueTransformer", text)
    text = re.sub(  # R10
        r"\.addObserver\(\s*self,\s*selector:\s*#selector\(\s*(?:\w+\.)*(\w+)(?:\(([\w:]*)\))?\s*\),"
        r"\s*name:\s*([^,]+?),\s*object:\s*([^()]+?)\s*\)(?=\s*$)",
        lambda m: f".addObserver(forName: {m[3]}, object: {m[4]}, queue: nil) {{ [weak self] note in "
        f"self?.{m[1]}({'' if m[2] is not None and m[2] in ('', '_:') else (m[2] or '')}"
        f"{' ' if m[2] not in (None, '', '_:') else ''}note) }}",
        text,
        flags=re.M,
    )
    text = re.sub(r"\bobjc_sync_(enter|exit)\([^()]*\)", "()", text)  # R11
    text = re.sub(r"([\w)>]) as! NSFetchRequest<(\w+)>", r"\1.retyped(as: (\2).self)", text)  # R12
    text = re.sub(  # R14
        r"\(\s*(\w+)\s+as\s+AnyKeyPath\s*\)\._kvcKeyPathString!", r"NSExpression(forKeyPath: \1).keyPath", text
    )
    text = re.sub(r"#selector\(\s*(?:NSString|String|NSNumber|NSDate)\.(\w*[cC]ompare)(?:\(_:\))?\s*\)", r'Selector("\1:")', text)  # R15
    text = re.sub(r"\b(\w+)\.self\.classForCoder\(\)", r"\1.self", text)  # R17
    if not re.search(r"^[^/\n]*\bimport[ \t]+CoreData\b", text, re.M):  # R13
        text = re.sub(r"^([ \t]*)import[ \t]+Foundation\b", r"\1import CoreData", text, flags=re.M)
        if not re.search(r"^import CoreData\b", text, re.M):
            text = re.sub(r"^import XCTest\b", "import XCTest\nimport CoreData", text, flags=re.M)
    return text


def rewrite_managed(text):
    """The text by rule M."""

    def accessors(match):
        modifiers, name, kind = match[1], match[2], match[3].strip()
        primitive = re.fullmatch(r"primitive([A-Z])(\w*)", name)
        if primitive:
            key = primitive[1].lower() + primitive[2]
            get, set = f'primitiveValue(forKey: "{key}") as! {kind}', f'setPrimitiveValue(newValue, forKey: "{key}")'
        else:
            get = f'self[ManagedProperty<{re.sub("!$", "?", kind)}>("{name}")]'
            set = f"{get} = newValue"
        return f"{modifiers}var {name}: {kind} {{ get {{ {get} }} set {{ {set} }} }}"

    def members(match):
        modifiers, verb, key, parameter, kind = match[1], match[2], match[3][0].lower() + match[3][1:], match[4], match[5]
        call = f'mutableSetValue(forKey: "{key}").{"add" if verb == "addTo" else "remove"}'
        body = f"for member in {parameter} {{ {call}(member) }}" if kind == "NSSet" else f"{call}({parameter})"
        return f"{modifiers}func {verb}{match[3]}(_ {parameter}: {kind}) {{ {body} }}"

    text = re.sub(r"@NSManaged[ \t]+((?:\w+[ \t]+)*)func (addTo|removeFrom)(\w+)\(_ (\w+): (\w+)\)", members, text)
    return re.sub(r"@NSManaged[ \t]+((?:\w+(?:\(set\))?[ \t]+)*)var[ \t]+(\w+)[ \t]*:[ \t]*([^\n/={]+)", accessors, text)
