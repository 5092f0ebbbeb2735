import StoreQuery
import StoreSchema
import TestSupport
import Testing

/// Row programs give the same results as the kernels, row by row and in batches.
@Suite struct RowProgramTests {
  /// Evaluates values with the kernels, without the faster programs.
  private struct Slowly: EvaluationSource {
    let schema: Schema

    func value(at path: SlotPath, of row: Row) -> Value {
      guard case .attribute(let slot, let kind, _) = path.leaf else { return .null }
      return row.value(slot, kind)
    }

    func objects(over hops: [Relationship], from row: Row) -> [Row] { [] }
  }

  private let schema: Schema
  private let rows: [Row]
  private var thing: Entity { schema.entities[0] }

  init() throws {
    var definition = EntityDefinition(name: "Thing")
    definition.attributes = [
      AttributeDefinition(name: "number", type: .integer64), AttributeDefinition(name: "real", type: .double),
      AttributeDefinition(name: "text", type: .string), AttributeDefinition(name: "isOn", type: .boolean),
    ]
    schema = try Schema([definition])
    let entity = schema.entities[0]
    var random = SeededGenerator(seed: 3)
    rows = (1...700).map { key in
      let builder = RowBuilder()
      builder.begin(slots: entity.slots.count)
      let values: [String: [Value]] = [
        "number": [.int(0), .int(1), .int(-3), .int(.max)], "real": [.double(0), .double(-0.0), .double(2.5)],
        "text": [.string(""), .string("a"), .string("Ab"), .string("ba")], "isOn": [.bool(true), .bool(false)],
      ]
      for attribute in entity.attributes where Int.random(in: 0..<4, using: &random) > 0 {
        builder.set(attribute.slot, values[attribute.name]?.randomElement(using: &random) ?? .null)
      }
      return builder.finish(key: Int64(key), entity: 0, version: 1)
    }
  }

  private static let comparisons = [
    "number == 0", "number != 1", "number < 1", "number <= 0", "number > -3", "number >= 1", "number == nil",
    "number != nil", "number > 0.5", "number > -9223372036854775808", "real == 0", "real != 2.5", "real < 1",
    "real <= 0", "real > 0", "real >= 2.5", "real > -9223372036854775808", "real < 9007199254740993", "text == 'a'",
    "text != 'a'", "text CONTAINS 'b'", "text BEGINSWITH 'A'", "text BEGINSWITH ''", "text ENDSWITH 'ba'",
    "text ==[c] 'AB'",
    "text LIKE '?b'", "text < 'b'", "isOn == YES", "isOn != 1", "number == real", "real < nil", "TRUEPREDICATE",
    "FALSEPREDICATE",
  ]

  private func format(_ random: inout SeededGenerator, depth: Int) -> String {
    guard depth > 0, Int.random(in: 0..<3, using: &random) > 0 else {
      return Self.comparisons.randomElement(using: &random) ?? ""
    }
    let parts = (0...Int.random(in: 0...2, using: &random)).map { _ in "(\(format(&random, depth: depth - 1)))" }
    switch Int.random(in: 0..<3, using: &random) {
    case 0: return parts.joined(separator: " AND ")
    case 1: return parts.joined(separator: " OR ")
    default: return "NOT \(parts[0])"
    }
  }

  @Test func programsMeanWhatTheKernelsMean() throws {
    var random = SeededGenerator(seed: 11)
    var (programs, found) = (0, 0)
    for round in 0..<800 {
      let text = round < Self.comparisons.count ? Self.comparisons[round] : format(&random, depth: 3)
      let predicate = try PredicateResolver(schema, thing).resolve(try Predicate(format: text))
      guard let program = RowProgram(predicate) else { continue }
      let (slowly, source) = (CompiledPredicate<Slowly>(predicate), Slowly(schema: schema))
      let expected = rows.filter { slowly($0, in: source) }.map(\.key)
      #expect(rows.filter { program($0) }.map(\.key) == expected, "\(text)")
      let some = round % 3 == 0 ? Array(rows.prefix(round % 40)) : rows
      #expect(program.filter(some).map(\.key) == expected.filter { $0 <= some.count }, "\(text)")
      programs += 1
      found += expected.count
    }
    #expect(programs > 700)
    #expect(found > 100_000)
  }
}
