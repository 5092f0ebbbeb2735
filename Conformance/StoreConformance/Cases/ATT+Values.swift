import Foundation
import StoreProtocol
import StoreSchema

extension ConformanceSuite {
  static let attributes: [ConformanceCase] = values("ATT-004", "int64", [("min", .int(.min)), ("max", .int(.max))])

  /// One case for each value: it comes back to the last bit, and is found by an equality.
  static func values(_ row: String, _ attribute: String, _ values: [(String, Cell)]) -> [ConformanceCase] {
    values.map { name, value in
      ConformanceCase(
        "\(row)/\(attribute)/\(name)", "\(attribute) \(value.value.brief) comes back as it went in",
        profiles: [.plain, .reopen, .twoStores]
      ) { c in
        let s = try c.open(Fixtures.allTypes())
        let object = try s.insert("AllTypes", [attribute: value, attribute + "Mandatory": value])
        c.equal(try s.value(object, attribute), value, attribute)
        c.equal(try s.value(object, attribute + "Mandatory"), value, "mandatory")
      }
    }
  }
}
