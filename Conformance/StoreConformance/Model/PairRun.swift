import Foundation
import StoreProtocol
import StoreSchema
import StoreSupport

/// Copies one store to stores of every type and back, and compares everything: S2S-001 to S2S-006 and S2S-012.
public struct PairRun {
  private let source: any StoreHarness
  private let model: ModelSchema

  /// A run that copies stores of a harness.
  public init(_ source: any StoreHarness) throws {
    self.source = source
    model = try ModelSchema()
  }

  /// Fills a store by operations, and copies it to each of `targets`. Returns the defects by the name of the target.
  public func run(
    _ operations: [ModelOperation], to targets: [any StoreHarness]
  ) throws -> [(target: String, problem: String?)] {
    let location = try source.makeLocation()
    defer { try? source.destroy(location) }
    let filled = try ModelExecution(source, location, model)
    for operation in operations {
      if let problem = try filled.run(operation) { return [(source.name, "\(operation): \(problem)")] }
    }
    let results = try targets.map { target in
      do { return (target.name, try copy(filled.session.store, location, to: target)) } catch let error as StoreError {
        return (target.name, error.description)
      }
    }
    try filled.close()
    return results
  }

  private func copy(_ store: any Store, _ location: StoreLocation, to target: any StoreHarness) throws -> String? {
    let (expected, before) = (try StoreLines.read(store), try Self.bytes(location))
    let (there, back) = (try target.makeLocation(), try source.makeLocation())
    defer {
      try? target.destroy(there)
      try? source.destroy(back)
    }
    let copied = try make(target, there, store)
    if let difference = Self.difference(try StoreLines.read(copied), expected) { return "the copy: \(difference)" }
    if copied.identifier == store.identifier { return "the copy has the source's UUID" }
    if let problem = try refusal(target, there, store, copied) { return problem }
    let returned = try make(source, back, copied)
    if let difference = Self.difference(try StoreLines.read(returned), expected) { return "copied back: \(difference)" }
    try returned.close()
    if let problem = try newKey(copied) { return problem }
    try copied.close()
    if try Self.bytes(location) != before { return "the source's files are others now" }
    for (harness, location) in [(target, there), (source, back)] {
      let left = try Self.files(location).filter { !harness.belongs($0, to: location) }
      if !left.isEmpty { return "left behind: \(left)" }
    }
    return nil
  }

  private func make(_ harness: any StoreHarness, _ location: StoreLocation, _ store: any Store) throws -> any Store {
    let backend = CheckedBackend(harness.backend)
    guard harness.backend.capabilities.contains(.persistent) else {
      let made = try backend.open(at: location.url, schema: store.schema, options: StoreOptions())
      try StoreCopy(store, to: made).run {}
      return made
    }
    try backend.make(at: location.url, copying: store, options: StoreOptions())
    return try backend.open(at: location.url, schema: store.schema, options: StoreOptions())
  }

  /// Checks that an existing store stays, unless it is to be replaced.
  private func refusal(
    _ harness: any StoreHarness, _ location: StoreLocation, _ store: any Store, _ copied: any Store
  ) throws -> String? {
    guard location.folder != nil, harness.backend.capabilities.contains(.localFiles) else { return nil }
    let before = try Self.bytes(location)
    do {
      try CheckedBackend(harness.backend).make(at: location.url, copying: store, options: StoreOptions())
      return "a store was made where there was one"
    } catch {
      if error.code != .exists { return "a place that is taken gave \(error)" }
    }
    return try Self.bytes(location) == before ? nil : "a refused copy changed what was there"
  }

  /// Checks that keys of copied objects are never assigned again.
  private func newKey(_ store: any Store) throws -> String? {
    var changes = ChangeSet(time: 0)
    guard let tag = store.schema.entity(named: "Tag") else { return nil }
    var highest: Int64 = 0
    try store.snapshot().scan(tag.subtree) { highest = max(highest, $0.key) }
    let builder = RowBuilder()
    builder.begin(slots: tag.slots.count)
    changes.insertions = [builder.finishDraft(key: -1, entity: tag.index, version: 1)]
    guard case .committed(let receipt) = try store.commit(changes), let key = receipt.keys.first else {
      return "the copy takes no new object"
    }
    return key > highest ? nil : "the copy gave the key \(key) after \(highest)"
  }

  // MARK: Comparing

  private static func difference(_ found: [String], _ expected: [String]) -> String? {
    for (a, b) in zip(found, expected) where a != b { return "found \(a), expected \(b)" }
    return found.count == expected.count ? nil : "\(found.count) objects, expected \(expected.count)"
  }

  private static func files(_ location: StoreLocation) throws -> [String] {
    try location.folder.map { try FileManager.default.contentsOfDirectory(atPath: $0.path).sorted() } ?? []
  }

  /// The contents of the regular files, without files that coordinate processes.
  private static func bytes(_ location: StoreLocation) throws -> [String: Data] {
    guard let folder = location.folder else { return [:] }
    var found: [String: Data] = [:]
    for name in try files(location) where !name.hasSuffix("-lock") && !name.hasSuffix("-shm") {
      let url = folder.appending(path: name)
      if try url.resourceValues(forKeys: [.isRegularFileKey]).isRegularFile == true {
        found[name] = try Data(contentsOf: url)
      }
    }
    return found
  }
}
