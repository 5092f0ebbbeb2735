"""The changes, each followed by one build."""
import shutil

from . import packages, sources
from .packages import APP, OTHER, model_files, write
from .world import DEBUG, LAYER, LIBRARY, RESOURCES, World, names, replace, unlike

OTHER_LAYER = OTHER / "Sources" / "Other" / "Layer"


def shelf(name): return sources.SHELF.replace("NAME", name)


def contents(version): return LIBRARY / f"{version}.xcdatamodel" / "contents"


def stale_results():
    """The Swift sources among the results that come from no source."""
    found = names(packages.results("app", "Model"))
    return [name for name in found if "Shelf" in name]


def files(world: World):
    """Sources of a library's layer."""
    replace(LAYER / "Book+Labels.swift", "label of", "tag of")
    world.step("file changed", "Model", label="tag of born here")
    write(LAYER / "Book+Shelf.swift", shelf("first floor"))
    world.step("file added", "Model", shelf="first floor")
    (LAYER / "Book+Shelf.swift").rename(LAYER / "Book+Place.swift")
    world.step("file renamed", "Model", fault=lambda: unlike("stale results", stale_results(), []))
    override = sources.OVERRIDE.replace("MARK", "born there")
    write(LAYER / "Book+Born.swift", "import CoreData\n\nextension Book {}\n")
    write(LAYER / "Book+Place.swift", shelf("first floor") + override.replace("import CoreData\n", ""))
    world.step("override moved to another file", "Model", born="born there", label="tag of born there")
    write(LAYER / "Book.swift", (LAYER / "Book.swift").read_text() + "\n// A comment.\n")
    world.step("file of the overridden class changed", "Model")
    (LAYER / "Book+Place.swift").unlink()
    world.step("file removed", "Model", born="none", label="tag of ", shelf="none")
    write(LAYER / "Book+Shelf.swift", sources.BROKEN)
    world.failing("file with an error", f"{LAYER / 'Book+Shelf.swift'}:5:", "error:")
    write(LAYER / "Book+Shelf.swift", shelf("second floor"))
    world.step("file mended", "Model", shelf="second floor")
    replace(APP / "Sources" / "Program" / "Layer" / "Setting.swift", "dark", "light")
    world.step("file of the program's layer changed", "Program", setting="light")
    top_level(world)


def top_level(world: World):
    """Statements outside of functions, which only a file with the name `main.swift` may have."""
    layer = APP / "Sources" / "Program" / "Layer"
    replace(layer / "Program.swift", "@main\n", "")
    write(layer / "main.swift", 'print("top: level")\ntry Program.main()\n')
    world.step("main.swift in the layer", "Program", top="level")
    del world.expected["top"]
    (layer / "main.swift").unlink()
    replace(layer / "Program.swift", "struct Program", "@main\nstruct Program")
    world.step("main.swift removed", "Program")


def models(world: World):
    """Models and mapping models of a library's layer."""
    library = packages.LIBRARY_2 | {"Note*": ["text", "weight"]}
    mapped = cdm()
    write(contents("Library 2"), sources.model(library))
    world.step("model changed", "Model", container_Library="Book(pages title) Note(text weight)")
    replace(LAYER / "Note+Text.swift", '"none" }\n}', '"weighs \\(weight ?? "nothing")" }\n}')
    world.step("generated class has the attribute", "Model", note="weighs nothing")
    # The mapping model has hashes of the entities of the model.
    library["Book"] = ["title", "pages", "isbn"]
    write(contents("Library 2"), sources.model(library))
    world.step("model of a mapping changed", "Model", container_Library="Book(isbn pages title) Note(text weight)",
               fault=lambda: cdm() == mapped and "the compiled mapping model is as before")
    write(contents("Library 3"), sources.model(library | {"Book": ["title"]}))
    world.step("model version added", "Model", fault=lambda: versions("Library", "Library 2", "Library 3"))
    write(LIBRARY / ".xccurrentversion", sources.current_version("Library 3"))
    world.step("current version changed", "Model", container_Library="Book(title) Note(text weight)")
    write(LIBRARY / ".xccurrentversion", sources.current_version("Library 2"))
    shutil.rmtree(contents("Library 3").parent)
    world.step("model version removed", "Model", container_Library="Book(isbn pages title) Note(text weight)",
               fault=lambda: versions("Library", "Library 2"))
    write(LAYER / "OneToTwo.xcmappingmodel" / "xcmapping.xml", sources.mapping(["title", "isbn"]))
    world.step("mapping model changed", "Model", fault=lambda: b"isbn" not in cdm() and "the compiled one has no isbn")
    replace(contents("Library 2"), 'attributeType="String"', 'attributeType="Text"')
    world.failing("model with an error", "Library 2.xcdatamodel", "error:")
    write(contents("Library 2"), sources.model(library))
    world.step("model mended", "Model")


def cdm():
    """The texts of the compiled mapping model."""
    file = RESOURCES / "OneToTwo.cdm"
    return file.read_bytes() if file.exists() else b""


def versions(*expected):
    moms = sorted(name.removesuffix(".mom") for name in names(RESOURCES / "Library.momd") if name.endswith(".mom"))
    return unlike("versions", moms, list(expected))


def removals(world: World):
    """Models that are gone: their compiled forms must be gone, too, because a merged model would contain them."""
    def left(expected): return lambda: unlike("resources", names(RESOURCES), expected)
    shutil.rmtree(LAYER / "Extra.xcdatamodeld")
    world.step("model removed", "Model", merged="Author Book Draft Note Setting", fault=left(["Library.momd", "OneToTwo.cdm"]))
    (LAYER / "OneToTwo.xcmappingmodel").rename(LAYER / "1to2.xcmappingmodel")
    world.step("mapping model renamed", "Model", fault=left(["1to2.cdm", "Library.momd"]))
    for path, text in model_files("Extra.xcdatamodeld", {"Extra": {"Leaflet*": ["text"]}}).items(): write(LAYER / path, text)
    world.step("model added", "Model", merged="Author Book Draft Leaflet Note Setting",
               fault=left(["1to2.cdm", "Extra.momd", "Library.momd"]))


def other_package(world: World):
    """The layer of the package that the first depends on."""
    replace(OTHER_LAYER / "Author.swift", "hello", "good day")
    world.step("file of another package changed", "Other", author="good day")
    write(OTHER_LAYER / "Other.xcdatamodeld" / "Other.xcdatamodel" / "contents", sources.model({"Author": ["name", "born"]}))
    world.step("model of another package changed", "Other", container_Other="Author(born name)")
    write(OTHER_LAYER / "Author+Born.swift", sources.OVERRIDE.replace("Book", "Author").replace("title", "name")
          .replace("MARK", "Ada"))
    replace(OTHER_LAYER / "Author.swift", '"good day"', '"good day \\(name ?? "")"')
    # Swift's package manager does not look for new files in a package that is named by its path, with the plugin or
    # without it.
    (APP / "Package.swift").touch()
    world.step("file of another package added, and the manifest touched", "Other", author="good day Ada")


def links(world: World):
    """A folder in the layer that is a symbolic link."""
    shared = APP / "Shared"
    write(shared / "Linked+Shelf.swift", shelf("linked floor"))
    for path, text in model_files("Linked.xcdatamodeld", {"Linked": {"Map*": ["text"]}}).items(): write(shared / path, text)
    (LAYER / "Book+Shelf.swift").unlink(missing_ok=True)
    (LAYER / "Book+Born.swift").unlink(missing_ok=True)
    label = world.expected["label"].split(" of ")[0] + " of "
    (LAYER / "Linked").symlink_to("../../../Shared")
    world.step("linked folder added", "Model", shelf="linked floor", born="none", label=label,
               merged="Author Book Draft Leaflet Map Note Setting")
    write(shared / "Linked+Shelf.swift", shelf("other floor"))
    world.step("file in a linked folder changed", "Model", shelf="other floor")
    write(shared / "Linked+Born.swift", sources.OVERRIDE.replace("MARK", "born elsewhere"))
    world.step("file in a linked folder added", "Model", born="born elsewhere", label=label + "born elsewhere")
    (LAYER / "Loop").symlink_to(".")
    world.step("link to the folder itself", "Model")


def rules(world: World):
    """The other way to leave the layer out: `sources:` says what the target compiles itself."""
    text = (APP / "Package.swift").read_text()
    write(APP / "Package.swift", text.replace(packages.RULE, packages.SOURCES_RULE))
    # Swift's package manager warns of each model, which is why `exclude:` is better.
    world.step("sources: in place of exclude:", "Model", "Program",
               fault=lambda: not world.unhandled and "models are no longer reported as unhandled: exclude: is not needed")
    write(APP / "Package.swift", text)
    world.step("exclude: in place of sources:", "Model", "Program", fault=lambda: world.unhandled)


def tests(world: World):
    """The layer of a test target."""
    layer = APP / "Tests" / "ModelTests" / "Layer"
    world.tests("tests pass", "Executed 2 tests, with 0 failures")
    replace(layer / "BookTests.swift", '"title"', '"name"')
    line = (layer / "BookTests.swift").read_text().splitlines().index('    XCTAssertEqual(#keyPath(Book.title), "name")') + 1
    world.tests("file of the tests changed", f"{layer / 'BookTests.swift'}:{line}: error:", '("title") is not equal to ("name")')
    replace(layer / "BookTests.swift", '"name"', '"title"')
    write(layer / "Drafts.xcdatamodeld" / "Drafts.xcdatamodel" / "contents", sources.model({"Draft": ["text", "date"]}))
    replace(layer / "BookTests.swift", 'entitiesByName["Draft"])', 'entitiesByName["Draft"]?.attributesByName["date"])')
    world.tests("model of the tests changed", "Executed 2 tests, with 0 failures")
