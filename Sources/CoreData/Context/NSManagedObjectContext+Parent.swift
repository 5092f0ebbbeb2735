import Foundation

extension NSManagedObjectContext {
  /// The context whose state this one reads, unsaved changes included, and to which it saves; nil for a context that
  /// uses the stores of its coordinator.
  ///
  /// - A fetch, and a fault that fires, shows the parent's present state.
  /// - A save makes the changes unsaved changes of the parent. No store is written. They are validated in this context,
  ///   and again when the parent saves.
  /// - New objects keep their temporary IDs until the root of the contexts saves them.
  /// - This context sees later changes of the parent when it reads an object again: after a refresh, a merge or a
  ///   fetch of objects that it does not have yet; see ``automaticallyMergesChangesFromParent``.
  ///
  /// Set it once, before the context is used, and instead of a coordinator. A context with a parent has its parent's
  /// coordinator. The context keeps its parent alive. A parent that has this context as an ancestor or no queue, a
  /// second parent, and a parent for a context that has a coordinator or objects, stop the program.
  /// https://developer.apple.com/documentation/coredata/nsmanagedobjectcontext/parent
  public var parent: NSManagedObjectContext? {
    get { parentContext }
    set { attach(to: newValue) }
  }

  private func attach(to parent: NSManagedObjectContext?) {
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
