import Foundation

extension NSManagedObjectContext {
  /// Always nil. Not yet: setting a parent stops the program, as a context without one would save past it.
  public var parent: NSManagedObjectContext? {
    get { nil }
    set {
      if newValue == nil { return }
      misuse("Child contexts are not supported yet; give the context the coordinator of its parent instead.")
    }
  }
}
