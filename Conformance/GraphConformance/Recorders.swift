import CoreData
import Foundation

/// Records events of contexts in order.
final class Recorder: @unchecked Sendable {
  private let lock = NSLock()
  private var lines: [String] = []
  private var watches: [any NSObjectProtocol] = []

  func note(_ line: String) { lock.withLock { lines.append(line) } }
  /// The entries since the last call.
  func take() -> [String] {
    lock.withLock {
      defer { lines = [] }
      return lines
    }
  }

  /// Records the notifications of a context, with the number of objects under each key.
  init(_ context: NSManagedObjectContext? = nil) {
    guard let context else { return }
    let names: [(String, Notification.Name)] = [
      ("willSave", .NSManagedObjectContextWillSave), ("didSave", .NSManagedObjectContextDidSave),
      ("didChange", .NSManagedObjectContextObjectsDidChange),
    ]
    for (text, name) in names {
      watches.append(
        NotificationCenter.default.addObserver(forName: name, object: context, queue: nil) { [weak self] note in
          self?.note(text + Self.sets(note))
        })
    }
  }

  deinit { for watch in watches { NotificationCenter.default.removeObserver(watch) } }

  private static func sets(_ note: Notification) -> String {
    [NSInsertedObjectsKey, NSUpdatedObjectsKey, NSDeletedObjectsKey, NSRefreshedObjectsKey].compactMap { key in
      guard let set = note.userInfo?[key] as? Set<NSManagedObject>, !set.isEmpty else { return nil }
      return " \(key) \(set.count)"
    }.joined()
  }
}

/// An object that records the calls of its methods.
class RecordedObject: NSManagedObject {
  /// The recorder of its context. It is kept for the time when the object has no context any more.
  private var recorder: Recorder?
  private func note(_ what: String) {
    if let context = managedObjectContext { recorder = context.userInfo["recorder"] as? Recorder }
    recorder?.note(what)
  }

  override func awakeFromInsert() {
    super.awakeFromInsert()
    note("awakeFromInsert")
  }
  override func awakeFromFetch() {
    super.awakeFromFetch()
    note("awakeFromFetch")
  }
  override func prepareForDeletion() {
    super.prepareForDeletion()
    note("prepareForDeletion")
  }
  override func willSave() {
    super.willSave()
    note("willSave of \(objectID.isTemporaryID ? "temporary" : "permanent")")
    if managedObjectContext?.userInfo["counts"] != nil, let number = number("number"), number < 5 {
      setValue(number + 1, forKey: "number")
    }
    if managedObjectContext?.userInfo["never ends"] != nil { setValue((number("number") ?? 0) + 1, forKey: "number") }
  }
  override func validateForInsert() throws {
    try super.validateForInsert()
    note("validateForInsert")
  }
  override func validateForUpdate() throws {
    try super.validateForUpdate()
    note("validateForUpdate")
  }
  override func validateForDelete() throws {
    try super.validateForDelete()
    note("validateForDelete")
  }
  override func didSave() {
    super.didSave()
    note("didSave of \(objectID.isTemporaryID ? "temporary" : "permanent")")
  }
  override func willTurnIntoFault() {
    super.willTurnIntoFault()
    note("willTurnIntoFault")
  }
  override func didTurnIntoFault() {
    super.didTurnIntoFault()
    note("didTurnIntoFault")
  }
}

extension Models {
  static let recorded = model([
    entity("Recorded", [attribute("number", .integer64AttributeType)], class: RecordedObject.self)
  ])
}

/// A value that a closure can change.
final class Held<Value>: @unchecked Sendable {
  var value: Value
  init(_ value: Value) { self.value = value }
}
