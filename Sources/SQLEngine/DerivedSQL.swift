import StoreProtocol
import StoreQuery
import StoreSchema

/// The values of derived attributes in plain SQL, which any program that opens the file can run. The rules are those of
/// ``DerivedValue`` and ``Aggregate``.
///
/// Two results are less exact than in other stores. Sums of doubles are added in the order in which the database finds
/// rows. Sums and averages of decimals have the 15 digits of a double.
enum DerivedSQL {
  /// Converts a value of one kind to another kind.
  static func converted(_ value: String, from source: SlotKind, to target: SlotKind) -> String {
    source == target ? value : converted(source == .decimal ? "CAST(\(value) AS REAL)" : value, to: target)
  }

  /// Converts a number to the form of a column's kind; NULL where the column cannot hold it.
  static func converted(_ number: String, to kind: SlotKind) -> String {
    func within(_ low: String, _ high: String, _ type: String) -> String {
      "CASE WHEN \(number) BETWEEN \(low) AND \(high) THEN CAST(\(number) AS \(type)) END"
    }
    switch kind {
    case .int16: return within("-32768", "32767", "INTEGER")
    case .int32: return within("-2147483648", "2147483647", "INTEGER")
    case .int64: return within("-9223372036854775808", "9223372036854775807", "INTEGER")
    case .double, .date: return within("-1.7976931348623157e308", "1.7976931348623157e308", "REAL")
    case .float: return within("-3.4028234663852886e38", "3.4028234663852886e38", "REAL")
    case .decimal: return "CASE typeof(\(number)) WHEN 'real' THEN printf('%.15g', \(number)) ELSE \(number) END"
    default: return number
    }
  }

  /// An aggregate of the values of a column in the rows of a `FROM` clause, which has a condition.
  static func aggregate(
    _ aggregate: Aggregate, of value: String, _ source: SlotKind, as target: SlotKind, from rows: String
  ) -> String {
    switch aggregate {
    case .count: return "(SELECT \(converted("COUNT(\(value))", to: target)) FROM \(rows))"
    case .minimum, .maximum:
      let (number, order) = (
        source == .decimal ? "CAST(\(value) AS REAL)" : value, aggregate == .minimum ? "ASC" : "DESC"
      )
      return
        "(SELECT \(converted(value, from: source, to: target)) FROM \(rows) AND \(value) NOT NULL ORDER BY \(number) \(order) LIMIT 1)"
    case .sum, .average:
      let result = aggregate == .sum ? "S" : "CAST(S AS REAL) / NULLIF(N, 0)"
      return
        "(SELECT \(converted("V", to: target)) FROM (SELECT \(result) AS V FROM (\(sum(of: value, source, from: rows)))))"
    }
  }

  /// A query for the sum S and the number N of values that are not null.
  ///
  /// Integers are added in halves: `SUM` fails where 64 bits do not suffice, and `TOTAL` is not exact.
  private static func sum(of value: String, _ kind: SlotKind, from rows: String) -> String {
    switch kind {
    case .int16, .int32, .int64, .bool:
      let halves =
        "SELECT SUM(\(value) >> 32) AS H, SUM(\(value) & 4294967295) AS L, COUNT(\(value)) AS N FROM \(rows)"
      let carried = "SELECT IFNULL(H + (L >> 32), 0) AS H, IFNULL(L & 4294967295, 0) AS L, N FROM (\(halves))"
      return
        "SELECT CASE WHEN H BETWEEN -2147483648 AND 2147483647 THEN (H << 32) | L ELSE H * 4294967296.0 + L END AS S, N FROM (\(carried))"
    case .decimal: return "SELECT TOTAL(CAST(\(value) AS REAL)) AS S, COUNT(\(value)) AS N FROM \(rows)"
    default: return "SELECT TOTAL(\(value)) AS S, COUNT(\(value)) AS N FROM \(rows)"
    }
  }

  /// An aggregate after a row was added, from its former value, without reading the other rows. NULL where that is
  /// impossible.
  static func increment(
    _ aggregate: Aggregate, _ old: String, _ new: String, _ source: SlotKind, as target: SlotKind
  ) -> String? {
    switch aggregate {
    case .minimum where source == target && source != .decimal: return "MIN(\(old), \(new))"
    case .maximum where source == target && source != .decimal: return "MAX(\(old), \(new))"
    // An integer that does not fit becomes a REAL, which the bounds exclude.
    case .sum where source.isInteger && target.isInteger:
      return
        "CASE WHEN typeof(\(old) + IFNULL(\(new), 0)) = 'integer' THEN \(converted("\(old) + IFNULL(\(new), 0)", to: target)) END"
    case .sum where source == .double && target == .double:
      return converted("\(old) + IFNULL(\(new), 0.0)", to: target)
    default: return nil
    }
  }
}

extension SlotKind {
  fileprivate var isInteger: Bool { self == .int16 || self == .int32 || self == .int64 || self == .bool }
}
