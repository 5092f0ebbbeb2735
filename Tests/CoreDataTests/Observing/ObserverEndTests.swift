import CoreData
import Foundation
import Testing

extension HookedItem {
  static let nameProperty = ManagedProperty<String?>("name")
  static let numberProperty = ManagedProperty<Int32>("number")
  static let sizeProperty = ManagedProperty<Int64>("size")
  static let photoProperty = ManagedProperty<Data?>("photo")
  fileprivate var observedName: String? { value(of: Self.nameProperty) }
  fileprivate var observedNumber: Int32 { value(of: Self.numberProperty) }
  fileprivate var observedSize: Int64 { value(of: Self.sizeProperty) }
  fileprivate var observedPhoto: Data? { value(of: Self.photoProperty) }
}

/// Observations that end while the context looks for changes of their object.
@Suite struct ObserverEndTests {
  private final class Ends: @unchecked Sendable { var observation: NSKeyValueObservation? }

  /// Reading the object runs code of the client, which may end the observation of one property. The observers of the
  /// others are still called.
  @Test func anObservationThatEndsDoesNotHideOthers() throws {
    let model = try #require(UndoStack.model.copy() as? NSManagedObjectModel)
    model.entitiesByName["Item"]?.managedObjectClassName = "CoreDataTests.HookedItem"
    let stack = try UndoStack(model: model)
    // Several objects, because the order in which properties are compared is not fixed.
    for round in 0..<8 {
      let item = try #require(stack.event { UndoStack.insert("a\(round)", $0) } as? HookedItem)
      try stack.saveAll()
      try stack.elsewhere { context in
        let other = try context.existingObject(with: item.objectID)
        for (key, value) in ["name": "b", "number": 5, "size": 6, "photo": Data([1])] as [String: Any] {
          other.setValue(value, forKey: key)
        }
        try context.save()
      }
      let ends = Ends()
      let hook = HookedItem.Hook { ends.observation?.invalidate() }
      stack.event { context in
        let (sizes, photos) = (ObservationLog<Int64>(), ObservationLog<Data?>())
        let (names, numbers) = (ObservationLog<String?>(), ObservationLog<Int32>())
        let options: NSKeyValueObservingOptions = [.old, .new]
        names.observation = item.observe(\.observedName, options: options) { names.note($1) }
        numbers.observation = item.observe(\.observedNumber, options: options) { numbers.note($1) }
        sizes.observation = item.observe(\.observedSize, options: options) { sizes.note($1) }
        photos.observation = item.observe(\.observedPhoto, options: options) { photos.note($1) }
        ends.observation = sizes.observation
        HookedItem.$hook.withValue(hook) { context.refresh(item, mergeChanges: false) }
        #expect(hook.hasRun && sizes.changes.isEmpty)
        #expect(names.changes.map(\.new) == ["b"] && numbers.changes.map(\.new) == [5])
        #expect(photos.changes.map(\.new) == [Data([1])])
      }
    }
  }
}
