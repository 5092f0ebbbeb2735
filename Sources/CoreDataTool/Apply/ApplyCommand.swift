import CoreData
import Foundation

/// `coredata store apply`: changes objects by a file of operations, in one save.
enum ApplyCommand {
  static let command = Command(
    words: ["store", "apply"], operands: ["PATH", "OPS.jsonl"], options: [.model],
    summary: "Changes objects by a file of operations, in one save: all or nothing",
    discussion: """
      OPS.jsonl (- is the standard input) has one operation on each line:

        {"op":"insert","entity":"Book","as":"new","values":{"title":"Dune","published":{"$date":-1e9}}}
        {"op":"set","object":"Book/p12","values":{"title":"Emma","rating":null}}
        {"op":"relate","object":"Book/p12","relationship":"author","to":"Author/p3"}
        {"op":"relate","object":"Author/p3","relationship":"books","add":["new"],"remove":["Book/p7"]}
        {"op":"delete","object":"Book/p8"}

      Values are those of `store dump`, tags included; null makes an attribute nil. An object is "Entity/pN", its URI, or the label
      "as" of an earlier insert. "to" replaces the destination of a relationship: an object or null, for a to-many an array, in
      order where the relationship is ordered; "add" appends. The save validates the objects: after any error, in the file or of
      the validation, nothing is changed. Then the inserted objects are listed, one on each line,
      {"as":"new","objectID":"x-coredata://…"}.
      """
  ) { invocation, output in
    let lines = try Operation.read(invocation.operands[1])
    let store = try OpenedStore(invocation.operands[0], model: invocation.value("--model"), isReadOnly: false)
    // Closed after errors too, so that no file stays beside the store.
    defer { try? store.coordinator.remove(store.store) }
    let context = NSManagedObjectContext(.privateQueue)
    context.persistentStoreCoordinator = store.coordinator
    let inserted = try context.performAndWait {
      var changes = AppliedChanges(context, store)
      let progress = Progress("operations")
      defer { progress.end() }
      for (number, operation) in lines {
        do { try changes.apply(operation) } catch {
          throw ToolError(message: "Line \(number): \(ErrorText.sentence(error)) Nothing was changed.")
        }
        progress.step()
      }
      do { try context.save() } catch {
        throw ToolError(message: "The changes cannot be saved: \(ErrorText.sentence(error))")
      }
      return changes.inserted.map { ($0.name, $0.object.objectID.uriRepresentation().absoluteString) }
    }
    for (name, uri) in inserted {
      output.line(JSONText.ordered([("as", JSONText.optional(name)), ("objectID", JSONText.string(uri))]))
    }
    return true
  }
}

/// One line of an operations file.
enum Operation {
  case insert(entity: String, name: String?, values: [String: JSONValue])
  case set(object: String, values: [String: JSONValue])
  case relate(object: String, relationship: String, change: RelationshipChange)
  case delete(object: String)

  enum RelationshipChange {
    case to(JSONValue)
    case members(add: [String], remove: [String])
  }

  /// The operations of a file, with their line numbers. Empty lines are skipped.
  static func read(_ path: String) throws -> [(line: Int, operation: Operation)] {
    let data: Data
    do {
      data =
        try path == "-" ? FileHandle.standardInput.readToEnd() ?? Data() : Data(contentsOf: URL(fileURLWithPath: path))
    } catch { throw ToolError(message: "The file of operations \(path) cannot be read.") }
    var result: [(line: Int, operation: Operation)] = []
    for (index, line) in data.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).enumerated() {
      if line.allSatisfy({ $0 == 32 || $0 == 9 || $0 == 13 }) { continue }
      guard let value = try? JSONDecoder().decode(JSONValue.self, from: Data(line)), let fields = value.object else {
        throw ToolError(message: "Line \(index + 1) is not a JSON object.")
      }
      do { result.append((index + 1, try Operation(fields))) } catch let error as ToolError {
        throw ToolError(message: "Line \(index + 1): \(error.message)")
      }
    }
    return result
  }

  init(_ fields: [String: JSONValue]) throws {
    var fields = fields
    func take(_ name: String) throws -> String {
      guard let text = fields.removeValue(forKey: name)?.string else {
        throw ToolError(message: "\"\(name)\" is missing or not a string.")
      }
      return text
    }
    func values() throws -> [String: JSONValue] {
      guard let values = fields.removeValue(forKey: "values") else { return [:] }
      guard let object = values.object else { throw ToolError(message: "\"values\" is not an object.") }
      return object
    }
    func names(_ name: String) throws -> [String] {
      guard let value = fields.removeValue(forKey: name) else { return [] }
      guard let list = value.array, list.allSatisfy({ $0.string != nil }) else {
        throw ToolError(message: "\"\(name)\" is not an array of objects.")
      }
      return list.compactMap(\.string)
    }
    let kind = try take("op")
    switch kind {
    case "insert":
      self = .insert(entity: try take("entity"), name: fields.removeValue(forKey: "as")?.string, values: try values())
    case "set": self = .set(object: try take("object"), values: try values())
    case "relate":
      let (object, relationship) = (try take("object"), try take("relationship"))
      let change: RelationshipChange =
        if let target = fields.removeValue(forKey: "to") { .to(target) } else {
          .members(add: try names("add"), remove: try names("remove"))
        }
      self = .relate(object: object, relationship: relationship, change: change)
    case "delete": self = .delete(object: try take("object"))
    default: throw ToolError(message: "There is no operation \"\(kind)\".")
    }
    // A misspelt field would be a change that is silently not made.
    if let other = fields.keys.min() { throw ToolError(message: "The operation \(kind) has no field \"\(other)\".") }
  }
}
