import CoreData
import Foundation

/// A million objects with a memory limit of the order of 100 MB. The limits are those of the specification; they apply
/// to stores that read single rows.
extension GraphSuite {
  static let loads: [GraphCase] = [
    load("FET-078", 1_000_000, .million), load("FET-078/tenth", 100_000, .tenth),
    GraphCase(
      "DEL-015", "a million objects are deleted with their owner", ways: .own, size: .million
    ) { g in try g.cascade(1_000_000, megabytes: 1200) },
    GraphCase(
      "DEL-015/tenth", "a hundred thousand objects are deleted with their owner", ways: .own, size: .tenth
    ) { g in try g.cascade(100_000, megabytes: 300) },
    GraphCase(
      "S2S-010", "a million objects are copied to another URL", needs: .files, ways: .own, sites: 2, size: .million
    ) { g in try g.copyMany(1_000_000) },
    GraphCase(
      "S2S-010/tenth", "a hundred thousand objects are copied to another URL", needs: .files, ways: .own, sites: 2,
      size: .tenth
    ) { g in try g.copyMany(100_000) },
  ]

  private static func load(_ id: String, _ count: Int, _ size: Load) -> GraphCase {
    GraphCase(
      id, "\(count) objects are saved and walked in little memory", needs: .cachedRows, ways: .own, size: size
    ) { g in
      let before = g.residentMegabytes
      try g.fill(count)
      let inserted = g.residentMegabytes - before
      g.expect(inserted <= 250, "to insert took \(inserted) MB")
      let c = try g.newContext()
      let start = g.residentMegabytes
      try c.performAndWait {
        let request = NSFetchRequest<NSManagedObject>(entityName: "Person")
        request.fetchBatchSize = 100
        request.sortDescriptors = [NSSortDescriptor(key: "age", ascending: true)]
        var (sum, most) = (0, 0)
        let people = try c.fetch(request)
        for index in people.indices {
          sum += people[index].number("age") ?? 0
          if index % 10_000 == 0 { most = max(most, g.residentMegabytes - start) }
        }
        g.equal(people.count, count)
        g.equal(sum, (0..<count).reduce(0) { $0 + $1 % 30_000 })
        g.expect(most <= 150, "to walk took \(most) MB")
      }
    }
  }
}

extension Graph {
  /// Inserts `count` people, in saves of ten thousand.
  fileprivate func fill(_ count: Int, team: Bool = false) throws {
    let c = try newContext()
    var owner: NSManagedObject?
    for start in stride(from: 0, to: count, by: 10_000) {
      try c.performAndWait {
        if team, owner == nil { owner = c.insert("Team", ["title": "t"]) }
        for number in start..<min(count, start + 10_000) {
          let person = NSEntityDescription.insertNewObject(forEntityName: "Person", into: c)
          person.setValue(number % 30_000, forKey: "age")
          person.setValue("a person of number \(number)", forKey: "name")
          if let owner { person.setValue(owner, forKey: "team") }
        }
        try c.save()
        if !team { c.reset() }
      }
    }
  }

  fileprivate func cascade(_ count: Int, megabytes: Int) throws {
    try fill(count, team: true)
    let before = residentMegabytes
    let c = try newContext()
    try c.performAndWait {
      c.delete(try c.one("Team", "title", "t"))
      try c.save()
    }
    equal(try countElsewhere("Person"), 0)
    let used = residentMegabytes - before
    expect(used <= megabytes, "to delete took \(used) MB")
  }

  fileprivate func copyMany(_ count: Int) throws {
    try fill(count)
    let store = try onlyStore(of: try coordinator)
    try coordinator.migratePersistentStore(store, to: url(1), options: nil, withType: storeType)
    equal(try countElsewhere("Person"), count)
    isReplaced()
    leavesDamage()
  }

  /// The memory of the process in MB, without mapped files; 0 if the system does not report it.
  fileprivate var residentMegabytes: Int {
    guard let text = try? String(contentsOfFile: "/proc/self/status", encoding: .utf8),
      let line = text.split(separator: "\n").first(where: { $0.hasPrefix("RssAnon:") })
    else { return 0 }
    return (line.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap { Int($0) } ?? 0) / 1024
  }
}
