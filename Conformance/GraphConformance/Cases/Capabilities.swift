import CoreData
import Foundation

extension GraphSuite {
  static let capabilities: [GraphCase] = [
    GraphCase(
      "CAP-002/graph/unique", "uniqueness constraints that a store does not support are refused", without: .uniqueness,
      ways: .own
    ) { g in
      try g.fails(134091) { try g.newCoordinator() }
    },
    GraphCase(
      "CAP-002/graph/derived", "derived attributes that a store does not support are refused", { Models.derived },
      without: .derivation, ways: .own
    ) { g in
      try g.fails(134091) { try g.newCoordinator() }
    },
    GraphCase(
      "CAP-002/graph/history", "history that a store does not support is refused", without: .history, ways: .own
    ) {
      g in
      try g.fails(134091) { try g.newCoordinator(options: [NSPersistentHistoryTrackingKey: true]) }
    },
    GraphCase(
      "LIF-011/graph/unknown", "an unknown store type is refused, and the error lists the known types", ways: .own
    ) { g in
      try g.fails(134000) {
        try g.emptyCoordinator().addPersistentStore(
          ofType: "NoSuchStore", configurationName: nil, at: g.url(), options: nil)
      }
      try g.write { $0.insert("Tag") }
    },
  ]
}
