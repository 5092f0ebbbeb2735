import Foundation
import InMemoryBackend
import StoreConformance
import StoreConformanceRunner
import StoreProtocol
import StoreSchema
import XMLBackend

/// Stores that are wrong on purpose, each in one way: the suite must notice every one of them.
public enum SabotagedStores {
  /// All of them. The cases that must notice are listed in `Caught.json` beside the sources.
  public static func all() throws -> [SabotagedHarness] {
    let file = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Caught.json")
    let caught = try JSONDecoder().decode([String: [String]].self, from: Data(contentsOf: file))
    let bases: [(any StoreBackend, [Fault])] = [(InMemoryBackend(), inMemory), (XMLBackend(), files)]
    return bases.flatMap { base, faults in
      let sound = Harness(name: "sound-" + base.storeType, backend: base)
      return faults.map { fault in
        let backend = SabotagedBackend(base: base, sabotage: fault.sabotage)
        let harness = Harness(name: "sabotage-" + fault.name, backend: backend)
        return SabotagedHarness(
          fault.text, harness, of: sound, caughtBy: Set(caught[harness.name] ?? []),
          isHarmless: fault.sabotage.isHarmless)
      }
    }
  }

  typealias Fault = (name: String, text: String, sabotage: Sabotage)

  struct Harness: StoreHarness {
    let name: String
    let backend: any StoreBackend

    func belongs(_ file: String, to location: StoreLocation) -> Bool {
      let name = location.url.lastPathComponent
      return [name, ".\(name)_EXTERNAL_DATA"].contains(file)
    }
  }

  /// A sabotage of one part.
  static func make(_ name: String, _ text: String, _ change: (inout Sabotage) -> Void) -> Fault {
    var sabotage = Sabotage()
    change(&sabotage)
    return (name, text, sabotage)
  }
}

extension Row {
  /// A copy with values that `change` gives; nil leaves a slot as it is.
  func mapped(_ schema: Schema, _ change: (Value, SlotKind) -> Value?) -> Row {
    let kinds = schema.entities[entity].slots
    let builder = RowBuilder()
    builder.begin(slots: slotCount)
    for (slot, kind) in kinds.enumerated() {
      if isNull(slot) { continue }
      if let value = change(value(slot, kind), kind) {
        builder.set(slot, value)
      } else {
        builder.copy(slot, kind, from: self)
      }
    }
    return builder.finish(key: key, entity: entity, version: version)
  }
}
