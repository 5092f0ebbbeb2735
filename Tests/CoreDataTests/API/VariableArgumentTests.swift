import Foundation
import Testing

@testable import CoreData

/// Values as `CVarArg`, which clients pass as arguments of a format, and argument lists.
///
/// Sources: clients (`id as CVarArg`),
/// https://developer.apple.com/documentation/foundation/nspredicate/init(format:arguments:)
@Suite struct VariableArgumentTests {
  private let id = UUID()
  private let date = Date(timeIntervalSinceReferenceDate: 5)

  @Test func whatBridgesToAnObjectIsAnArgument() throws {
    let predicate = NSPredicate(
      format: "a == %@ AND b IN %@ AND c == %@ AND d == %@ AND e == %@", id as any CVarArg, [1, 2] as any CVarArg,
      date as any CVarArg,
      Data([1]) as any CVarArg, NSNumber(value: 3) as any CVarArg)
    let same = NSPredicate(
      format: "a == %@ AND b IN %@ AND c == %@ AND d == %@ AND e == %@", id, [1, 2], date, Data([1]), 3)
    #expect(predicate == same)
    let inList = NSPredicate(format: "SELF IN %@", Set(["a"]) as any CVarArg)
    #expect(inList.evaluate(with: "a") && !inList.evaluate(with: "b"))
  }

  @Test func objectsAndTheirIDsAreArguments() throws {
    let context = try Note.context(transient: false)
    try context.performAndWait {
      let (note, other) = (Note(context: context), Note(context: context))
      try context.save()
      let isNote = NSPredicate(format: "SELF == %@", note as any CVarArg)
      #expect(isNote.evaluate(with: note) && !isNote.evaluate(with: other))
      let request = NSFetchRequest<Note>(entityName: "Note")
      request.predicate = NSPredicate(format: "SELF == %@", other.objectID as any CVarArg)
      #expect(try context.fetch(request) == [other])
    }
  }

  @Test func aListOfArgumentsIsReadByTheTypesOfTheFormat() throws {
    let format =
      "a == %@ AND b == %d AND c == %ld AND d == %f AND %K == %@ AND f IN %@ AND '%d' == g AND h == %lu AND i == %@"
    let arguments: [any CVarArg] = [id, Int32(-7), Int.min, 2.5, "e", "text", [date], UInt.max >> 1, NSNull()]
    let predicate = withVaList(arguments) { NSPredicate(format: format, arguments: $0) }
    let same = NSPredicate(
      format: format,
      argumentArray: [id, -7, Int.min, 2.5, "e", "text", [date], Int.max, NSNull()])
    #expect(predicate == same)
    let expression = withVaList([2, 3]) { NSExpression(format: "%ld + %ld", arguments: $0) }
    #expect(expression.expressionValue(with: nil, context: nil) as? Int == 5)
  }

  @Test func aStringOfFormatPrintsThem() {
    #expect(String(format: "%@ %@ %d", id as any CVarArg, [1, 2] as any CVarArg, 3) == "\(id) [1, 2] 3")
  }

  @Test func manyThreadsPassArgumentsAtOnce() {
    DispatchQueue.concurrentPerform(iterations: 4) { _ in
      for _ in 0..<200 {
        let id = UUID()
        let predicate = withVaList([id]) { NSPredicate(format: "SELF == %@", arguments: $0) }
        #expect(predicate == NSPredicate(format: "SELF == %@", id))
      }
    }
  }
}
