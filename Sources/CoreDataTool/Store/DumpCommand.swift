import Foundation
import StoreProtocol
import StoreSchema

/// `coredata store dump`: the whole content of a store in one canonical text.
enum DumpCommand {
  static let command = Command(
    words: ["store", "dump"], operands: ["PATH"], options: [.json, .model],
    summary: "Writes everything that a store holds, in a canonical form",
    discussion: """
      One object on each line, sorted by entity name and key, so that stores of any type can be compared byte for byte:

        {"attributes":{…},"entity":"E","key":12,"relationships":{…}}

      Attributes that are nil and relationships that are empty are left out. Values without a form in JSON are tagged: $date
      (seconds since 2001-01-01), $decimal, $data and $transformable (base64), $uuid, $url, $double (infinities). A to-one is
      "Entity/p12", a to-many an array of those, in order where the relationship is ordered. An invalid value, such as a
      reference to a missing object or a missing external file, is {"$invalid":"reason"}, and makes the exit status 1.
      """
  ) { invocation, output in
    let store = try OpenedStore(invocation.operands[0], model: invocation.value("--model"))
    return try dump(store, output)
  }

  /// Returns false where any value was invalid.
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
