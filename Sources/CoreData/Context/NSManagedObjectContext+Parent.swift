import Foundation

extension NSManagedObjectContext {
  /// Always nil. Child contexts are not supported yet: setting a parent stops the program, because the context would
  /// save past its parent.
  public var parent: NSManagedObjectContext? {
    get { nil }
    set {
      if newValue == nil { return }
      misuse("Child contexts are not supported yet; give the context the coordinator of its parent instead.")
    }
  }
}
