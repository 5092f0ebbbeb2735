import CSQLite
import Foundation

/// Writes what a connection does to standard error, if the program's arguments say so: `-com.apple.CoreData.SQLDebug
/// LEVEL`, as with Apple's framework. Level 1 writes statements and their duration, 2 also the bound values, 3 also the
/// number of rows, 4 also SQLite's plan.
final class SQLiteTrace {
  /// 0 for none.
  static let level = level(in: CommandLine.arguments)

  static func level(in arguments: [String]) -> Int {
    guard let position = arguments.firstIndex(of: "-com.apple.CoreData.SQLDebug") else { return 0 }
    return arguments.dropFirst(position + 1).first.flatMap(Int.init) ?? 0
  }

  let level: Int
  private let write: (String) -> Void
  /// The rows that statements have returned so far, by address.
  private var rows: [OpaquePointer: Int] = [:]
  /// The query for a plan is a statement too.
  private var isExplaining = false

  init(level: Int = SQLiteTrace.level, write: @escaping (String) -> Void = SQLiteTrace.writeError) {
    (self.level, self.write) = (level, write)
  }

  private static func writeError(_ line: String) { FileHandle.standardError.write(Data((line + "\n").utf8)) }

  /// Follows a connection, which must not outlive this.
  func follow(_ database: OpaquePointer?) {
    if level <= 0 { return }
    let events = UInt32(SQLITE_TRACE_STMT | SQLITE_TRACE_PROFILE) | (level > 2 ? UInt32(SQLITE_TRACE_ROW) : 0)
    sqlite3_trace_v2(
      database, events,
      { event, context, statement, detail in
        guard let context, let statement else { return 0 }
        let trace = Unmanaged<SQLiteTrace>.fromOpaque(context).takeUnretainedValue()
        trace.note(event, OpaquePointer(statement), detail)
        return 0
      }, Unmanaged.passUnretained(self).toOpaque())
  }

  /// Writes the work that is done without SQL. `predicate` is the residual of a predicate, nil for none.
  func noteResidual(_ predicate: String?, isSorted: Bool) {
    if let predicate { write("CoreData: annotation: evaluated in memory: \(predicate)") }
    if isSorted { write("CoreData: annotation: sorted in memory") }
  }

  private func note(_ event: UInt32, _ statement: OpaquePointer, _ detail: UnsafeMutableRawPointer?) {
    if isExplaining { return }
    switch Int32(event) {
    case SQLITE_TRACE_STMT:
      // A statement within another, such as that of a trigger, is a comment.
      let text = detail.map { String(cString: $0.assumingMemoryBound(to: CChar.self)) } ?? ""
      write("CoreData: sql: \(text.hasPrefix("--") ? text : sql(statement))")
    case SQLITE_TRACE_ROW: rows[statement, default: 0] += 1
    case SQLITE_TRACE_PROFILE:
      let nanoseconds = detail?.load(as: Int64.self) ?? 0
      var line = "CoreData: annotation: sql execution time: \(String(format: "%.4f", Double(nanoseconds) / 1e9))s"
      if let count = rows.removeValue(forKey: statement) { line += " for \(count) rows" }
      write(line)
      if level > 3 { explain(statement) }
    default: break
    }
  }

  private func sql(_ statement: OpaquePointer) -> String {
    guard level > 1, let expanded = sqlite3_expanded_sql(statement) else {
      return sqlite3_sql(statement).map { String(cString: $0) } ?? ""
    }
    defer { sqlite3_free(expanded) }
    return String(cString: expanded)
  }

  private func explain(_ statement: OpaquePointer) {
    isExplaining = true
    defer { isExplaining = false }
    guard let text = sqlite3_sql(statement) else { return }
    var plan: OpaquePointer?
    let requested = "EXPLAIN QUERY PLAN " + String(cString: text)
    guard sqlite3_prepare_v2(sqlite3_db_handle(statement), requested, -1, &plan, nil) == SQLITE_OK else { return }
    defer { sqlite3_finalize(plan) }
    while sqlite3_step(plan) == SQLITE_ROW {
      if let detail = sqlite3_column_text(plan, 3) { write("CoreData: details: \(String(cString: detail))") }
    }
  }
}
