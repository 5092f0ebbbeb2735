import StoreProtocol
import StoreSchema

extension ConformanceSuite {
  /// DEL-020 and REL-017 as a store sees them: what another has linked meanwhile must not be left behind by a deletion,
  /// and a link must not come to an object that is gone. No contexts: these are the change sets that the layer above
  /// makes when it knows nothing of the other.
  static let referrers: [ConformanceCase] = guarded + unguarded + [manyDeletions] + goneTargets

  // MARK: Deletions

  /// Relationships of `Source` whose destinations a deletion must not leave linked.
  private static let guarded: [ConformanceCase] = [
    "members", "parts", "held", "cascading", "denying", "wayDown", "wayHeld",
  ].flatMap { name in
    [
      deletion(of: name, "", "a deletion that leaves a destination of \(name) linked is a conflict that names it") {
        c, s, o in
        let found = try s.conflicts { try $0.delete(o.source) }
        c.equal(found.map(\.reference), [o.source])
        guard case .referrers(let relationship, let others)? = found.first?.kind else {
          try c.fail("no conflict about referrers: \(found.map(\.brief))")
        }
        c.equal(try s.entity("Source").relationships[relationship].name, name)
        c.equal(others, [o.target])
        c.equal(try s.links(o.source, name), [o.target], "the link is still there")
        c.equal(try s.objects("Source").contains(o.source), true)
      },
      deletion(of: name, "/both", "source and destination of \(name) go together") { c, s, o in
        c.equal(
          try s.conflicts {
            try $0.delete(o.source)
            try $0.delete(o.target)
          }.count, 0)
        c.equal(try s.objects("Source"), [o.other])
        c.equal(try s.objects("Target").contains(o.target), false)
      },
      deletion(
        of: name, "/unlinked", "a link of \(name) that is taken away by the same commit does not forbid it"
      ) { c, s, o in
        c.equal(
          try s.conflicts {
            try $0.delete(o.source)
            try $0.unlink(o.source, name, o.target)
          }.count, 0)
        c.equal(try s.objects("Source"), [o.other])
        c.equal(try s.objects("Target").contains(o.target), true)
      },
    ]
  }

  /// Those whose links a store takes away, or that stay as they are.
  private static let unguarded: [ConformanceCase] = ["ignored", "nullifying", "wayNullified"].map { name in
    deletion(of: name, "", "\(name) does not forbid a deletion") { c, s, o in
      c.equal(try s.conflicts { try $0.delete(o.source) }.count, 0)
      c.equal(try s.objects("Source"), [o.other])
      c.equal(try s.objects("Target").contains(o.target), true)
      // No action leaves a reference to nothing, at least until the store is opened again.
      if name == "ignored" { try s.update(o.target, ["ignorer": nil]) }
    }
  }

  /// A source that is linked to a target over one relationship, and the source of another such pair.
  private typealias Linked = (source: ObjectReference, target: ObjectReference, other: ObjectReference)

  private static func deletion(
    of name: String, _ suffix: String, _ title: String,
    _ body: @escaping @Sendable (CaseContext, Session, Linked) throws -> Void
  ) -> ConformanceCase {
    ConformanceCase("DEL-020/guard/\(name)\(suffix)", title, profiles: Profile.oneOpening) { c in
      let s = try c.open(Fixtures.guarded())
      try body(c, s, linked(s, name))
    }
  }

  /// Of many deleted objects each that is referred to is found, also where the file has lost its indexes.
  private static let manyDeletions = ConformanceCase(
    "DEL-020/guard/many", "of a hundred deleted objects those that are referred to are found", requires: .sqliteFile,
    profiles: Profile.plainOnly
  ) { c in
    let s = try c.open(Fixtures.guarded())
    let sources = try s.commit { _ = try $0.insert(100, "Source") }
    let targets = try s.commit {
      for source in [sources[7], sources[93]] { try $0.insert("Target", ["owner": .to(source)]) }
    }
    try s.close()
    try c.harness.execute(["DROP INDEX ZTARGET_ZOWNER_INDEX"], at: c.url)
    try s.reopen()
    let found = try s.conflicts { for source in sources { try $0.delete(source) } }
    c.equal(found.map(\.reference), [sources[7], sources[93]])
    c.equal(
      found.map { conflict -> [ObjectReference] in
        if case .referrers(_, let others) = conflict.kind { others } else { [] }
      }, targets.map { [$0] })
  }

  private static func linked(_ s: Session, _ name: String) throws -> Linked {
    let o = try s.commit {
      _ = try $0.insert(2, "Source")
      _ = try $0.insert(2, "Target")
    }
    let back = try s.relationship(name, of: o[0]).linkedInverse?.name
    try s.commit {
      try $0.connect(o[0], name, o[2], back)
      try $0.connect(o[1], name, o[3], back)
    }
    return (o[0], o[2], o[1])
  }

  // MARK: New links

  private static let goneTargets: [ConformanceCase] =
    [
      ("owner", "Target", "Source"), ("pair", "Target", "Source"), ("oneWay", "Source", "Target"),
    ].flatMap { (name: String, entity: String, destination: String) in
      [
        gone("insert/\(name)", "a new object's \(name)", destination) { changes, target in
          try changes.insert(entity, [name: .to(target)])
        },
        ConformanceCase(
          "REL-017/gone/update/\(name)", "a change of \(name) to an object that is gone is a conflict",
          profiles: Profile.oneOpening
        ) { c in
          let s = try c.open(Fixtures.guarded())
          let o = try s.commit {
            try $0.insert(entity)
            try $0.insert(destination)
          }
          try s.delete(o[1])
          let found = try s.conflicts { try $0.update(o[0], [name: .to(o[1])]) }
          try requireGone(c, found, o[1])
          c.equal(try s.row(o[0])?.version, 1, "nothing is written")
          // What does not change may lead to nothing: that is for whoever deletes to see to.
          c.equal(try s.conflicts { try $0.update(o[0], ["name": "other"]) }.count, 0)
        },
      ]
    }
    + ["cascading", "nullifying", "wayDown"].map { name in
      ConformanceCase(
        "REL-017/gone/link/\(name)", "a link of \(name) to an object that is gone is a conflict",
        profiles: Profile.oneOpening
      ) { c in
        let s = try c.open(Fixtures.guarded())
        let o = try s.commit {
          try $0.insert("Source")
          try $0.insert("Target")
        }
        try s.delete(o[1])
        let isPrimary = try s.relationship(name, of: o[0]).storage != .pairs(isPrimary: false)
        let found = try s.conflicts {
          if isPrimary {
            try $0.link(o[0], name, add: [o[1]])
          } else {
            try $0.link(o[1], s.relationship(name, of: o[0]).linkedInverse?.name ?? "", add: [o[0]])
          }
        }
        // From the other side the object that is gone is the owner, whose version the layer above checks.
        if isPrimary { try requireGone(c, found, o[1]) }
        c.equal(isPrimary ? try s.links(o[0], name) : [], [])
      }
    } + [
      ConformanceCase(
        "REL-017/gone/together", "a link to an object that the same commit inserts is none to what is gone",
        profiles: Profile.oneOpening
      ) { c in
        let s = try c.open(Fixtures.guarded())
        let found = try s.conflicts {
          let source = try $0.insert("Source")
          let target = try $0.insert("Target", ["owner": .to(source)])
          try $0.link(source, "wayDown", add: [target])
        }
        c.equal(found.count, 0)
      }
    ]

  private static func gone(
    _ id: String, _ title: String, _ destination: String,
    _ change: @escaping @Sendable (inout Changes, ObjectReference) throws -> Void
  ) -> ConformanceCase {
    ConformanceCase(
      "REL-017/gone/\(id)", "\(title) that is gone is a conflict", profiles: Profile.oneOpening
    ) { c in
      let s = try c.open(Fixtures.guarded())
      let target = try s.insert(destination)
      try s.delete(target)
      let found = try s.conflicts { try change(&$0, target) }
      try requireGone(c, found, target)
      c.equal(try s.objects("Source") + s.objects("Target"), [], "nothing is written")
    }
  }

  private static func requireGone(_ c: CaseContext, _ found: [Conflict], _ target: ObjectReference) throws {
    c.equal(found.map(\.reference), [target])
    guard case .version(nil)? = found.first?.kind else {
      try c.fail("no conflict that says that it is gone: \(found.map(\.brief))")
    }
  }
}

extension Changes {
  /// Takes a link away as the layer above tells a store.
  fileprivate mutating func unlink(_ source: ObjectReference, _ name: String, _ target: ObjectReference) throws {
    let back = try relationship(name, of: source).linkedInverse
    if let back, !back.isToMany { return try update(target, [back.name: nil]) }
    if let back, try isPrimary(target, back.name) { return try link(target, back.name, remove: [source]) }
    try link(source, name, remove: [target])
  }
}
