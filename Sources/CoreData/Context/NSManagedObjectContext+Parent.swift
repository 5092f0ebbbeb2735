import Foundation

extension NSManagedObjectContext {
  /// Makes this context a child, or stops the program; see ``parent``.
  final func attach(to parent: NSManagedObjectContext?) {
    if parent === parentContext { return }
    guard let parent, parentContext == nil else {
      misuse("A context has one parent, which cannot be replaced or removed; make another context.")
    }
    if core.coordinator != nil || !core.registry.all.isEmpty {
      misuse("The context has a coordinator or objects; set its parent before it is used, instead of a coordinator.")
    }
    if parent.core.queue.confinement == .client {
      misuse("A parent context has a queue: its concurrency type must be privateQueue or mainQueue.")
    }
    var ancestor: ContextCore? = parent.core
    while let next = ancestor {
      if next === core { misuse("A context cannot be an ancestor of its own parent.") }
      ancestor = next.parent
    }
    parentContext = parent
    core.attach(to: parent.core)
  }
}
