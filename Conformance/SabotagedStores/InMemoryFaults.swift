import Foundation
import StoreProtocol
import StoreSchema

extension SabotagedStores {
  /// Faults of a store in memory.
  static let inMemory: [Fault] = [
    make("deletes", "drops deletions") { $0.changes = { changes, _ in changes.deletions = [] } },
    make("half", "keeps the new objects of a refused commit") {
      $0.result = { (result, changes, store, _) throws(StoreError) in
        guard case .conflicts = result else { return result }
        var half = ChangeSet(time: 0)
        half.insertions = changes.insertions.filter { $0.key > 0 || $0.key == 0 }.prefix(1).map { $0.copy(version: 1) }
        for row in half.insertions { row.setKey(0) }
        _ = try store.commit(half)
        return result
      }
    },
    make("swallows", "says that a refused commit was committed") {
      $0.result = { (result, changes, _, _) throws(StoreError) in
        guard case .conflicts = result else { return result }
        return .committed(Receipt(keys: changes.insertions.indices.map { Int64($0) + 1 }, commitNumber: 99))
      }
    },
    make("keys", "gives the key of a deleted last object again") { $0.changes = reuse },
    make("versions", "ignores the versions that changes were made from") { $0.changes = ignoreVersions },
    make("unbumped", "shows every object in its first version") { $0.row = { row, _ in row.copy(version: 1) } },
    make("copies", "writes copies of the rows that it is given, so that only the receipt says their keys") {
      $0.isHarmless = true
      $0.changes = { changes, _ in
        for index in changes.insertions.indices { changes.insertions[index] = changes.insertions[index].copy() }
        for index in changes.updates.indices { changes.updates[index].row = changes.updates[index].row.copy() }
      }
    },
    make("checks", "ignores checked objects") { $0.changes = { changes, _ in changes.checks = [] } },
    make("empty", "takes the empty string for nil") {
      $0.row = { row, schema in row.mapped(schema) { value, _ in value == .string("") ? .null : nil } }
    },
    make("integers", "keeps 32 bits of integers") {
      $0.row = { row, schema in
        row.mapped(schema) { value, kind in
          if kind == .int64, case .int(let number) = value {
            .int(Int64(Int32(truncatingIfNeeded: number)))
          } else {
            nil
          }
        }
      }
    },
    make("doubles", "loses the last bit of doubles") {
      $0.row = { row, schema in
        row.mapped(schema) { value, kind in
          guard kind == .double, case .double(let number) = value, number.isFinite else { return nil }
          return .double(Double(bitPattern: number.bitPattern & ~1))
        }
      }
    },
    make("dates", "keeps whole seconds of dates") {
      $0.row = { row, schema in
        row.mapped(schema) { value, _ in if case .date(let time) = value { .date(time.rounded(.down)) } else { nil } }
      }
    },
    make("composes", "composes strings") {
      $0.row = { row, schema in
        row.mapped(schema) { value, _ in
          if case .string(let text) = value { .string(text.precomposedStringWithCanonicalMapping) } else { nil }
        }
      }
    },
    make("nul", "cuts strings at a zero byte") {
      $0.row = { row, schema in
        row.mapped(schema) { value, _ in
          if case .string(let text) = value { .string(String(text.prefix { $0 != "\0" })) } else { nil }
        }
      }
    },
    make("links", "forgets the first of several new links") {
      $0.changes = { changes, _ in changes.editLinks { if $0.added.count > 1 { $0.added.removeFirst() } } }
    },
    make("unlinks", "forgets removed links") {
      $0.changes = { changes, _ in changes.editLinks { $0.removed = [] } }
    },
    make("reversed", "gives ordered links in reverse") {
      $0.links = { links, relationship in relationship.isOrdered ? links.reversed() : links }
    },
    make("orders", "forgets orders") {
      $0.changes = { changes, _ in changes.editLinks { $0.order = nil } }
    },
    make("unique", "ignores uniqueness constraints") { $0.definition = { $0.uniquenessConstraints = [] } },
    make("derived", "computes no derived attributes") {
      $0.definition = { for position in $0.attributes.indices { $0.attributes[position].derivation = nil } }
    },
    make("newest", "shows the newest state in every snapshot") { $0.showsTheNewest = true },
    make("receipts", "mixes up the keys of new objects") {
      $0.result = { (result, _, _, _) throws(StoreError) in
        guard case .committed(var receipt) = result else { return result }
        receipt.keys.reverse()
        return .committed(receipt)
      }
    },
    make("scans", "loses the last of more than nine rows") { $0.scan = { $0.count > 9 ? $0.dropLast() : $0 } },
    make("allocates", "gives taken keys once more") {
      $0.keys = { max(1, $0.lowerBound - 1)..<max(1, $0.lowerBound - 1) + Int64($0.count) }
    },
    make("nils", "sorts nil last upwards") { $0.fetch = nilsLast },
    make("pages", "gives one row more than the limit") {
      $0.fetch = { rows, parts in
        let tail = rows.dropFirst(parts.offset)
        return Array(parts.limit.map { tail.prefix($0 + 1) } ?? tail)
      }
    },
    make("not", "takes nil for unknown below NOT") {
      $0.fetch = { rows, parts in
        let known = rows.filter { row in !parts.negatedSlots.contains { row.isNull($0) } }
        let tail = known.dropFirst(parts.offset)
        return Array(parts.limit.map { tail.prefix($0) } ?? tail)
      }
    },
  ]

  private static let nilsLast: @Sendable ([Row], Sabotage.FetchParts) -> [Row] = { rows, parts in
    var rows = rows
    if let slot = parts.sortSlot, parts.isAscending {
      rows = rows.filter { !$0.isNull(slot) } + rows.filter { $0.isNull(slot) }
    }
    let tail = rows.dropFirst(parts.offset)
    return Array(parts.limit.map { tail.prefix($0) } ?? tail)
  }

  private static let ignoreVersions: @Sendable (inout ChangeSet, any Store) throws(StoreError) -> Void = {
    (changes, store) throws(StoreError) in
    let view = try store.snapshot()
    for position in changes.updates.indices {
      let row = changes.updates[position].row
      guard let stored = try view.row(of: row.entity, key: row.key) else { continue }
      changes.updates[position].row = row.copy(version: stored.version + 1)
    }
  }

  /// Gives new objects the keys after the greatest that is there.
  static let reuse: @Sendable (inout ChangeSet, any Store) throws(StoreError) -> Void = {
    (changes, store) throws(StoreError) in
    let view = try store.snapshot()
    var last = Int64(0)
    for entity in store.schema.entities where entity.superentity == nil {
      try view.scan(entity.subtree) { last = max(last, $0.key) }
    }
    for row in changes.insertions where row.key <= 0 {
      last += 1
      row.setKey(last)
    }
  }
}

extension ChangeSet {
  fileprivate mutating func editLinks(_ edit: (inout LinkChange) -> Void) {
    links = LinkChanges(
      links.map { change in
        var change = change
        edit(&change)
        return change
      })
  }
}
