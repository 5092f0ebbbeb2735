import CoreData
import Foundation

/// Wrong use of the API. On Apple's platforms an exception ends the program; here the program ends with a message that
/// states the reason.
extension GraphSuite {
  static let misuse: [GraphCase] = [
    ends("ATT-040/graph", "a string set to a number attribute ends the program", saying: ["age", "String"]) {
      let context = stack()
      context.performAndWait { context.insert("Person").setValue("seven", forKey: "age") }
    },
    ends(
      "ATT-041/graph", "setting an unknown key ends the program with a message that names the key",
      saying: ["Person", "shoeSize"]
    ) {
      let context = stack()
      context.performAndWait { context.insert("Person").setValue(44, forKey: "shoeSize") }
    },
    ends(
      "ATT-041/read", "reading an unknown key ends the program with a message that names the key",
      saying: ["Person", "shoeSize"]
    ) {
      let context = stack()
      context.performAndWait { _ = context.insert("Person").value(forKey: "shoeSize") }
    },
    ends("CTX-015", "using a context off its queue ends the program", saying: ["queue", "perform"]) {
      let context = stack()
      context.insert("Person")
    },
    ends("REL-016", "a relationship to an object of another context ends the program", saying: ["team", "context"]) {
      let (a, b) = (stack(), NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType))
      b.persistentStoreCoordinator = a.persistentStoreCoordinator
      let team = b.performAndWait { b.insert("Team") }
      a.performAndWait { a.insert("Person").setValue(team, forKey: "team") }
    },
  ]

  private static let program = "wrong use"
  private static let after = "and it goes on"

  /// A case whose `body` ends its program with a message that contains certain words.
  private static func ends(
    _ id: String, _ title: String, saying words: [String], _ body: @escaping @Sendable () throws -> Void
  ) -> GraphCase {
    GraphCase(
      id, title, ways: .own,
      programs: [
        program: {
          dup2(STDOUT_FILENO, STDERR_FILENO)
          try body()
          print(after)
        }
      ]
    ) { g in
      let (lines, status) = try g.run(program: program)
      g.expect(status < 0, "the program ended with \(status)")
      g.expect(!lines.contains(after), "it went on")
      let text = lines.first { $0.contains("CoreData: ") } ?? ""
      for word in words { g.expect(text.contains(word), "“\(word)” is not in: \(text.isEmpty ? "\(lines)" : text)") }
    }
  }

  /// A context with a model but without a store.
  private static func stack() -> NSManagedObjectContext {
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Models.people)
    let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    context.persistentStoreCoordinator = coordinator
    return context
  }
}
