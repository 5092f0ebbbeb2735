"""The files of the packages: sources and models as Xcode has them, and a program that shows what became of them."""

MODEL = """<?xml version="1.0" encoding="UTF-8" standalone="yes"?>
<model type="com.apple.IDECoreDataModeler.DataModel" documentVersion="1.0" sourceLanguage="Swift" \
userDefinedModelVersionIdentifier="">{entities}</model>
"""


def model(entities):
    """The `contents` of a model. `entities` has the attributes of each entity, by names. The class of an entity whose
    name ends with an asterisk is generated during the build."""
    def text(name, attributes):
        generated = ' codeGenerationType="class"' if name.endswith("*") else ""
        name = name.rstrip("*")
        rows = "".join(f'<attribute name="{one}" optional="YES" attributeType="String"/>' for one in attributes)
        return f'<entity name="{name}" representedClassName=".{name}"{generated} syncable="YES">{rows}</entity>'
    return MODEL.format(entities="".join(text(*entity) for entity in entities.items()))


def current_version(name):
    return f"""<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0"><dict><key>_XCCurrentVersionName</key><string>{name}.xcdatamodel</string></dict></plist>
"""


def mapping(attributes, old="Library", new="Library 2"):
    """The `xcmapping.xml` of a mapping of Book, with these attributes."""
    path = "Model/Layer/Library.xcdatamodeld"
    rows = "".join(
        f'<object type="XDDEVATTRIBUTEMAPPING" id="z{number}"><attribute name="name" type="string">{name}</attribute></object>'
        for number, name in enumerate(attributes, 10))
    ids = " ".join(f"z{number}" for number in range(10, 10 + len(attributes)))
    return f"""<?xml version="1.0" standalone="yes"?>
<database><object type="XDDEVMAPPINGMODEL" id="z1">
<attribute name="sourcemodelpath" type="string">{path}/{old}.xcdatamodel</attribute>
<attribute name="destinationmodelpath" type="string">{path}/{new}.xcdatamodel</attribute>
<relationship name="entitymappings" type="0/0" destination="XDDEVENTITYMAPPING" idrefs="z2"></relationship></object>
<object type="XDDEVENTITYMAPPING" id="z2"><attribute name="sourcename" type="string">Book</attribute>
<attribute name="destinationname" type="string">Book</attribute>
<relationship name="attributemappings" type="0/0" destination="XDDEVATTRIBUTEMAPPING" idrefs="{ids}"></relationship></object>
{rows}</database>
"""


def managed(name, attributes):
    """A class as Xcode generates it, in one file."""
    variables = "\n".join(f"  @NSManaged public var {one}: String?" for one in attributes)
    return f"""public import CoreData

@objc({name})
public class {name}: NSManagedObject {{
  public override func value(forUndefinedKey key: String) -> Any? {{ "none" }}
}}

extension {name} {{
  @nonobjc public class func fetchRequest() -> NSFetchRequest<{name}> {{ NSFetchRequest<{name}>(entityName: "{name}") }}

{variables}
}}
"""


def own(*imports):
    """The source that the target compiles itself."""
    return "".join(f"import {one}\n" for one in ("CoreData", *imports)) + """
/// A target needs a source of its own: Swift's package manager leaves out a target without any.
enum Own {}
"""


# The model layer of the library. An override stands in an extension, in another file than its class.
BOOK = managed("Book", ["title", "pages"])
LABELS = """import CoreData
import Other

extension Book {
  @objc public var label: String { "label of \\(title ?? "")" }

  @objc public var authorPath: String { #keyPath(Author.name) }
}
"""
SHELF = """import CoreData

extension Book {
  @objc public var shelf: String { "NAME" }
}
"""
OVERRIDE = """import CoreData

extension Book {
  private static let mark = "MARK"

  public override func awakeFromInsert() {
    super.awakeFromInsert()
    title = Self.mark
  }
}
"""
# The class is generated, in another file.
NOTE = """import CoreData

extension Note {
  public override func value(forUndefinedKey key: String) -> Any? { "none" }

  @objc public var noteText: String { "TEXT" }
}
"""
# Line 5 has the error.
BROKEN = """import CoreData

extension Book {
  @objc public var shelf: String {
    42
  }
}
"""

AUTHOR = managed("Author", ["name"]) + """
extension Author {
  @objc public var greeting: String { "GREETING" }
}
"""

PROGRAM = """import CoreData
import Foundation
import Model
import Other

/// Prints what the build gave the program, a line for each fact.
@main
struct Program {
  static func main() throws {
    for name in ["Library", "Settings", "Other"] {
      let container = NSPersistentContainer(name: name)
      print("container \\(name): \\(text(container.managedObjectModel))")
    }
    let merged = NSManagedObjectModel.mergedModel(from: nil)
    print("merged: \\((merged?.entities ?? []).compactMap(\\.name).sorted().joined(separator: " "))")
    for (name, bundle) in [("main bundle", Bundle.main), ("bundle of a class", Bundle(for: Book.self))] {
      print("\\(name): \\(bundle.url(forResource: "Library", withExtension: "momd")?.lastPathComponent ?? "nil")")
    }
    try show(NSPersistentContainer(name: "Library"))
    let settings = context(NSPersistentContainer(name: "Settings"))
    let setting = Setting(context: settings)
    print("setting: \\(setting.theme ?? "none")")
    let author = Author(context: context(NSPersistentContainer(name: "Other")))
    print("author: \\(value(author, "greeting"))")
  }

  static func show(_ container: NSPersistentContainer) throws {
    let context = context(container)
    let book = Book(context: context)
    print("born: \\(book.title ?? "none")")
    for key in ["label", "shelf", "authorPath"] { print("\\(key): \\(value(book, key))") }
    print("note: \\(value(Note(context: context), "noteText"))")
    try context.save()
    print("found: \\(try context.fetch(Book.fetchRequest()).count)")
  }

  static func context(_ container: NSPersistentContainer) -> NSManagedObjectContext {
    let description = NSPersistentStoreDescription()
    description.type = NSInMemoryStoreType
    container.persistentStoreDescriptions = [description]
    container.loadPersistentStores { _, error in
      if let error { fatalError("\\(error)") }
    }
    return container.viewContext
  }

  static func value(_ object: NSManagedObject, _ key: String) -> String { object.value(forKey: key) as? String ?? "nil" }

  static func text(_ model: NSManagedObjectModel) -> String {
    let entities = model.entities.sorted { ($0.name ?? "") < ($1.name ?? "") }
    return entities.map { "\\($0.name ?? "")(\\($0.attributesByName.keys.sorted().joined(separator: " ")))" }
      .joined(separator: " ")
  }
}
"""

SETTING = managed("Setting", ["theme"]) + """
extension Setting {
  public override func awakeFromInsert() {
    super.awakeFromInsert()
    theme = "dark"
  }
}
"""

TESTS = """import CoreData
import Other
import XCTest

@testable import Model

final class BookTests: XCTestCase {
  @objc class Draft: NSManagedObject {
    @NSManaged var text: String?
  }

  func testTheModelIsFound() {
    let model = NSPersistentContainer(name: "Library").managedObjectModel
    XCTAssertNotNil(model.entitiesByName["Book"])
    let merged = NSManagedObjectModel.mergedModel(from: nil)
    XCTAssertNotNil(merged?.entitiesByName["Book"])
    XCTAssertNotNil(merged?.entitiesByName["Author"])
    XCTAssertNotNil(merged?.entitiesByName["Draft"])
  }

  func testKeyPaths() {
    XCTAssertEqual(#keyPath(Book.title), "title")
  }
}
"""
