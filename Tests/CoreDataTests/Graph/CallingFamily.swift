import CoreData
import Foundation
import TestSupport
import Testing

/// An item that runs a closure when it is read, when its deletion is prepared, and when its update is validated.
final class CallingItem: NSManagedObject {
  struct Calls {
    var whenRead: (CallingItem) -> Void = { _ in }
    var whenDeleted: (CallingItem) -> Void = { _ in }
    var whenValidated: (CallingItem) -> Void = { _ in }
  }

  /// By context, because tests run in parallel.
  private static let key = "calls"

  static func set(_ calls: Calls, _ context: NSManagedObjectContext) { context.userInfo[key] = calls }

  private var calls: Calls? { managedObjectContext?.userInfo[Self.key] as? Calls }

  override func awakeFromFetch() { calls?.whenRead(self) }
  override func prepareForDeletion() { calls?.whenDeleted(self) }
  override func validateForUpdate() throws {
    try super.validateForUpdate()
    calls?.whenValidated(self)
  }
}

/// A root context and a child on a store of such items.
struct CallingFamily {
  static let model: NSManagedObjectModel = {
    let model = UndoStack.model.copy() as! NSManagedObjectModel
    model.entitiesByName["Item"]?.managedObjectClassName = "CoreDataTests.CallingItem"
    return model
  }()

  let stack: UndoStack
  var root: NSManagedObjectContext { stack.contexts[0] }
  var child: NSManagedObjectContext { stack.contexts[1] }

  /// A family on a store that has items with the names.
  init(_ names: String...) throws {
    stack = try UndoStack(levels: 2, model: Self.model)
    try stack.elsewhere { context in
      for name in names { _ = UndoStack.insert(name, context) }
      try context.save()
    }
  }

  func item(_ name: String, _ context: NSManagedObjectContext) throws -> NSManagedObject {
    try #require(try UndoStack.items(context).first { $0["name"] as? String == name })
  }

  func stored(_ key: String = "name") throws -> [String] {
    try stack.elsewhere { try UndoStack.items($0).map { "\($0[key] ?? "nil")" }.sorted() }
  }
}
