import Foundation
import StoreProtocol
import StoreSchema

extension ConformanceSuite {
  /// When the files of large values go that commits have made obsolete.
  static let obsoleteData: [ConformanceCase] = [
    ConformanceCase(
      "ATT-023/grace", "data that a commit makes obsolete can be read for a while", requires: files,
      profiles: [.plain, .reopen, .twoStores]
    ) { c in
      let s = try c.open(Fixtures.allTypes())
      let object = try s.insert("AllTypes", ["large": .data(large(1))])
      let name = try c.externalName(s, object, "large")
      try s.replaceLarge(object, large(2), name)
      c.expect(try s.store.externalData(name) == large(1), "the former data is another")
      c.equal(try s.value(object, "large"), .data(large(2)))
    },
    ConformanceCase(
      "ATT-023/view", "data that a snapshot's rows name can be read as long as the snapshot lives", requires: files,
      profiles: Profile.plainOnly
    ) { c in
      let s = try c.open(Fixtures.allTypes(), .withoutGrace)
      let object = try s.insert("AllTypes", ["large": .data(large(1))])
      let name = try c.externalName(s, object, "large")
      var view: (any StoreSnapshot)? = try s.store.snapshot()
      _ = try view?.row(of: object.entity, key: object.key)
      try s.replaceLarge(object, large(2), name)
      c.expect(try s.store.externalData(name) == large(1), "the snapshot's data is another")
      view = nil
      c.waits("the file stays, although nobody needs it") { (try? s.store.externalData(name)) == nil }
      c.equal(try s.value(object, "large"), .data(large(2)))
    },
    ConformanceCase(
      "ATT-023/hold", "data that is held can be read until it is released", requires: files,
      profiles: Profile.plainOnly
    ) { c in
      let s = try c.open(Fixtures.allTypes(), .withoutGrace)
      let object = try s.insert("AllTypes", ["large": .data(large(1))])
      let name = try c.externalName(s, object, "large")
      s.store.externalDataStore?.holdExternalData([name])
      s.store.externalDataStore?.holdExternalData([name])
      try s.replaceLarge(object, large(2), name)
      c.equal(s.store.externalDataStore?.releaseExternalData([name]), [])
      c.expect(try s.store.externalData(name) == large(1), "held once more, and another")
      let view = try s.store.snapshot()
      c.equal(s.store.externalDataStore?.releaseExternalData([name]), [])
      withExtendedLifetime(view) {}
      c.refuses("the released file is still there") { _ = try s.store.externalData(name) }
    },
    ConformanceCase(
      "ATT-023/process", "another process reads the data of a row that it has read, after the row was changed",
      requires: files.union(.multiProcess), profiles: Profile.plainOnly,
      roles: [
        "read": { r in
          let s = try r.open(Fixtures.allTypes())
          guard let object = try s.objects("AllTypes").first, let name = try s.largeName(object) else { return }
          r.say("read")
          let end = Date(timeIntervalSinceNow: 20)
          while try s.largeName(object) == name && Date() < end { Thread.sleep(forTimeInterval: 0.002) }
          r.say(try s.store.externalData(name) == large(1) ? "the same" : "another")
        }
      ]
    ) { c in
      let s = try c.open(Fixtures.allTypes())
      let object = try s.insert("AllTypes", ["large": .data(large(1))])
      let name = try c.externalName(s, object, "large")
      let child = try c.start("read")
      c.equal(child.line(), "read")
      try s.replaceLarge(object, large(2), name)
      c.equal(child.line(), "the same")
      _ = child.wait()
    },
    ConformanceCase(
      "ATT-023/gone", "no row is committed that names a file that is gone", requires: files,
      profiles: Profile.plainOnly
    ) { c in
      let s = try c.open(Fixtures.allTypes())
      let object = try s.insert("AllTypes", ["string": "a"])
      guard let name = try s.store.externalDataStore?.keepExternalData(large(1)) else {
        try c.fail("the data is not kept outside")
      }
      try FileManager.default.removeItem(atPath: c.file(of: name))
      let entity = try s.entity("AllTypes")
      for isNew in [true, false] {
        try c.refuses(.missingExternalData) {
          try s.commit { changes in
            if isNew { try changes.insert("AllTypes") } else { try changes.update(object, ["string": "b"]) }
            try changes.name(name, of: entity, isNew: isNew)
          }
        }
      }
      c.equal(try s.objects("AllTypes").count, 1)
      c.equal(try s.value(object, "string"), "a")
    },
    ConformanceCase(
      "ATT-023/sweep", "the next opening removes old files that no row names, and no others", requires: files,
      profiles: Profile.plainOnly
    ) { c in
      let s = try c.open(Fixtures.allTypes())
      let object = try s.insert("AllTypes", ["large": .data(large(1))])
      let named = try c.file(of: c.externalName(s, object, "large"))
      var old: [String] = []
      let keeping = s.store.externalDataStore
      for byte in 2..<6 { old.append(try c.file(of: keeping?.keepExternalData(large(byte)) ?? Data())) }
      let new = try c.file(of: keeping?.keepExternalData(large(6)) ?? Data())
      let folder = URL(filePath: new).deletingLastPathComponent()
      // Of another store that shares the folder, and of Apple's framework.
      let stranger = URL(filePath: old[0]).lastPathComponent
      let others = [(stranger.hasPrefix("0") ? "1" : "0") + stranger.dropFirst(), UUID().uuidString]
        .map { folder.appending(path: $0).path }
      let draft = folder.appending(path: ".\(stranger).\(UUID().uuidString).copying").path
      for path in others + [draft] { try large(7).write(to: URL(filePath: path)) }
      let past = Date(timeIntervalSinceNow: -7200)
      for path in old + others + [named, draft] {
        try FileManager.default.setAttributes([.modificationDate: past], ofItemAtPath: path)
      }
      try s.reopen()
      let gone = old + [draft]
      c.waits("files that no row names are still there") {
        gone.allSatisfy { !FileManager.default.fileExists(atPath: $0) }
      }
      for path in others + [named, new] {
        c.expect(FileManager.default.fileExists(atPath: path), "\(path) is gone")
      }
      c.equal(try s.value(object, "large"), .data(large(1)))
      for path in others { try FileManager.default.removeItem(atPath: path) }
    },
  ]

  private static let files: Capabilities = [.persistent, .externalData, .localFiles]

  private static func large(_ byte: Int) -> Data { Data(repeating: UInt8(byte), count: 150_000) }
}

extension StoreOptions {
  /// Files of obsolete data go at the end of the commit.
  static var withoutGrace: StoreOptions {
    var options = StoreOptions()
    options.externalDataGrace = 0
    return options
  }
}

extension Session {
  /// Replaces the large data of an object, and says that the former is obsolete.
  fileprivate func replaceLarge(_ object: ObjectReference, _ data: Data, _ former: Data) throws {
    try commit {
      try $0.update(object, ["large": .data(data)])
      $0.set.obsoleteExternalData = [former]
    }
  }
}

extension Session {
  /// The name of an object's large data, nil where there is none outside the row.
  fileprivate func largeName(_ object: ObjectReference) throws -> Data? {
    guard let slot = schema.entities[object.entity].attribute(named: "large")?.slot else { return nil }
    guard case .data(let bytes)? = try row(object)?.value(slot, .externalData), bytes.first == 2 else { return nil }
    return bytes
  }
}

extension Changes {
  /// Lets the row that was added last name external data.
  fileprivate mutating func name(_ name: Data, of entity: Entity, isNew: Bool) throws {
    guard let row = isNew ? set.insertions.last : set.updates.last?.row,
      let slot = entity.attribute(named: "large")?.slot
    else { throw HarnessProblem("there is no row with large data") }
    let builder = RowBuilder()
    builder.begin(slots: entity.slots.count)
    for (index, kind) in entity.slots.enumerated() { builder.copy(index, kind, from: row) }
    builder.set(slot, .data(name))
    let made = builder.finishDraft(key: row.key, entity: row.entity, version: row.version)
    if isNew {
      set.insertions[set.insertions.count - 1] = made
    } else {
      var changed = set.updates[set.updates.count - 1].changed
      changed.insert(slot)
      set.updates[set.updates.count - 1] = .init(row: made, changed: changed)
    }
  }
}

extension CaseContext {
  /// The file of external data.
  fileprivate func file(of name: Data) throws -> String {
    let text = String(decoding: name.dropFirst().prefix { $0 != 0 }, as: UTF8.self)
    guard !text.isEmpty, let path = try pathsOfFolder().first(where: { $0.hasSuffix(text) }) else {
      try fail("there is no file \(text)")
    }
    return path
  }

  /// Waits for what happens in the background, ten seconds at most.
  func waits(_ otherwise: String, for condition: () -> Bool) {
    let end = Date(timeIntervalSinceNow: 10)
    while !condition() && Date() < end { Thread.sleep(forTimeInterval: 0.002) }
    expect(condition(), otherwise)
  }
}
