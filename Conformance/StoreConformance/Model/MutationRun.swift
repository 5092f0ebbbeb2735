import Foundation
import StoreProtocol
import StoreSchema

/// Damages the file of a store in many ways, and reads the damaged store (COR-001, COR-002).
public struct MutationRun: Sendable {
  private let harness: any StoreHarness
  private let schema: Schema
  /// The whole file of a closed store.
  private let original: Data
  /// The other files in the store's folder, such as external data, by their path within it. They stay undamaged.
  private let companions: [(path: String, data: Data)]
  private let expected: [String]

  /// The outcome of one mutant.
  public enum Outcome: Sendable, Equatable {
    /// A typed error, by its code.
    case refused(String)
    /// Everything reads as before.
    case equal
    /// Other content is read than was written, as whole objects without an invalid value.
    case other
  }

  /// Fills a store by operations, closes it, and keeps its file.
  public init(_ harness: any StoreHarness, _ operations: [ModelOperation]) throws {
    self.harness = harness
    let model = try ModelSchema()
    schema = model.schema
    let location = try harness.makeLocation()
    defer { try? harness.destroy(location) }
    let filled = try ModelExecution(harness, location, model)
    for operation in operations {
      if let problem = try filled.run(operation) { throw Failure("\(operation): \(problem)") }
    }
    expected = try StoreLines.read(filled.session.store)
    try filled.close()
    original = try Data(contentsOf: location.url)
    companions = try Self.companions(of: location)
  }

  private static func companions(of location: StoreLocation) throws -> [(path: String, data: Data)] {
    guard let folder = location.folder else { return [] }
    return try FileManager.default.subpathsOfDirectory(atPath: folder.path).sorted().compactMap { path in
      let url = folder.appending(path: path)
      let isFile = try url.resourceValues(forKeys: [.isRegularFileKey]).isRegularFile
      return isFile == true && path != location.url.lastPathComponent ? (path, try Data(contentsOf: url)) : nil
    }
  }

  /// Writes the `number`th mutant of a seed to a location of its own, and reads it.
  public func judge(_ number: Int, seed: UInt64) throws -> (outcome: Outcome, damage: String) {
    var random = SplitMix64(seed: seed &+ UInt64(number) &* 0x9E37_79B9_7F4A_7C15)
    var bytes = [UInt8](original)
    let damage = Self.damage(&bytes, &random)
    let location = try harness.makeLocation()
    defer { try? harness.destroy(location) }
    try Data(bytes).write(to: location.url)
    for (path, data) in companions {
      guard let url = location.folder?.appending(path: path) else { continue }
      try FileManager.default.createDirectory(at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
      try data.write(to: url)
    }
    return (bytes.elementsEqual(original) ? .equal : read(location.url), damage)
  }

  private func read(_ url: URL) -> Outcome {
    var options = StoreOptions()
    options.isReadOnly = harness.backend.capabilities.contains(.readOnlyOpen)
    options.timeout = 1
    do {
      let store = try CheckedBackend(harness.backend).open(at: url, schema: schema, options: options)
      let lines = Result { () throws(StoreError) in try StoreLines.read(store) }
      try store.close()
      return try lines.get() == expected ? .equal : .other
    } catch { return .refused("\(error.code)") }
  }

  /// Changes bytes at random, and returns a description.
  private static func damage(_ bytes: inout [UInt8], _ random: inout SplitMix64) -> String {
    func location(_ limit: Int) -> Int { Int(random.next() % UInt64(max(1, limit))) }
    let at = location(bytes.count)
    switch random.next() % 8 {
    case 0, 1:
      let bit = location(8)
      bytes[at] ^= 1 << UInt8(bit)
      return "bit \(bit) of the byte \(at) flipped"
    case 2:
      let value = UInt8(truncatingIfNeeded: random.next())
      bytes[at] = value
      return "the byte \(at) is \(value)"
    case 3:
      bytes.removeSubrange(at...)
      return "cut off at \(at)"
    case 4:
      let count = min(1 + location(64), bytes.count - at)
      bytes.removeSubrange(at..<at + count)
      return "\(count) bytes at \(at) removed"
    case 5:
      let (from, count) = (location(bytes.count), 1 + location(256))
      let part = bytes[from..<min(from + count, bytes.count)]
      bytes.insert(contentsOf: Array(part), at: at)
      return "\(part.count) bytes from \(from) repeated at \(at)"
    case 6:
      let (from, count) = (location(bytes.count), 1 + location(256))
      for (offset, byte) in Array(bytes[from..<min(from + count, bytes.count)]).enumerated()
      where at + offset < bytes.count {
        bytes[at + offset] = byte
      }
      return "up to \(count) bytes from \(from) written over those at \(at)"
    default:
      let count = min(1 + location(4096), bytes.count - at)
      for offset in 0..<count { bytes[at + offset] = 0 }
      return "\(count) bytes at \(at) are zero"
    }
  }
}
