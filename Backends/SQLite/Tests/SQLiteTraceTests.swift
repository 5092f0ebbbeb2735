import Foundation
import SQLEngine
import StoreProtocol
import Synchronization
import Testing

@testable import SQLiteBackend

/// The output of `-com.apple.CoreData.SQLDebug`.
@Suite struct SQLiteTraceTests {
  @Test(
    arguments: [
      ([], 0), (["-com.apple.CoreData.SQLDebug"], 0), (["-com.apple.CoreData.SQLDebug", "x"], 0),
      (["program", "-com.apple.CoreData.SQLDebug", "3", "-v"], 3),
    ] as [([String], Int)])
  func theLevelIsAnArgument(arguments: [String], expected: Int) {
    #expect(SQLiteTrace.level(in: arguments) == expected)
  }

  @Test func eachLevelSaysMore() throws {
    var lines: [[String]] = []
    for level in 0...4 {
      let written = Mutex([String]())
      let trace = SQLiteTrace(level: level) { line in written.withLock { $0.append(line) } }
      let file = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
      defer { try? FileManager.default.removeItem(at: file) }
      let connection = try SQLiteConnection(file.path, .readWriteCreate, timeout: 1)
      try connection.execute("CREATE TABLE T (A)")
      trace.follow(connection.database)
      try connection.execute("INSERT INTO T VALUES (1), (2)")
      let statement = try connection.prepare("SELECT A FROM T WHERE A > ?")
      statement.bind(0, at: 1)
      while try statement.step() {}
      statement.reset()
      withExtendedLifetime((connection, trace)) {}
      lines.append(written.withLock { $0 })
    }
    func has(_ level: Int, _ text: String) -> Bool { lines[level].contains { $0.contains(text) } }
    #expect(lines[0].isEmpty)
    #expect(has(1, "CoreData: sql: SELECT A FROM T WHERE A > ?") && has(1, "annotation: sql execution time: 0."))
    #expect(has(2, "CoreData: sql: SELECT A FROM T WHERE A > 0") && !has(2, "rows"))
    #expect(has(3, "for 2 rows") && !has(3, "details"))
    #expect(has(4, "CoreData: details: SCAN T"))
  }

  @Test func whatIsDoneInMemoryIsSaid() {
    let written = Mutex([String]())
    let trace = SQLiteTrace(level: 1) { line in written.withLock { $0.append(line) } }
    trace.noteResidual("age == $value", isSorted: true)
    trace.noteResidual(nil, isSorted: true)
    #expect(
      written.withLock { $0 } == [
        "CoreData: annotation: evaluated in memory: age == $value", "CoreData: annotation: sorted in memory",
        "CoreData: annotation: sorted in memory",
      ])
  }
}
