import Foundation
import StoreProtocol
import StoreSchema
import StoreSupport

/// `coredata store dump`: everything that a store holds, in one canonical text.
enum DumpCommand {
  static let command = Command(
    words: ["store", "dump"], operands: ["PATH"], options: [.json, .model],
    summary: "Writes everything that a store holds, in a canonical form",
    discussion: """
      One object a line, sorted by entity name and key, so that stores of any type can be compared byte for byte:

        {"attributes":{…},"entity":"E","key":12,"relationships":{…}}

      Attributes that are nil and relationships that are empty are left out. Values that JSON has no form for are tagged: $date
      (seconds since 2001-01-01), $decimal, $data and $transformable (base64), $uuid, $url, $double (infinities). A to-one is
      "Entity/p12", a to-many an array of those, in order where the relationship is ordered. What cannot be right, such as a
      reference to nothing or a missing external file, is {"$invalid":"reason"}, and makes the exit status 1.
      """
  ) { invocation, output in
    let store = try OpenedStore(invocation.operands[0], model: invocation.value("--model"))
    return try dump(store, output)
  }

  /// Gives false where anything was invalid.
  private static func dump(_ store: OpenedStore, _ output: Output) throws -> Bool {
    let inspection = try Inspection(store.engine)
    let progress = Progress("objects")
    defer { progress.end() }
    var isSound = true
    for entity in store.entities {
      let line = DumpLine(entity, store.schema)
      try inspection.objects(of: entity.index) { object in
        let text = line.text(object)
        isSound = isSound && text.isSound
        output.line(text.line)
        progress.step()
      }
    }
    return isSound
  }
}
