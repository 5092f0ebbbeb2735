import Foundation
import StoreProtocol
import StoreSchema
import Testing

@Suite struct StoreOptionTests {
  private let url = URL(fileURLWithPath: "/nowhere")

  @Test func anOptionHasItsDefaultUntilItIsSet() {
    var options = StoreOptions()
    #expect(options[LedgerBackend.currency] == "EUR")
    #expect(options[LedgerBackend.rounds] == false)
    options[LedgerBackend.currency] = "CHF"
    options[LedgerBackend.mode] = .strict
    #expect(options[LedgerBackend.currency] == "CHF")
    #expect(options[LedgerBackend.mode] == .strict)
    #expect(options[LedgerBackend.pages] == 4)
  }

  @Test(arguments: [
    ("Ledger.currency", StoreOptionValue.text("CHF")), ("Ledger.rounds", .bool(true)), ("Ledger.rounds", .integer(0)),
    ("Ledger.pages", .integer(9)), ("Ledger.pages", .number(9)), ("Ledger.rate", .integer(2)),
    ("Ledger.rate", .number(2.5)), ("Ledger.key", .data(Data([1]))), ("Ledger.mode", .text("strict")),
    // Options of other stores are not this one's business.
    ("Journal.pages", .text("many")), ("Ledgers", .text("many")),
  ])
  func valuesOfTheDeclaredTypeAreTaken(name: String, value: StoreOptionValue) throws {
    var options = StoreOptions()
    options.own[name] = value
    #expect(throws: Never.self) { try CheckedBackend(LedgerBackend()).metadata(at: url, options: options) }
  }

  @Test(arguments: [
    ("Ledger.currency", StoreOptionValue.integer(1), "a text; it was given 1"),
    ("Ledger.rounds", .integer(2), "true or false; it was given 2"),
    ("Ledger.rounds", .text("true"), "true or false; it was given the text 'true'"),
    ("Ledger.pages", .number(1.5), "a whole number; it was given 1.5"),
    ("Ledger.pages", .number(1e300), "a whole number"), ("Ledger.pages", .bool(true), "a whole number"),
    ("Ledger.rate", .text("2"), "a number; it was given the text '2'"),
    ("Ledger.key", .other("Date"), "bytes; it was given a value of type Date"),
    ("Ledger.mode", .text("lax"), "the text 'lenient' or 'strict'; it was given the text 'lax'"),
    ("Ledger.page", .integer(1), "have no option Ledger.page; they have Ledger.currency, Ledger.key, Ledger.mode"),
  ])
  func otherNamesAndValuesAreRefusedInEveryCall(name: String, value: StoreOptionValue, message: String) throws {
    var options = StoreOptions()
    options.own[name] = value
    let (backend, schema) = (CheckedBackend(LedgerBackend()), try Schema([]))
    func refuses(_ call: () throws -> Void) {
      let error = #expect(throws: StoreError.self) { try call() }
      #expect(error?.code == .invalidArgument)
      #expect(error?.message.contains(message) == true)
      #expect(error?.context["option"] == name)
    }
    refuses { _ = try backend.open(at: url, schema: schema, options: options) }
    refuses { _ = try backend.metadata(at: url, options: options) }
    refuses { try backend.destroy(at: url, options: options) }
    refuses { try backend.replace(at: url, with: url, options: options) }
  }
}

/// A backend with an option of each type.
private struct LedgerBackend: StoreBackend {
  static let currency = StoreOption("Ledger.currency", default: "EUR")
  static let rounds = StoreOption("Ledger.rounds", default: false)
  static let pages = StoreOption("Ledger.pages", default: 4)
  static let rate = StoreOption("Ledger.rate", default: 1.0)
  static let key = StoreOption("Ledger.key", default: Data())
  static let mode = StoreOption("Ledger.mode", default: Mode.lenient)

  let storeType = "Ledger"
  let capabilities: Capabilities = []
  var ownOptions: [StoreOptionDeclaration] {
    [
      Self.currency.declaration, Self.rounds.declaration, Self.pages.declaration, Self.rate.declaration,
      Self.key.declaration, Self.mode.declaration,
    ]
  }

  func open(at url: URL, schema: Schema, options: StoreOptions) throws(StoreError) -> any Store {
    throw StoreError(.notFound, "There is nothing.")
  }
  func metadata(at url: URL, options: StoreOptions) throws(StoreError) -> StoreMetadata {
    StoreMetadata(identifier: "0", storeType: "Ledger", versionHashes: [:], versionIdentifiers: [], additional: [:])
  }
  func destroy(at url: URL, options: StoreOptions) throws(StoreError) {}
  func replace(at destination: URL, with source: URL, options: StoreOptions) throws(StoreError) {}
}

/// A type of a store's own.
private enum Mode: String, StoreOptionType {
  case lenient, strict

  static var optionTypeName: String { "the text 'lenient' or 'strict'" }
  var optionValue: StoreOptionValue { .text(rawValue) }
  init?(_ value: StoreOptionValue) {
    guard case .text(let text) = value else { return nil }
    self.init(rawValue: text)
  }
}
