import StoreProtocol
import StoreSchema

/// Files in Core Data's XML format that another program has changed.
extension ConformanceSuite {
  static let xmlDamage: [ConformanceCase] = [
    found("ATT-020/xml", "a text that is no UTF-8", .xml(">a<", ">\u{E000}<")),
    found("COR-010/xml/text", "a text for an integer", .xml(">30<", ">old<")),
    found("COR-010/xml/wide", "an integer too wide for its type", .xml(">30<", ">70000<")),
    found("COR-010/xml/date", "a text for a date", .xml("type=\"date\">1.0", "type=\"date\">today")),
    found("INH-010/xml", "an object of an unknown entity", .xml("type=\"TAG\"", "type=\"NOBODY\"")),
    found(
      "REL-024/xml", "a to-one key of no object",
      .xml("destination=\"TEAM\" idrefs=\"z", "destination=\"TEAM\" idrefs=\"z99")),
    found(
      "REL-024/xml/text", "a to-one key that is a text",
      .xml("destination=\"TEAM\" idrefs=\"z", "destination=\"TEAM\" idrefs=\"x")),
    found("COR-011/xml", "two objects of one key", .xml("type=\"TAG\" id=\"z", "type=\"TAG\" id=\"z1\" old=\"")),
    found(
      "COR-012/xml", "a pair with a missing end",
      .xml("destination=\"TAG\" idrefs=\"z", "destination=\"TAG\" idrefs=\"z99")),
    refused("COR-005/xml/hashes", "metadata without version hashes", .xml("NSStoreModelVersionHashes<", "NSHashes<")),
    refused(
      "COR-005/xml/version", "metadata whose hashes are a text",
      .xml("NSStoreModelVersionHashes</key>", "NSStoreModelVersionHashes</key><string>x</string><key>was</key>")),
    refused("COR-005/xml/metadata", "a document without metadata", .xml("metadata>", "nothing>")),
    refused("COR-005/xml/identifier", "a document without an identifier", .xml("UUID>", "DUID>")),
    refused(
      "COR-005/xml/nested", "a document whose identifier is within another element",
      .xml([("<UUID>", "<was>"), ("</UUID>", "</was><UUID><part>x</part></UUID>")])),
    refused(
      "COR-005/xml/highest", "a document with a highest key beyond 64 bits",
      highest("9223372036854775808")),
    refused(
      "COR-005/binary/hashes", "metadata without version hashes",
      .text("NSStoreModelVersionHashes", "NSStoreModelVersionHashez", .binaryPropertyListFile)),
    refused(
      "COR-005/binary/identifier", "metadata without an identifier",
      .text("NSStoreUUID", "NSStoreUUIE", .binaryPropertyListFile)),
    refused(
      "COR-005/mapped/hashes", "metadata without version hashes",
      .text("NSStoreModelVersionHashes", "NSStoreModelVersionHashez", .memoryMapped)),
    ConformanceCase(
      "COR-012/rule", "what a deletion without any action leaves linked is found, and reading it is no harm",
      profiles: Profile.oneOpening
    ) { c in
      let s = try c.open(Fixtures.guarded())
      let o = try s.commit { changes in
        let source = try changes.insert("Source", ["name": "gone"])
        try changes.insert("Target", ["name": "left", "ignorer": .to(source)])
      }
      try s.delete(o[0])
      c.expect(!ConsistencyCheck.problems(of: s.store).isEmpty, "nothing is found")
      c.expect(try !s.exists(o[0]), "the deleted object is there")
      c.equal(try s.value(o[1], "name"), "left")
      c.equal(try s.fetch("Target", "ignorer.name == 'gone'"), [], "over a reference to nothing")
      c.equal(try s.fetch("Target", "name == 'left'", sort: ["ignorer.name"]), [o[1]])
      // Nothing is left to find.
      try s.update(o[1], ["ignorer": nil])
      c.equal(ConsistencyCheck.problems(of: s.store), [])
    },
    discreet("SEC-018/xml", .xml(">30<", ">hunter2<")),
    counter("xml/highest", highest("9223372036854775807")),
    counter("xml/negative", highest("-7")),
    counter("xml/text", highest("many")),
  ]

  /// Another highest key.
  private static func highest(_ text: String) -> ForeignChange {
    .xml([("<nextObjectID>", "<was>"), ("</nextObjectID>", "</was><nextObjectID>\(text)</nextObjectID>")])
  }
}
