import Foundation
import StoreProtocol
import StoreSchema

/// What is left when the power goes: of a disk of which only what was synced need be there.
///
/// `Scripts/powerloss` does the same to whole runs of a program, and to a real file system.
extension ConformanceSuite {
  static let powerLosses: [ConformanceCase] = [
    losing("DUR-005", "what was acknowledged is there after a loss of power that kept nothing but what was synced") {
      c, loss in
      for (number, at) in loss.acknowledged.enumerated() {
        var random = c.random
        let image = try loss.disk(at).image(.nothing, &random)
        try c.look(at: image, "after acknowledgement \(number)", [number])
      }
    },
    losing("DUR-006", "any part of what was not synced may be there, in any order") { c, loss in
      for round in 0..<60 {
        let at = loss.acknowledged[0] + c.random.below(loss.records.count - loss.acknowledged[0])
        var disk = try loss.disk(at)
        try disk.take(loss.records[at], isDone: false)
        let image = disk.image(nil, &c.random)
        let saved = loss.acknowledged.lastIndex { $0 <= at } ?? 0
        try c.look(at: image, "round \(round), before record \(at)", [saved, saved + 1])
      }
    },
  ]

  private static func losing(
    _ id: String, _ title: String, _ judge: @escaping @Sendable (CaseContext, Loss) throws -> Void
  ) -> ConformanceCase {
    ConformanceCase(
      id, title, requires: [.powerLossDurability, .localFiles], level: .durable, profiles: Profile.plainOnly, sites: 2,
      disturbsFiles: true
    ) { c in
      try judge(c, try Loss(c))
    }
  }
}

/// A record of some saves.
private struct Loss {
  let folder: String
  let records: [PowerLossRecord]
  /// How many records there were when the store had been made, and when each save had returned.
  let acknowledged: [Int]

  init(_ c: CaseContext) throws {
    guard let site = c.location.folder else { throw HarnessProblem("the store has no folder") }
    folder = site.resolvingSymlinksInPath().path
    let file = FileManager.default.temporaryDirectory.appending(path: "changes-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: file) }
    var sizes: [Int] = []
    try FailingFiles.trace(to: file) {
      let store = try CountedStore(c, dataSize: 20_000)
      sizes.append(try Data(contentsOf: file).count)
      for _ in 0..<4 {
        try store.step()
        sizes.append(try Data(contentsOf: file).count)
      }
      try store.session.close()
    }
    let data = try Data(contentsOf: file)
    records = try PowerLossRecord.read(data)
    acknowledged = try sizes.map { try PowerLossRecord.read(data.prefix($0)).count }
  }

  /// The disk before the record of a number.
  func disk(_ number: Int) throws -> PowerLossDisk {
    var disk = PowerLossDisk(folder: folder)
    for record in records.prefix(number) { try disk.take(record) }
    return disk
  }
}

extension CaseContext {
  /// Puts what a disk may hold at the second location, opens it, and expects one of several counts.
  fileprivate func look(at image: [String: [UInt8]?], _ what: String, _ possible: [Int]) throws {
    guard let folder = sites[1].location.folder else { throw HarnessProblem("the store has no folder") }
    let files = FileManager.default
    for file in try files.contentsOfDirectory(atPath: folder.path) {
      try files.removeItem(at: folder.appending(path: file))
    }
    for (path, content) in image.sorted(by: { $0.key < $1.key }) {
      let url = folder.appending(path: path)
      guard let content else {
        try files.createDirectory(at: url, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
        continue
      }
      try Data(content).write(to: url)
      try files.setAttributes([.posixPermissions: 0o600], ofItemAtPath: url.path)
    }
    do {
      let s = try Session(
        backend, folder.appending(path: url.lastPathComponent), Fixtures.people(), StoreOptions(), .plain)
      let people = try s.objects("Person")
      expect(people.count == 1, "\(what): \(people.count) people")
      if let person = people.first, case .int(let age) = try s.value(person, "age") {
        expect(possible.contains(Int(age)), "\(what): \(age) there, possible are \(possible)")
        equal(try s.objects("Tag").count, Int(age), "\(what): tags")
        let data = Data(repeating: UInt8(truncatingIfNeeded: age), count: 20_000)
        expect(try age == 0 || s.value(person, "photo") == .data(data), "\(what): the data is not the age's")
        try s.countOn()
      }
      try s.close()
    } catch let error as StoreError { expect(false, "\(what): \(error)") }
  }
}
