import Foundation
import StoreProtocol
import StoreQuery
import StoreSchema

/// `coredata store fetch`: the objects that match a predicate.
enum FetchCommand {
  static let command: Command = Command(
    words: ["store", "fetch"], operands: ["PATH"],
    options: [
      Option(name: "--entity", value: "ENTITY", help: "the entity, its sub-entities included; required"), .model,
      Option(
        name: "--predicate", value: "PREDICATE",
        help: "in NSPredicate's format, such as 'age > 30 AND name BEGINSWITH \"A\"'"),
      Option(
        name: "--sort", value: "KEY[:desc]", isRepeatable: true,
        help: "a key path to sort by; give several in their order"),
      Option(name: "--limit", value: "N", help: "the maximum number of objects"),
      Option(name: "--json", help: "write JSON, one object on each line; the default"),
      Option(name: "--csv", help: "write CSV (RFC 4180), with the names in the first line"),
      Option(name: "--explain", help: "show what the store does and what is done in memory, without fetching"),
      Option(name: "--decode", help: "show keyed archives in transformable values as JSON"),
    ],
    summary: "Fetches objects, as JSON or CSV",
    discussion: """
      JSON has one object on each line: {"objectID":"x-coredata://…",property:value…}, properties sorted by name. A to-one is the URI
      of its destination, a to-many an array of URIs, sorted as texts (the order of ordered relationships is in `store dump`).
      Dates are ISO 8601 in UTC with a fraction, data is base64, nil is null. In CSV nil is empty, a to-many is
      its URIs with spaces between, and a composite attribute is JSON.
      """
  ) { invocation, output in
    guard let name = invocation.value("--entity") else {
      throw UsageError(message: "--entity is missing.", command: command)
    }
    if invocation.has("--json") && invocation.has("--csv") {
      throw UsageError(message: "--json and --csv exclude each other.", command: command)
    }
    let limit = try invocation.value("--limit").map { try number($0) }
    let store = try OpenedStore(invocation.operands[0], model: invocation.value("--model"))
    let entity = try store.entity(named: name)
    let plan = try plan(invocation, entity, store.schema, limit)
    if invocation.has("--explain") {
      let execution = FetchExecution(try store.engine.snapshot())
      for line in try execution.explanation(of: plan, store.schema) { output.line(line) }
      return true
    }
    let form = FetchForm(entity, store, decodes: invocation.has("--decode"))
    try run(plan, store, form, isCSV: invocation.has("--csv"), output)
    return true
  }

  private static func number(_ text: String) throws -> Int {
    guard let number = Int(text), number >= 0 else {
      throw UsageError(message: "--limit needs a number that is not negative, not \"\(text)\".", command: command)
    }
    return number
  }

  private static func plan(
    _ invocation: Invocation, _ entity: Entity, _ schema: Schema, _ limit: Int?
  ) throws -> FetchPlan {
    let resolver = PredicateResolver(schema, entity)
    var predicate = ResolvedPredicate.constant(true)
    do {
      if let text = invocation.value("--predicate") {
        predicate = try resolver.resolve(StoreQuery.Predicate(format: text))
      }
      let sorts = try invocation.all("--sort").map { text in
        let isDescending = text.hasSuffix(":desc")
        let key = isDescending ? String(text.dropLast(5)) : text.hasSuffix(":asc") ? String(text.dropLast(4)) : text
        return ResolvedSort(path: try resolver.path(key), isAscending: !isDescending)
      }
      return FetchPlan(entities: entity.subtree, predicate: predicate, sort: sorts, limit: limit)
    } catch let error as FormatError {
      throw ToolError(message: "The predicate cannot be read: \(error.message)")
    } catch let error as ResolutionError { throw ToolError(message: error.message) }
  }

  private static func run(
    _ plan: FetchPlan, _ store: OpenedStore, _ form: FetchForm, isCSV: Bool, _ output: Output
  ) throws {
    let inspection = try Inspection(store.engine)
    let progress = Progress("objects")
    defer { progress.end() }
    if isCSV { output.write(CSVText.line(form.names)) }
    var failure: StoreError?
    try inspection.fetch(plan) { (row: consuming Row) in
      if failure != nil { return }
      do throws(StoreError) {
        let object = try inspection.object(row)
        if isCSV { output.write(CSVText.line(form.fields(object))) } else { output.line(form.json(object)) }
      } catch { failure = error }
      progress.step()
    }
    if let failure { throw failure }
  }
}
