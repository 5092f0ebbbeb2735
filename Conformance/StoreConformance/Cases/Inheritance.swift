import StoreProtocol
import StoreSchema

extension ConformanceSuite {
  static let inheritance: [ConformanceCase] = [
    ConformanceCase("INH-001", "each level has its own and all below", profiles: Profile.reading) { c in
      let s = try c.open(Fixtures.inheritance())
      let o = try s.commit {
        for level in 1...15 { try $0.insert("Folder\(level)", ["level\(level)": .int(Int64(level))]) }
      }
      for level in 1...15 {
        c.equal(try s.objects("Folder\(level)"), Array(o[(level - 1)...]), "level \(level) with those below")
        c.equal(try s.objects("Folder\(level)", exactly: true), [o[level - 1]], "level \(level) alone")
      }
      c.equal(try s.objects("Node").count, 15)
      c.equal(try s.objects("File"), [])
    },
    ConformanceCase(
      "INH-001/fetch", "a fetch of a parent finds those below", level: .queryable, profiles: Profile.fetching
    ) { c in
      let s = try c.open(Fixtures.inheritance())
      let o = try s.commit {
        try $0.insert("File", ["name": "b"])
        try $0.insert("Folder2", ["name": "a"])
        try $0.insert("Folder1", ["name": "b"])
      }
      c.equal(try s.fetch("Node", "name == 'b'", sort: ["name"]), [o[0], o[2]])
      c.equal(try s.fetch("Folder1", sort: ["name"]), [o[1], o[2]])
      c.equal(try s.fetch("Folder1", sort: ["name"], exactly: true), [o[2]])
      c.equal(try s.count("Node"), 3)
    },
    ConformanceCase("INH-002", "an abstract entity has no objects", profiles: Profile.oneOpening) { c in
      let s = try c.open(Fixtures.inheritance())
      try c.refuses(.invalidArgument) { try s.insert("Node", ["name": "a"]) }
      c.equal(try s.objects("Node"), [])
    },
    ConformanceCase("INH-003", "attributes of every level are stored", profiles: Profile.reading) { c in
      let s = try c.open(Fixtures.inheritance())
      var values: [String: Cell] = ["name": "n", "code": "c"]
      for level in 1...15 { values["level\(level)"] = .int(Int64(level * 100)) }
      let object = try s.insert("Folder15", values)
      for (name, value) in values { c.equal(try s.value(object, name), value, name) }
      try s.update(object, ["level1": 1, "level15": 15])
      c.equal(try s.value(object, "level1"), 1)
      c.equal(try s.value(object, "level15"), 15)
      c.equal(try s.value(object, "level7"), 700)
    },
    ConformanceCase("INH-004", "siblings may use a name for different types", profiles: Profile.reading) { c in
      let s = try c.open(Fixtures.inheritance())
      let file = try s.insert("File", ["kind": "text"])
      let drawer = try s.insert("Drawer", ["kind": 7])
      c.equal(try s.value(file, "kind"), "text")
      c.equal(try s.value(drawer, "kind"), 7)
      c.equal(try s.fetch("File", "kind == 'text'"), [file])
      c.equal(try s.fetch("Drawer", "kind == 7"), [drawer])
    },
    ConformanceCase("INH-005", "a relationship to the parent holds a mix", profiles: Profile.reading) { c in
      let s = try c.open(Fixtures.inheritance())
      let o = try s.commit {
        let top = try $0.insert("Folder1")
        for name in ["File", "Drawer", "Folder5", "File"] { try $0.insert(name, ["parent": .to(top)]) }
      }
      c.equal(try s.links(o[0], "children"), Array(o[1...]))
      c.equal(try s.value(o[3], "parent"), .to(o[0]))
    },
    ConformanceCase(
      "INH-008", "a constraint of the parent binds all below", requires: .uniqueness, profiles: Profile.oneOpening
    ) { c in
      let s = try c.open(Fixtures.inheritance())
      let file = try s.insert("File", ["code": "x"])
      let found = try s.conflicts { try $0.insert("Folder3", ["code": "x"]) }
      c.equal(found.count, 1)
      guard case .constraint(_, let other, _)? = found.first?.kind else { try c.fail("no constraint conflict") }
      c.equal(other, file)
      c.equal(try s.objects("Node"), [file])
      c.equal(try s.conflicts { try $0.insert("Folder3", ["code": "y"]) }.count, 0)
    },
  ]
}
