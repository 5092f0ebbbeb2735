import Foundation
import StoreProtocol
import StoreSchema
import StoreSupport

/// Makes all indexes anew, because two versions of a model with the same hashes may have different indexes.
struct KeyValueIndexing {
  private let transaction: any KeyValueWriting
  private let shape: KeyValueShape

  init(_ transaction: any KeyValueWriting, _ shape: KeyValueShape) {
    self.transaction = transaction
    self.shape = shape
  }

  /// Stored objects that contradict a constraint stay as they are. They are refused when they are saved again.
  func rebuild() throws(StoreError) {
    try transaction.removeAll(.indexes)
    let none = ChangeSet(time: 0)
    let commit = try KeyValueCommit(transaction, shape, none, ChangeExtent(none, shape))
    for root in shape.roots where !indexes(of: root).isEmpty {
      var keys: [Int64] = []
      try commit.reader.scan(shape.schema.entities[root].subtree) { keys.append($0.key) }
      for key in keys {
        guard let row = try commit.reader.row(of: root, key) else { continue }
        for index in shape.indexes.ofEntity[row.entity] where shape.indexes.key(of: row, in: index, commit.key) {
          try commit.putIndexEntry(key)
        }
      }
    }
    try transaction.setFact(KeyValueFact.indexes, Data(shape.indexes.catalogue.utf8))
  }

  private func indexes(of root: Int) -> [Int] {
    shape.schema.entities[root].subtree.flatMap { shape.indexes.ofEntity[$0] }
  }
}
