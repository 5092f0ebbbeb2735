import CoreData

final class Located: NSManagedObject {
  static let ofModel = Bundle.main.url(forResource: "Constructs", withExtension: "momd")
  static let bundle = Bundle(for: Located.self)
  class var model: URL? { bundle.url(forResource: "Constructs", withExtension: "momd") }
  static func text(_ name: String = "absent", in bundle: Bundle = .main) -> String? {
    bundle.path(forResource: name, ofType: "txt")
  }
}

func bundleConstructs() {
  World.add([entity(Located.self, [])])
  construct(.bundles, "a resource of the main bundle") { expect(Located.ofModel == nil) }
  construct(.bundles, "a resource of the bundle of a class") {
    expect(Located.model == nil)
    expect(!Located.bundle.bundlePath.isEmpty)
  }
  construct(.bundles, "the path of a resource, with default arguments") { expect(Located.text() == nil) }
  construct(.bundles, "a resource in a folder") {
    expect(Bundle.main.url(forResource: "absent", withExtension: "txt", subdirectory: "Texts") == nil)
  }
  construct(.bundles, "the class of an entity by its name in the model") {
    let name: String? = Located.entity().managedObjectClassName
    expect(name.flatMap { NSClassFromString($0) } == Located.self)
    expect(NSClassFromString("Absent") == nil)
  }
  construct(.bundles, "a model of bundles") {
    expect(NSManagedObjectModel.mergedModel(from: [Bundle.main])?.entities.isEmpty != false)
    expect(Bundle.main.urls(forResourcesWithExtension: "momd", subdirectory: nil)?.isEmpty != false)
  }
}
