import CoreData
import Foundation

/// Custom merge policies of clients.
extension GraphSuite {
  static let ownPolicies: [GraphCase] = [
    GraphCase("LCK-015", "the save throws the error of a custom policy, and saves nothing", ways: .own) { g in
      try g.both { a, b in
        let (mine, theirs) = try g.person(in: a, and: b)
        try g.change(mine, ["name": "a"], in: a)
        try b.performAndWait {
          theirs.setValue("b", forKey: "name")
          b.insert("Tag")
          b.mergePolicy = Refusing(merge: .overwriteMergePolicyType)
          try g.fails(NSFeatureUnsupportedError) { try b.save() }
          g.expect(b.hasChanges && theirs.text("name") == "b", "the change is gone")
        }
        g.equal(try g.elsewhere { try $0.objects("Person").map { $0.text("name") } }, ["a"])
        g.equal(try g.elsewhere { try $0.number(of: "Tag") }, 0)
      }
    },
    GraphCase("LCK-015/idle", "a policy that resolves no conflict fails the save", ways: .own) { g in
      try g.both { a, b in
        let (mine, theirs) = try g.person(in: a, and: b)
        try g.change(mine, ["name": "a"], in: a)
        try b.performAndWait {
          theirs.setValue("b", forKey: "name")
          let policy = Idle(merge: .overwriteMergePolicyType)
          b.mergePolicy = policy
          let error = try g.fails(133020) { try b.save() }
          g.equal((error?.userInfo["conflictList"] as? [NSMergeConflict])?.count, 1)
          g.equal(policy.calls, 1)
        }
        g.equal(try g.elsewhere { try $0.objects("Person").map { $0.text("name") } }, ["a"])
      }
    },
    GraphCase("LCK-015/partly", "if a policy resolves only some conflicts, the others fail the save", ways: .own) { g in
      try g.both { a, b in
        let (mine, theirs) = try g.person(in: a, and: b)
        let (mine2, theirs2) = try g.person(in: a, and: b, name: "q")
        try a.performAndWait {
          for one in [mine, mine2] { one.setValue(7, forKey: "age") }
          try a.save()
        }
        try b.performAndWait {
          for one in [theirs, theirs2] { one.setValue("b", forKey: "name") }
          b.mergePolicy = Partial(merge: .mergeByPropertyObjectTrumpMergePolicyType)
          let error = try g.fails(133020) { try b.save() }
          g.equal((error?.userInfo["conflictList"] as? [NSMergeConflict])?.count, 1)
        }
        g.equal(try g.elsewhere { try $0.objects("Person", by: "name").map { $0.text("name") } }, ["p", "q"])
      }
    },
    GraphCase(
      "LCK-018/policy", "a policy that adds both increments loses none", ways: .own, races: true
    ) { g in
      try g.countTogether { c, times in
        c.mergePolicy = Adding(merge: .mergeByPropertyObjectTrumpMergePolicyType)
        let person = try c.one("Person", "name", "p")
        for _ in 0..<times {
          person.setValue((person.number("age") ?? 0) + 1, forKey: "age")
          try c.save()
        }
      }
    },
  ]
}

/// Custom policies.
private final class Refusing: NSMergePolicy, @unchecked Sendable {
  override func resolve(optimisticLockingConflicts list: [NSMergeConflict]) throws {
    throw CocoaError(.featureUnsupported)
  }
}

private final class Idle: NSMergePolicy, @unchecked Sendable {
  private(set) var calls = 0

  override func resolve(mergeConflicts list: [Any]) throws { calls += 1 }
}

private final class Partial: NSMergePolicy, @unchecked Sendable {
  override func resolve(optimisticLockingConflicts list: [NSMergeConflict]) throws {
    try super.resolve(optimisticLockingConflicts: list.filter { $0.read?["name"] as? String == "p" })
  }
}

/// Adds this context's increment to the stored number.
private final class Adding: NSMergePolicy, @unchecked Sendable {
  override func resolve(mergeConflicts list: [Any]) throws {
    let conflicts = list.compactMap { $0 as? NSMergeConflict }
    func age(_ snapshot: [String: Any]?) -> Int { (snapshot?["age"] as? NSNumber)?.intValue ?? 0 }
    let increments = conflicts.map { ($0.sourceObject.number("age") ?? 0) - age($0.read) }
    try super.resolve(mergeConflicts: list)
    for (conflict, increment) in zip(conflicts, increments) {
      conflict.sourceObject.setValue(age(conflict.present) + increment, forKey: "age")
    }
  }
}

/// The snapshots of both kinds of conflict: with the coordinator's rows and with the store.
extension NSMergeConflict {
  fileprivate var read: [String: Any]? { persistedSnapshot == nil ? objectSnapshot : cachedSnapshot }
  fileprivate var present: [String: Any]? { persistedSnapshot ?? cachedSnapshot }
}
