import CoreData
import Foundation
import TestSupport
import Testing

/// Values after an undo or a refresh: of others, of files, of stores that keep objects.
@Suite struct UndoneValueTests {
  /// The accessor of a transient attribute, as Apple's guide writes it.
  @Test func transientValuesOfAccessorsAreUndone() throws {
    let stack = try UndoStack()
    let item = try stack.savedItem()
    stack.manager.removeAllActions()
    func set(_ value: String) {
      stack.event { _ in
        item.willChangeValue(forKey: "memo")
        item.setPrimitiveValue(value, forKey: "memo")
        item.didChangeValue(forKey: "memo")
      }
    }
    set("first")
    set("second")
    #expect(stack.manager.canUndo)
    stack.event { $0.undo() }
    stack.context.performAndWait { #expect(item["memo"] as? String == "first") }
    stack.event { $0.undo() }
    stack.context.performAndWait { #expect(item["memo"] == nil) }
    stack.event { $0.redo() }
    stack.context.performAndWait { #expect(item["memo"] as? String == "first") }
  }

  /// A value that was set back and then replaced by another context's is none of the event's changes.
  @Test func newerValuesOutliveAnUndo() throws {
    let stack = try UndoStack()
    let item = try stack.savedItem()
    stack.event { _ in
      (item["name"], item["size"]) = ("b", 3)
      item["name"] = "a"
    }
    stack.context.performAndWait { item["size"] = 4 }
    try stack.elsewhere { context in
      try UndoStack.items(context).first?["name"] = "theirs"
      try context.save()
    }
    stack.event { $0.refresh(item, mergeChanges: true) }
    stack.event { $0.undo() }
    stack.context.performAndWait { #expect(item["name"] as? String == "theirs" && item["size"] as? Int == 3) }
    try stack.saveAll()
    #expect(try stack.names() == ["theirs"])
  }

  /// An object that is changed otherwise shows transformed values of others after a refresh.
  @Test(arguments: [true, false]) func newerTransformedValuesAreShown(_ setsBack: Bool) throws {
    let stack = try UndoStack()
    let item = try stack.savedItem()
    stack.event { context in
      #expect(item["list"] == nil)
      if setsBack {
        item["list"] = ["mine"]
        item["list"] = nil
      }
      item.mutableSetValue(forKey: "friends").add(UndoStack.insert("b", context))
    }
    try stack.elsewhere { context in
      try UndoStack.items(context).first?["list"] = ["theirs"]
      try context.save()
    }
    stack.event { $0.refresh(item, mergeChanges: true) }
    stack.context.performAndWait { #expect(item["list"] as? [String] == ["theirs"] && item.hasChanges) }
  }

  /// Transformed values and bytes of every kind come back with an object whose deletion was saved.
  @Test(arguments: [NSPersistentStore.StoreType.sqlite, .inMemory])
  func whatADeletedObjectHadComesBack(_ type: NSPersistentStore.StoreType) throws {
    let stack = try UndoStack(type)
    let item = stack.event { UndoStack.insert("a", $0) }
    stack.event { _ in
      item["list"] = ["x", "y"]
      item["photo"] = Data([2, 1])
    }
    try stack.saveAll()
    for isRead in [true, false] {
      stack.event { context in
        if !isRead { context.refresh(item, mergeChanges: false) }
        context.delete(item)
      }
      try stack.saveAll()
      stack.event { $0.undo() }
      stack.context.performAndWait {
        #expect(item["list"] as? [String] == ["x", "y"] && item["photo"] as? Data == Data([2, 1]))
      }
      try stack.saveAll()
      try stack.elsewhere { context in
        let saved = try UndoStack.items(context).first
        #expect(saved?["list"] as? [String] == ["x", "y"] && saved?["photo"] as? Data == Data([2, 1]))
      }
    }
  }

  /// Bytes that were set before the event of the deletion come back, also where they look like the name of a file.
  @Test func unsavedBytesComeBack() throws {
    let entity = NSEntityDescription()
    let bytes = NSAttributeDescription()
    (bytes.name, bytes.type) = ("bytes", .binaryData)
    (entity.name, entity.properties) = ("Item", [bytes])
    let model = NSManagedObjectModel()
    model.entities = [entity]
    let stack = try UndoStack(model: model)
    let item = stack.event { NSEntityDescription.insertNewObject(forEntityName: "Item", into: $0) }
    stack.event { _ in item["bytes"] = Data([1]) }
    try stack.saveAll()
    stack.event { _ in item["bytes"] = Data([2, 9]) }
    stack.event { $0.delete(item) }
    try stack.saveAll()
    stack.event { $0.undo() }
    stack.context.performAndWait { #expect(item["bytes"] as? Data == Data([2, 9])) }
  }

  /// Bytes of an attribute that allows no external storage are never taken for the name of a file of another attribute.
  @Test func bytesThatNameAFileComeBackAsTheyWere() throws {
    let (bytes, photo) = (Describing.attribute("bytes", .binaryData), Describing.attribute("photo", .binaryData))
    photo.allowsExternalBinaryDataStorage = true
    let stack = try UndoStack(model: Describing.model([Describing.entity("Item", [bytes, photo])]))
    let item = stack.event { NSEntityDescription.insertNewObject(forEntityName: "Item", into: $0) }
    stack.event { _ in item["photo"] = Data(repeating: 7, count: 300_000) }
    try stack.saveAll()
    let file = try #require(stack.coordinator.persistentStores.first?.url)
    let folder = file.deletingLastPathComponent()
      .appending(path: ".\(file.deletingPathExtension().lastPathComponent)_SUPPORT/_EXTERNAL_DATA")
    let name = try #require(try FileManager.default.contentsOfDirectory(atPath: folder.path).first)
    let named = Data([2]) + Data(name.utf8)
    stack.event { _ in item["bytes"] = named }
    try stack.saveAll()
    stack.event { _ in item["bytes"] = Data([1]) }
    stack.event { $0.undo() }
    stack.context.performAndWait { #expect(item["bytes"] as? Data == named) }
    try stack.saveAll()
    try stack.elsewhere { other in
      let saved = try other.fetch(NSFetchRequest<NSManagedObject>(entityName: "Item")).first
      #expect(saved?["bytes"] as? Data == named && (saved?["photo"] as? Data)?.count == 300_000)
    }
  }

  /// A save meets links to the deleted object that another context has made. The undo brings them back as well.
  @Test(arguments: ["owner", "parent"], [false, true])
  func linksThatTheSaveHasMetComeBack(key: String, isSavedApart: Bool) throws {
    let stack = try UndoStack()
    let (d, e) = stack.event { (UndoStack.insert("d", $0), UndoStack.insert("e", $0)) }
    try stack.saveAll()
    let inverse = try #require(d.entity.relationshipsByName[key]?.inverseRelationship?.name)
    stack.event { _ in #expect(UndoStack.linked(d, inverse) == []) }
    try stack.elsewhere { other in
      let items = try UndoStack.items(other)
      items.first { $0["name"] as? String == "e" }?[key] = items.first { $0["name"] as? String == "d" }
      try other.save()
    }
    let groups = stack.manager.undoCount
    if isSavedApart {
      stack.event { $0.delete(d) }
      try stack.saveAll()
    } else {
      try stack.event { context in
        context.delete(d)
        try context.save()
      }
    }
    let left = try stack.names()
    #expect(left == (key == "owner" ? ["e"] : []))
    let count = stack.manager.undoCount - groups
    #expect(isSavedApart ? count == 2 : count == 1)
    for _ in 0..<count { stack.event { $0.undo() } }
    stack.context.performAndWait { #expect(UndoStack.linked(d, inverse) == [e] && e[key] as? NSManagedObject === d) }
    try stack.saveAll()
    let state = try stack.elsewhere { try UndoStack.state($0) }
    #expect(state.count == 2 && state["torn"] == nil && state["e"]?.contains("\(key)=d") == true)
    for _ in 0..<count { stack.event { $0.redo() } }
    try stack.saveAll()
    let again = try stack.names()
    #expect(again == left)
  }

  /// What an object sets when it awakes stays, also where it was set back before.
  @Test func aValueOfAwakeFromFetchOutlivesARefresh() throws {
    let model = try #require(UndoStack.model.copy() as? NSManagedObjectModel)
    model.entitiesByName["Item"]?.managedObjectClassName = "CoreDataTests.AwakeningItem"
    let stack = try UndoStack(model: model)
    let item = try stack.savedItem()
    stack.event { context in
      context.refresh(item, mergeChanges: false)
      #expect(item["number"] as? Int == 1 && item["size"] as? Int == 99)
      item["size"] = 5
      item["size"] = 7
      item["name"] = "b"
      context.refresh(item, mergeChanges: true)
      #expect(item["size"] as? Int == 99 && item["name"] as? String == "b")
    }
  }
}

/// Shows another size than the stored one.
final class AwakeningItem: NSManagedObject {
  override func awakeFromFetch() { setPrimitiveValue(99, forKey: "size") }
}
