import CoreData

class Root: NSManagedObject {}

extension Root {
  override convenience init() { self.init(context: .main) }  // finding: an extension cannot override init
  override var isInserted: Bool { didSet {} }  // finding: this override of an extension could not be read
  override func key(_ key: String = #keyPath(Root.name)) {}  // finding: could not be read; move it into Root
}

extension NSManagedObjectContext {
  override func refreshAllObjects() {}  // finding: move it into NSManagedObjectContext, or override it in a subclass
  @objc func flush() {}  // finding: a subclass overrides this member of an extension
}

final class MockContext: NSManagedObjectContext {
  override func flush() {}  // error: cannot be overridden
}
