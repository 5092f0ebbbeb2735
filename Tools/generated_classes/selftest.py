"""Changes a generated class in known ways, and expects what is found then."""
import tempfile
from pathlib import Path

from . import build
from .models import all_models

# A small model, and the line of a class of it that is changed.
MODEL, LINE = "SampleModel3.xcdatamodeld/SampleModel3.xcdatamodel", "@NSManaged public var petName: String?"
# What stands in its place, and a part of what is found then.
PLANTS = {
    "a setter that stores something else": (
        "public var petName: String? { get { value(forKey: \"petName\") as? String } set { setValue(\"x\", forKey: \"petName\") } }",
        "User.petName: the key, set by the accessor"),
    "an accessor of another property": (
        "public var petName: String? { get { name } set { name = newValue } }", "the name of the key path: found name, expected petName"),
    "another type": ("@NSManaged public var petName: Int32", "ReferenceWritableKeyPath<User, Int32>"),
    "a warning": (LINE + "\n    public func plant() { let number = 1 }", "was never used"),
    "a rewriter's finding": (LINE + "\n    @NSManaged public func plant() -> Int", "the rewriter reports"),
}


def findings(model, work, replacement=LINE):
    """The failures of the model with a changed line."""
    target = build.Target(model, work)
    changed = []

    def plant(_, text):
        if LINE in text: changed.append(True)
        return text.replace(LINE, replacement)

    try:
        target.prepare(plant)
        if not changed: return ["the line that is to be changed is missing"]
        target.compile()
        done, failures = target.run(build.link([target], work))
    except build.Failure as failure: return [str(failure)]
    return failures + [f"{name} is not exercised" for name in set(target.exerciser.planned) - done if not failures]


def run(corpus):
    model = next(model for model in all_models(corpus) if model.path.endswith(MODEL))
    wrong = []
    with tempfile.TemporaryDirectory(prefix="generated-classes-") as folder:
        work = Path(folder)
        build.compile_module("ExerciseSupport", [build.SUPPORT], work)
        if found := findings(model, work): wrong.append(f"the model without a change: {found[0]}")
        for name, (replacement, expected) in PLANTS.items():
            found = findings(model, work, replacement)
            if not any(expected in line for line in found): wrong.append(f"{name}: found {found or 'nothing'}, expected {expected!r}")
    for line in wrong: print(line)
    print(f"{len(PLANTS) + 1 - len(wrong)} of {len(PLANTS) + 1} changes are judged right")
    return 1 if wrong else 0
