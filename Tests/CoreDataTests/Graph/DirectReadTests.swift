import Foundation
import Synchronization
import TestSupport
import Testing

@testable import CoreData

/// Accessors that read from the row without a call, and strings that are kept; see `DirectReads.swift`.
///
/// One test at a time: a key is for one entity of one model at a time, and each test has a model of its own.
@Suite(.serialized) struct DirectReadTests {
  private static let text = ManagedProperty<String?>("text")
  private static let count = ManagedProperty<Int32>("count")
  private static let weight = ManagedProperty<Double>("weight")
  private static let date = ManagedProperty<Date?>("date")

  /// Calls `body` with a saved note that was read three times.
  private func withNote(_ body: (Note, NSManagedObjectContext) throws -> Void) throws {
    let folder = try StoreFolder("direct")
    defer { folder.remove() }
    let context = try context(folder.url)
    try context.performAndWait {
      let note = Note(context: context)
      note.setValue("a text of some length", of: Self.text)
      note.setValue(7, of: Self.count)
      note.setValue(2.5, of: Self.weight)
      note.setValue(Date(timeIntervalSinceReferenceDate: 9.5), of: Self.date)
      try context.save()
      allowDirectReads([note])
      expectSame(note)
      try #require(note.directWord(Self.count.key) != nil && note.directText(Self.text.key) != nil)
      try #require(note.directWord(Self.date.key) == (9.5).bitPattern && note.value(of: Self.date) != nil)
      try body(note, context)
    }
  }

  private func context(_ url: URL, _ model: NSManagedObjectModel = Note.model(transient: false)) throws
    -> NSManagedObjectContext
  {
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    try coordinator.addPersistentStore(type: .sqlite, at: url)
    let context = NSManagedObjectContext(.privateQueue)
    context.persistentStoreCoordinator = coordinator
    context.undoManager = UndoManager()
    return context
  }

  /// Debug builds check the queue of each read, and would read nothing directly.
  private func allowDirectReads(_ objects: [NSManagedObject]) { for object in objects { object.setTracked(false) } }

  /// Reads by accessors, several times, and by key-value coding.
  private func expectSame(_ note: NSManagedObject, _ location: SourceLocation = #_sourceLocation) {
    for _ in 0..<3 {
      #expect(note.value(of: Self.text) == note.value(forKey: "text") as? String, sourceLocation: location)
      #expect(note.value(of: Self.count) == note.value(forKey: "count") as? Int32 ?? 0, sourceLocation: location)
      #expect(note.value(of: Self.weight) == note.value(forKey: "weight") as? Double ?? 0, sourceLocation: location)
      #expect(note.value(of: Self.date) == note.value(forKey: "date") as? Date, sourceLocation: location)
    }
  }

  @Test func everyChangeIsSeen() throws {
    try withNote { note, context in
      note.setValue("b", of: Self.text)
      #expect(note.directText(Self.text.key) == nil && note.directWord(Self.count.key) == nil)
      #expect(note.value(of: Self.text) == "b" && note.value(of: Self.count) == 7)
      expectSame(note)
      context.undo()
      #expect(note.value(of: Self.text) == "a text of some length")
      context.redo()
      #expect(note.value(of: Self.text) == "b")
      context.rollback()
      #expect(note.value(of: Self.text) == "a text of some length")
      expectSame(note)
      note.setValue(nil, forKey: "text")
      note.setPrimitiveValue(8, forKey: "count")
      #expect(note.value(of: Self.text) == nil && note.value(of: Self.count) == 8)
      try context.save()
      #expect(note.value(of: Self.text) == nil && note.value(of: Self.count) == 8)
      expectSame(note)
      #expect(note.directWord(Self.count.key) != nil, "a saved object is read directly again")
    }
  }

  @Test func otherRowsAreSeen() throws {
    try withNote { note, context in
      let other = NSManagedObjectContext(.privateQueue)
      other.persistentStoreCoordinator = context.persistentStoreCoordinator
      let id = note.objectID
      func change(_ text: String, _ count: Int32) throws {
        try other.performAndWait {
          let same = try #require(other.existingObject(with: id) as? Note)
          same.setValue(text, of: Self.text)
          same.setValue(count, of: Self.count)
          try other.save()
        }
      }
      try change("another", 9)
      #expect(note.value(of: Self.text) == "a text of some length" && note.value(of: Self.count) == 7)
      context.refresh(note, mergeChanges: true)
      #expect(note.value(of: Self.text) == "another" && note.value(of: Self.count) == 9)
      expectSame(note)
      try change("a third", 10)
      context.refresh(note, mergeChanges: false)
      #expect(note.isFault && note.directWord(Self.count.key) == nil)
      #expect(note.value(of: Self.count) == 10 && note.value(of: Self.text) == "a third")
      expectSame(note)
      try change("a fourth", 11)
      note.setValue(1.5, of: Self.weight)
      context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
      try context.save()
      #expect(note.value(of: Self.count) == 11 && note.value(of: Self.text) == "a fourth")
      #expect(note.value(of: Self.weight) == 1.5)
      expectSame(note)
    }
  }

  @Test func trackedReadsAreNotDirect() throws {
    try withNote { note, context in
      context.tracksObservation = true
      #expect(note.directWord(Self.count.key) == nil && note.directText(Self.text.key) == nil)
      expectSame(note)
      #expect(note.directWord(Self.count.key) == nil && note.directText(Self.text.key) == nil)
      context.tracksObservation = false
      allowDirectReads([note])
      expectSame(note)
      #expect(note.directWord(Self.count.key) != nil)
    }
  }

  @Test func anObjectThatIsGoneKeepsItsValuesAndAFaultHasNone() throws {
    try withNote { note, context in
      context.delete(note)
      expectSame(note)
      try context.save()
      #expect(note.managedObjectContext == nil)
      expectSame(note)
    }
    try withNote { note, context in
      context.refreshAllObjects()
      #expect(note.directWord(Self.count.key) == nil && note.directText(Self.text.key) == nil)
      expectSame(note)
      context.reset()
      #expect(note.directWord(Self.count.key) == nil && note.directText(Self.text.key) == nil)
    }
  }

  /// Numbers of each kind, and what is stored as a number or a string: set, nil and zero.
  @Test func typesOfEachKind() throws {
    let folder = try StoreFolder("direct")
    defer { folder.remove() }
    let entity = NSEntityDescription()
    entity.name = "Kinds"
    let types: [(String, NSAttributeDescription.AttributeType)] = [
      ("flag", .boolean), ("small", .integer16), ("ratio", .float), ("phase", .integer32), ("link", .uri),
    ]
    entity.properties = types.map { name, type in
      let attribute = NSAttributeDescription()
      (attribute.name, attribute.type) = (name, type)
      return attribute
    }
    let model = NSManagedObjectModel()
    model.entities = [entity]
    let context = try context(folder.url, model)
    try context.performAndWait {
      let object = NSEntityDescription.insertNewObject(forEntityName: "Kinds", into: context)
      let link = URL(string: "https://example.org/a")
      let rounds: [[String: Any?]] = [
        ["flag": true, "small": Int16(-7), "ratio": Float(1.5), "phase": Int32(2), "link": link],
        ["flag": false, "small": Int16(0), "ratio": Float(0), "phase": Int32(1), "link": nil],
        ["flag": nil, "small": nil, "ratio": nil, "phase": nil, "link": link],
      ]
      for values in rounds {
        for (key, value) in values { object.setValue(value, forKey: key) }
        try context.save()
        allowDirectReads([object])
        for _ in 0..<3 {
          #expect(object.value(of: ManagedProperty<Bool>("flag")) == values["flag"] as? Bool ?? false)
          #expect(object.value(of: ManagedProperty<Bool?>("flag")) == values["flag"] as? Bool)
        }
        let (small, ratio) = (Pair<Int16>("small"), Pair<Float>("ratio"))
        let phase = ManagedProperty<Phase?>("phase")
        let url = ManagedProperty<URL?>("link")
        for _ in 0..<3 {
          #expect(object.value(of: small.required) == values["small"] as? Int16 ?? 0)
          #expect(object.value(of: small.optional) == values["small"] as? Int16)
          #expect(object.value(of: ratio.required) == values["ratio"] as? Float ?? 0)
          #expect(object.value(of: ratio.optional) == values["ratio"] as? Float)
          #expect(object.value(of: phase) == (values["phase"] as? Int32).flatMap(Phase.init))
          #expect(object.value(of: url) == values["link"] as? URL)
        }
        #expect(
          (object.directWord(small.optional.key) ?? 0) == UInt64(bitPattern: Int64(values["small"] as? Int16 ?? 0)))
        if values["link"] as? URL != nil { #expect(object.directText(url.key) != nil) }
      }
    }
  }

  private enum Phase: Int32 { case first = 1, second }

  /// Two keys of one property, as a class that has both would have.
  private final class Pair<Value: ManagedNumber>: Sendable {
    let required: ManagedProperty<Value>
    let optional: ManagedProperty<Value?>
    init(_ name: String) {
      required = ManagedProperty(name)
      optional = ManagedProperty(name)
    }
  }

  @Test func aStringThatIsReadOnceIsNotKept() throws {
    let texts = ReadTexts()
    for _ in 0..<2 { texts.note("first", 0, count: 3) }
    #expect(texts.address(0)?.pointee == "first")
    texts.note("second", 1, count: 3)
    #expect(texts.address(1) == nil)
    texts.note("second", 1, count: 3)
    #expect(texts.address(1)?.pointee == "second" && texts.address(2) == nil)
    // Read before the first was kept.
    let others = ReadTexts()
    for (index, text) in [(2, "c"), (0, "a"), (0, "a"), (2, "c")] { others.note(text, index, count: 3) }
    #expect(others.address(0)?.pointee == "a" && others.address(2)?.pointee == "c")
    others.removeAll()
    #expect(others.address(0) == nil)
  }

  /// One key for entities and models with other slots.
  @Test func aKeyIsForOneEntityOfOneModelAtATime() throws {
    let folder = try StoreFolder("direct")
    defer { folder.remove() }
    func model(_ names: [String]) -> NSManagedObjectModel {
      let model = NSManagedObjectModel()
      model.entities = ["A", "B"].map { name in
        let entity = NSEntityDescription()
        entity.name = name
        let attributes = (name == "A" ? names : names.reversed()).map { name in
          let attribute = NSAttributeDescription()
          attribute.name = name
          attribute.type =
            ["count": .integer32, "weight": .double, "date": .date][name] ?? NSAttributeDescription.AttributeType.string
          return attribute
        }
        // Slots are sorted by name: B has more before those that are read.
        entity.properties = attributes + (name == "A" ? [] : extra())
        return entity
      }
      return model
    }
    func extra() -> [NSAttributeDescription] {
      (0..<70).map { index in
        let attribute = NSAttributeDescription()
        (attribute.name, attribute.type) = ("a\(index)", index % 2 == 0 ? .string : .integer64)
        return attribute
      }
    }
    for round in 0..<2 {
      let names = ["text", "count", "weight", "date"] + (round == 0 ? [] : ["author", "binding", "cost"])
      let context = try context(folder.url.appendingPathExtension("\(round)"), model(names))
      try context.performAndWait {
        let notes = (0..<20).map { index in
          let name = index % 2 == 0 ? "A" : "B"
          let note = NSEntityDescription.insertNewObject(forEntityName: name, into: context)
          note.setValue("text \(index) of \(name)", forKey: "text")
          note.setValue(index, forKey: "count")
          return note
        }
        try context.save()
        allowDirectReads(notes)
        for _ in 0..<3 {
          for (index, note) in notes.enumerated() {
            #expect(note.value(of: Self.count) == index)
            #expect(note.value(of: Self.text) == "text \(index) of \(index % 2 == 0 ? "A" : "B")")
            #expect(note.value(of: Self.weight) == 0 && note.value(of: Self.date) == nil)
          }
        }
      }
    }
  }

  @Test func manyAndLongStringsAreNotKept() throws {
    let folder = try StoreFolder("direct")
    defer { folder.remove() }
    let entity = NSEntityDescription()
    entity.name = "Wide"
    let names = (100..<170).map { "text\($0)" }
    entity.properties = names.map { name in
      let attribute = NSAttributeDescription()
      (attribute.name, attribute.type) = (name, .string)
      return attribute
    }
    let model = NSManagedObjectModel()
    model.entities = [entity]
    let context = try context(folder.url, model)
    try context.performAndWait {
      let wide = NSEntityDescription.insertNewObject(forEntityName: "Wide", into: context)
      for name in names { wide.setValue("the text of \(name)", forKey: name) }
      let long = String(repeating: "ä", count: 10_000)
      wide.setValue(long, forKey: "text101")
      try context.save()
      allowDirectReads([wide])
      for name in names {
        let property = ManagedProperty<String?>(name)
        for _ in 0..<3 {
          #expect(wide.value(of: property) == (name == "text101" ? long : "the text of \(name)"))
        }
        let isKept = name != "text101" && name < "text163"
        #expect((wide.directText(property.key) != nil) == isKept, "\(name)")
      }
    }
  }

  /// Not allowed, and yet harmless as long as nothing is changed.
  @Test func threadsMayReadTheSameObjects() throws {
    let folder = try StoreFolder("direct")
    defer { folder.remove() }
    let context = try context(folder.url)
    nonisolated(unsafe) var notes: [Note] = []
    try context.performAndWait {
      for index in 0..<2_000 {
        let note = Note(context: context)
        note.setValue("the text of note number \(index)", of: Self.text)
        note.setValue(Int32(index), of: Self.count)
        notes.append(note)
      }
      try context.save()
      allowDirectReads(notes)
    }
    let wrong = Atomic<Int>(0)
    DispatchQueue.concurrentPerform(iterations: 8) { thread in
      for step in 0..<3 * notes.count {
        let index = (step + thread % 2) % notes.count
        if notes[index].value(of: Self.text) != "the text of note number \(index)"
          || notes[index].value(of: Self.count) != index
        {
          wrong.add(1, ordering: .relaxed)
        }
      }
    }
    #expect(wrong.load(ordering: .relaxed) == 0)
    context.performAndWait { #expect(notes.allSatisfy { $0.directText(Self.text.key) != nil }) }
  }

  #if os(Linux)
    /// In a process of its own, whose memory nothing else takes.
    @Test func keptStringsAreFreed() async {
      await #expect(processExitsWith: .success) {
        func resident() -> Int {
          let status = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
          let line = status.split(separator: "\n").first { $0.hasPrefix("VmRSS:") }
          return Int(line?.split(separator: " ").dropFirst().first ?? "") ?? 0
        }
        func work(_ rounds: Int) {
          for round in 0..<rounds {
            let texts = ReadTexts()
            for _ in 0..<3 { for index in [0, 5, 62] { texts.note("a text that is long \(round)", index, count: 63) } }
            if texts.address(5)?.pointee != "a text that is long \(round)" { exit(1) }
            if round % 2 == 0 { texts.removeAll() }
            if round % 4 == 0 { for _ in 0..<2 { texts.note("again, and long enough \(round)", 7, count: 63) } }
          }
        }
        work(1_000)
        let before = resident()
        // 50 MB, unless it is freed.
        work(50_000)
        if before == 0 || resident() - before > 10_000 { exit(2) }
      }
    }
  #endif
}
