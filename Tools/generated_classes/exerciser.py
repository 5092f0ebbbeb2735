"""The Swift source that exercises the classes of a model."""
import re

from .models import IDENTIFIER

# Names that have a meaning of their own behind a dot.
AFTER_DOT = {"self", "Self", "Type", "Protocol", "init"}
# Classes of Foundation that transformable attributes have in the corpus, with an expression for two values.
FOUNDATION = {
    "NSObject": "[NSArray(array: [1, 2]), NSString(string: \"text\")]",
    "NSString": "[NSString(string: \"one\"), NSString(string: \"two\")]",
    "NSAttributedString": "[NSAttributedString(string: \"one\"), NSAttributedString(string: \"two\")]",
    "NSArray": "[NSArray(array: [1, 2]), NSArray(array: [\"a\"])]",
    "NSDictionary": "[NSDictionary(dictionary: [\"a\": 1]), NSDictionary(dictionary: [\"b\": 2])]",
    "NSURL": "[NSURL(string: \"https://example.org/1\")!, NSURL(string: \"https://example.org/2\")!]",
    "[String]": "[[\"one\", \"two\"], []]",
    "[String: Double]": "[[\"one\": 1.5], [:]]",
}
# Accessors by the type of the attribute: of scalars, and of the others.
SCALARS = {
    "Integer 16": "[Int16.max, Int16.min]", "Integer 32": "[Int32.max, Int32.min]", "Integer 64": "[Int64.max, Int64.min]",
    "Double": "[1.5, -0.25]", "Float": "[Float(1.5), Float(-0.25)]", "Boolean": "[true, false]",
}
OBJECTS = {
    "Integer 16": "[NSNumber(value: Int16.max), NSNumber(value: Int16.min)]",
    "Integer 32": "[NSNumber(value: Int32.max), NSNumber(value: Int32.min)]",
    "Integer 64": "[NSNumber(value: Int64.max), NSNumber(value: Int64.min)]",
    "Double": "[NSNumber(value: 1.5), NSNumber(value: -0.25)]",
    "Float": "[NSNumber(value: Float(1.5)), NSNumber(value: Float(-0.25))]",
    "Boolean": "[NSNumber(value: true), NSNumber(value: false)]",
    "Date": "[Foundation.Date(timeIntervalSinceReferenceDate: 86_400), Foundation.Date(timeIntervalSinceReferenceDate: 0.5)]",
    "String": "[\"one\", \"\"]",
    "Binary": "[Foundation.Data([1, 2, 3]), Foundation.Data()]",
    "Decimal": "[NSDecimalNumber(string: \"1.25\"), NSDecimalNumber(string: \"-12345678901234567890.5\")]",
    "UUID": "[Foundation.UUID(), Foundation.UUID()]",
    "URI": "[Foundation.URL(string: \"https://example.org/1\")!, Foundation.URL(string: \"mailto:a@example.org\")!]",
}
FUNCTIONS = ["add", "remove", "addAll", "removeAll"]


def custom_class(facts):
    """The Swift type of a transformable attribute."""
    return (facts.get("customClassName") or "NSObject").removeprefix(".")


def stubs(model):
    """Declarations of the classes that attributes name and that the corpus does not have."""
    names = {custom_class(one.facts) for entity in model.entities.values() for one in entity.properties
             if one.kind == "attribute" and one.facts.get("attributeType") == "Transformable"}
    missing = sorted(name for name in names - set(FOUNDATION) - set(model.owners) if IDENTIFIER.fullmatch(name))
    return missing, "".join(f"public class {name}: NSObject {{}}\n" for name in missing)


class Exerciser:
    """The text for a model.

    `planned` has the properties that are exercised, by names such as Entity.property, also where the entity inherits the property.
    `left_out` has the other properties by reason, under the entity that declares them. `inherited` has properties that an entity
    inherits and that its class does not have.
    """

    def __init__(self, model):
        self.model, self.planned, self.left_out, self.inherited = model, {}, {}, {}
        self.stubs, declarations = stubs(model)
        lines, calls = [], []
        for number, entity in enumerate(model.ordered()):
            body = self.body(entity)
            if not body: continue
            lines += ["", f"private func exercise{number}(_ exercise: PropertyExercise) {{",
                      f"  guard let object = exercise.object({entity.class_name}.self, of: {quoted(entity.name)}) else {{ return }}",
                      *body, "}"]
            calls.append(f"  exercise{number}(exercise)")
        for entity in model.entities.values():
            if entity.is_abstract: self.abstract(entity)
        head = ["import CoreData", "public import ExerciseSupport", "import Foundation", "",
                f"/// The classes of {model.path}.", f"public func exercise_{model.module}(_ exercise: PropertyExercise) {{"]
        self.text = "\n".join([*head, *calls, "}", *lines, ""])
        self.declarations = "public import Foundation\n\n" + declarations if declarations else ""

    def abstract(self, entity):
        """Counts the properties of an abstract entity that no child has exercised."""
        declared = {(one.owner, one.name) for one in self.planned.values()}
        for one in entity.properties:
            if (one.owner, one.name) not in declared:
                self.leave("the entity is abstract, and no child of it has objects and a class", entity, one)

    def leave(self, reason, entity, one):
        reasons = self.left_out if one.owner == entity.name else self.inherited
        reasons.setdefault(reason, []).append(f"{entity.name}.{one.name}")

    def body(self, entity):
        """The lines for one entity, with the properties of its parents."""
        if entity.is_abstract: return []
        if not entity.class_name:
            for one in entity.properties: self.leave("the entity has no class of its own", entity, one)
            return []
        # The properties of the class are those of the entity that it is generated for, and of its parents' classes.
        known = {(one.owner, one.name) for one in self.declared(entity.class_name)}
        lines = []
        for one in self.model.properties(entity.name):
            if (one.owner, one.name) not in known: self.leave(self.unknown(one), entity, one)
            elif not IDENTIFIER.fullmatch(one.name): self.leave("the name cannot be a name in Swift", entity, one)
            elif text := self.statement(entity, one):
                lines.append(f"  exercise.{text}")
                self.planned[f"{entity.name}.{one.name}"] = one
        return lines

    def unknown(self, one):
        """Why the class of an entity does not have a property."""
        has_class = self.model.entities[one.owner].class_name
        return "the class is generated for another entity" if has_class else "the entity has no class of its own"

    def declared(self, class_name):
        owner = self.model.owners[class_name]
        found = list(owner.properties)
        if parent := self.model.entities.get(owner.parent):
            if parent.class_name and parent.class_name != class_name: found += self.declared(parent.class_name)
        return found

    def statement(self, entity, one):
        """The call for a property, or nothing where it is left out."""
        member = f"`{one.name}`" if one.name in AFTER_DOT else one.name
        start = f"object, {quoted(one.name)}, \\{entity.class_name}.{member}"
        get = f"get: {{ $0.{member} }}"
        access = f"{get}, set: {{ $0.{member} = $1 }}"
        if one.kind == "fetchedProperty": return f"reads({start}, nothing: nil, {get})"
        if one.kind == "relationship": return self.relationship(entity, one, start, access)
        kind = one.facts.get("attributeType", "Undefined")
        is_scalar = one.flag("usesScalarValueType") and (kind in SCALARS or kind == "Date")
        if one.flag("derived"): return f"reads({start}, nothing: {'0' if is_scalar else 'nil'}, {get})"
        if kind == "Composite":
            return f"composite({start}, [{self.composite(one.facts)}], {access})"
        if kind in ("Transformable", "Undefined"):
            name = custom_class(one.facts)
            values = FOUNDATION.get(name, f"[{name}(), {name}()]" if name in self.stubs else None)
            if values is None:
                self.leave(f"no values are known for the type {name}", entity, one)
                return None
            return f"optional({start}, {values}, {access})"
        if is_scalar: return f"seconds({start}, {access})" if kind == "Date" else f"scalar({start}, {SCALARS[kind]}, {access})"
        return f"optional({start}, {OBJECTS[kind]}, {access})"

    def composite(self, facts):
        """A dictionary with the first value of each element."""
        elements = self.model.composites.get(facts.get("composite"), [])
        values = {element["name"]: OBJECTS[element["attributeType"]] for element in elements if element["attributeType"] in OBJECTS}
        return "[" + (", ".join(f"{quoted(name)}: {value}[0]" for name, value in values.items()) or ":") + "]"

    def relationship(self, entity, one, start, access):
        destination = one.facts["destinationEntity"]
        source = self.model.concrete(destination)
        if not source:
            self.leave("the destination is abstract, and no child of it has objects and a class", entity, one)
            return None
        members = f"exercise.members({self.model.class_of(destination)}.self, of: {quoted(source)}, count: "
        if not one.flag("toMany"): return f"optional({start}, {members}2), {access})"
        name = one.name[0].upper() + one.name[1:]
        calls = [f"{{ $0.{prefix}{name}($1) }}" for prefix in ("addTo", "removeFrom") * 2]
        functions = ".init(" + ", ".join(f"{label}: {call}" for label, call in zip(FUNCTIONS, calls)) + ")"
        if not one.flag("ordered"): return f"toMany({start}, {members}3), {access}, {functions})"
        indexed = (f".init(insert: {{ $0.insertInto{name}($1, at: $2) }}, remove: {{ $0.removeFrom{name}(at: $1) }}, "
                   f"insertAll: {{ $0.insertInto{name}($1, at: $2) }}, removeAll: {{ $0.removeFrom{name}(at: $1) }}, "
                   f"replace: {{ $0.replace{name}(at: $1, with: $2) }}, replaceAll: {{ $0.replace{name}(at: $1, with: $2) }})")
        return f"ordered({start}, {members}3), {access}, {functions}, {indexed})"


def quoted(text): return '"' + re.sub(r'(["\\])', r"\\\1", text) + '"'
