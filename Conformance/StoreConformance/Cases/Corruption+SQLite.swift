import Foundation
import StoreProtocol
import StoreSchema

/// Files in Core Data's SQLite format that another program has changed.
extension ConformanceSuite {
  static let sqliteDamage: [ConformanceCase] = [
    found(
      "ATT-020", "a text that is no UTF-8", .sql("UPDATE ZPERSON SET ZNAME = CAST(X'C328FF' AS TEXT) WHERE Z_PK = 1")),
    found("COR-010/text", "a text in a column of integers", .sql("UPDATE ZPERSON SET ZAGE = 'old' WHERE Z_PK = 1")),
    found("COR-010/blob", "a blob in a column of integers", .sql("UPDATE ZPERSON SET ZAGE = X'00FF' WHERE Z_PK = 1")),
    found("COR-010/huge", "a huge real in a column of integers", .sql("UPDATE ZPERSON SET ZAGE = 1e300")),
    found("COR-010/wide", "an integer too wide for its type", .sql("UPDATE ZPERSON SET ZAGE = 70000")),
    found("COR-010/date", "a text in a column of dates", .sql("UPDATE ZPERSON SET ZBORN = 'today'")),
    found("COR-010/binary", "an integer in a column of data", .sql("UPDATE ZPERSON SET ZPHOTO = 5")),
    found("COR-010/number", "a blob in a column of texts", .sql("UPDATE ZPERSON SET ZNAME = X'01'")),
    found("COR-010/version", "a text for a version", .sql("UPDATE ZPERSON SET Z_OPT = 'x' WHERE Z_PK = 1")),
    found("INH-010", "a row of an unknown entity", .sql("UPDATE ZPERSON SET Z_ENT = 99 WHERE Z_PK = 1")),
    found("INH-010/nil", "a row of no entity", .sql("UPDATE ZPERSON SET Z_ENT = NULL WHERE Z_PK = 1")),
    found("INH-010/wrong", "a row of another table's entity", .sql("UPDATE ZPERSON SET Z_ENT = 2 WHERE Z_PK = 1")),
    found("REL-024", "a to-one key of no row", .sql("UPDATE ZPERSON SET ZTEAM = 999 WHERE Z_PK = 1")),
    found("REL-024/text", "a to-one key that is a text", .sql("UPDATE ZPERSON SET ZTEAM = 'x' WHERE Z_PK = 1")),
    found("REL-024/negative", "a to-one key below one", .sql("UPDATE ZPERSON SET ZTEAM = -7 WHERE Z_PK = 1")),
    found("COR-012", "a pair with a missing end", .sql("UPDATE Z_1TAGS SET Z_2TAGS = 999")),
    found(
      "COR-009", "an index that is not over its table's rows",
      .sql(
        "PRAGMA writable_schema = ON",
        "UPDATE sqlite_master SET sql = replace(sql, '(ZTEAM)', '(ZAGE)') WHERE name = 'ZPERSON_ZTEAM_INDEX'")),
    found(
      "COR-008", "a page of an index that was damaged", .lastText("a@example.org", "z@example.org")),
    newer("COR-004/sqlite", "a newer version of Core Data's tables", .sql("UPDATE Z_METADATA SET Z_VERSION = 2")),
    newer("COR-004/xml", "a newer version of the document", .xml("134481920", "134481921")),
    newer(
      "COR-004/binary", "a newer version of the header", .bytes([2], at: 11, .binaryPropertyListFile)),
    newer("COR-004/mapped", "a newer version of the pages", .bytes([2], at: 20, .memoryMapped)),
    discreet(
      "SEC-018",
      .sql(
        "UPDATE ZPERSON SET ZAGE = 'hunter2', ZBORN = 'hunter2', ZTEAM = 'hunter2', ZPHOTO = 'hunter2', Z_OPT = 'hunter2'"
      )
    ),
    counter("highest", .sql("UPDATE Z_PRIMARYKEY SET Z_MAX = 9223372036854775807")),
    counter("negative", .sql("UPDATE Z_PRIMARYKEY SET Z_MAX = -5")),
    counter("text", .sql("UPDATE Z_PRIMARYKEY SET Z_MAX = 'x'")),
    counter("nil", .sql("UPDATE Z_PRIMARYKEY SET Z_MAX = NULL")),
    counter("low", .sql("UPDATE Z_PRIMARYKEY SET Z_MAX = 0")),
    counter("missing", .sql("DELETE FROM Z_PRIMARYKEY WHERE Z_NAME = 'Person'")),
    refused("COR-005/rows", "a store without metadata", .sql("DELETE FROM Z_METADATA")),
    refused("COR-005/nil", "a store with empty metadata", .sql("UPDATE Z_METADATA SET Z_PLIST = NULL")),
    refused("COR-005/noise", "metadata that is no property list", .sql("UPDATE Z_METADATA SET Z_PLIST = X'0102'")),
    refused("COR-005/type", "metadata that is a number", .sql("UPDATE Z_METADATA SET Z_PLIST = 5")),
    refused("COR-005/table", "a store without a table of metadata", .sql("DROP TABLE Z_METADATA")),
    refused(
      "COR-005/hashes", "metadata without version hashes",
      .sql("UPDATE Z_METADATA SET Z_PLIST = CAST('<plist version=\"1.0\"><dict/></plist>' AS BLOB)")),
    refused("COR-005/numbers", "a store without a table of keys", .sql("DROP TABLE Z_PRIMARYKEY")),
    refused("COR-005/entity", "a store without an entity's table", .sql("DROP TABLE ZTEAM")),
    refused("COR-005/column", "a table without a column", .sql("ALTER TABLE ZTEAM DROP COLUMN ZTITLE")),
    hostile(
      "SEC-009/view", "a view for a table",
      .sql("DROP TABLE ZTAG", "CREATE VIEW ZTAG AS SELECT 1 AS Z_PK, 2 AS Z_ENT, 1 AS Z_OPT, 'x' AS ZLABEL")),
    hostile(
      "SEC-009/generated", "a generated column", .sql("ALTER TABLE ZTAG ADD COLUMN ZEVIL AS (Z_PK * 2) VIRTUAL")),
    hostile(
      "SEC-009/check", "a table that calls functions",
      .sql(
        "DROP TABLE ZTAG",
        "CREATE TABLE ZTAG (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZLABEL VARCHAR DEFAULT (hex(randomblob(9))), CHECK (abs(Z_OPT) > 0))"
      )),
    hostile(
      "SEC-009/virtual", "a virtual table for a table",
      .sql(
        "DROP TABLE ZTAG",
        "CREATE VIRTUAL TABLE ZTAG USING rtree(Z_PK, ZA, ZB)")),
    hostile(
      "SEC-011", "a trigger that deletes other rows",
      .sql("CREATE TRIGGER evil AFTER INSERT ON ZTAG BEGIN DELETE FROM ZPERSON; END")),
    hostile(
      "SEC-010", "a view that never ends",
      .sql(
        "DROP TABLE ZTAG",
        "CREATE VIEW ZTAG AS WITH RECURSIVE n(Z_PK) AS (SELECT 1 UNION ALL SELECT Z_PK + 1 FROM n) SELECT Z_PK, 2 AS Z_ENT, 1 AS Z_OPT, 'x' AS ZLABEL FROM n"
      )),
    hostile(
      "SEC-012", "a schema that is no SQL",
      .sql("PRAGMA writable_schema = ON", "UPDATE sqlite_master SET sql = 'CREATE TABLE (' WHERE name = 'ZTAG'")),
    hostile(
      "SEC-012/pages", "a table at a page that is not there",
      .sql("PRAGMA writable_schema = ON", "UPDATE sqlite_master SET rootpage = 2000000000 WHERE name = 'ZTAG'")),
    ConformanceCase(
      "SEC-009/plain", "tables, columns and indexes that a model does not have are kept, and the store is written",
      requires: .sqliteFile, profiles: Profile.plainOnly
    ) { c in
      let s = try c.open(Fixtures.people())
      try s.insert("Tag", ["label": "x"])
      try s.close()
      try c.harness.execute(
        [
          "CREATE TABLE mine (a, b)", "INSERT INTO mine VALUES (1, 2)", "CREATE INDEX mineIndex ON ZTAG (ZLABEL DESC)",
          "ALTER TABLE ZTAG ADD COLUMN ZMINE DEFAULT 5",
        ], at: c.url)
      let again = try c.open(Fixtures.people())
      let new = try again.insert("Tag", ["label": "y"])
      c.equal(try again.value(new, "label"), "y")
      try again.close()
      try c.harness.execute(
        ["CREATE TABLE proof AS SELECT a FROM mine", "SELECT ZMINE FROM ZTAG INDEXED BY mineIndex"], at: c.url)
      c.equal(try c.open(Fixtures.people()).objects("Tag").count, 2)
    },
    ConformanceCase(
      "COR-011", "order keys that are the same, missing or no numbers still give every link", requires: .sqliteFile,
      profiles: Profile.plainOnly
    ) { c in
      for value in ["5", "NULL", "'x'", "9223372036854775807", "1e300"] {
        try c.label(value) {
          let s = try c.open(Fixtures.shapes())
          let o = try s.commit { changes in
            let source = try changes.insert("Source")
            for _ in 0..<3 { try changes.insert("Target", ["orderedOneBack": .to(source)]) }
          }
          try s.close()
          try c.harness.execute(["UPDATE ZTARGET SET Z_FOK_ORDEREDONEBACK = \(value)"], at: c.url)
          c.leavesDamage()
          let again = try c.open(Fixtures.shapes())
          c.equal(Set(try again.links(o[0], "orderedOne")), Set(o.dropFirst()))
          try again.close()
          try c.clear()
          c.isReplaced()
        }
      }
    },
    ConformanceCase(
      "DUR-011", "a file copied without its log is an older state or an error", requires: .sqliteFile,
      profiles: Profile.plainOnly, sites: 2
    ) { c in
      let s = try c.open(Fixtures.people())
      try s.insert("Person", ["name": "a"])
      try FileManager.default.copyItem(at: c.url, to: c.url(of: 1))
      do {
        let copy = try c.open(Fixtures.people(), in: 1)
        c.expect(try copy.objects("Person").count <= 1, "more than was saved")
        try copy.insert("Person", ["name": "b"])
      } catch let error as StoreError {
        c.expect(!error.message.isEmpty, "an error without a sentence")
      }
    },
  ]
}
