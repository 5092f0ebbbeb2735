import Foundation
import StoreProtocol
import StoreSchema
import StoreSupport

/// Reads the readable part of a damaged database, table by table in the order of the rows' numbers, without its
/// indexes.
///
/// After an unreadable page it searches for the next readable row. A row with an unreadable part is read column by
/// column.
public struct SQLSalvage<Connection: SQLConnection> {
  private let connection: Connection
  private let binding: SQLBinding
  private let salvage: Salvage
  private let catalogue: SQLCatalogue
  private let builder = RowBuilder()
  /// The number of bytes that may still be read: damaged pages may lead to each other in circles, and values may share
  /// pages.
  private let room = Room()
  private var layout: SQLLayout { binding.layout }
  private var schema: Schema { binding.layout.schema }

  private final class Room {
    var (rows, bytes): (Int64, Int64) = (.max, .max)
    var isExceeded: Bool { rows < 0 || bytes < 0 }

    func take(_ values: [SQLStoredValue]) {
      rows -= 1
      for value in values {
        if case .text(let text) = value { bytes -= Int64(text.count) }
        if case .blob(let blob) = value { bytes -= Int64(blob.count) }
      }
    }
  }

  /// `binding` is of the salvage's schema. Tables and columns that `catalogue` does not list are not read.
  public init(_ connection: Connection, _ binding: SQLBinding, _ catalogue: SQLCatalogue, _ salvage: Salvage) {
    self.connection = connection
    self.binding = binding
    self.catalogue = catalogue
    self.salvage = salvage
  }

  /// Throws only errors that are not caused by damage. False where the file leads to more data than it has room for.
  public func run() throws(StoreError) -> Bool {
    if let size = try fileSize() { (room.rows, room.bytes) = (size / 4, size) }
    for index in layout.tables.indices { try readObjects(of: index) }
    for index in layout.joins.indices { try readPairs(of: index) }
    return !room.isExceeded
  }

  // MARK: Objects

  /// The order keys of one owner's objects in an ordered relationship, or in one without an inverse.
  private typealias Links = [Int64: [(order: Int64, key: Int64)]]

  private func readObjects(of index: Int) throws(StoreError) {
    let table = layout.tables[index]
    var links: [SQLLayout.RelationshipKey: Links] = [:]
    let columns = ["Z_ENT"] + table.columns.map(\.name)
    try rows(table.name, number: "Z_PK", columns) { key, values in
      guard case .integer(let number) = values[0], let entity = binding.numbers.entity(number),
        layout.tableOfEntity[entity] == index, !schema.entities[entity].isAbstract
      else {
        return salvage.lose(
          StoreFinding(.stray, "The row \(key) of \(table.name) is of no entity: \(values[0].description)."))
      }
      let values = Array(values.dropFirst())
      salvage.add(row(schema.entities[entity], key, values))
      for (relationship, columns) in layout.linkColumns where columns.table == index {
        let destinations = schema.entities[relationship.entity].relationships[relationship.relationship].destinations
        guard destinations.contains(entity),
          let owner = self.number(values[columns.owner], "owner", table.name, key)
        else { continue }
        let order = columns.order.flatMap { self.number(values[$0], "place", table.name, key) } ?? .max
        links[relationship, default: [:]][owner, default: []].append((order, key))
      }
    }
    for (key, links) in links { tell(links, schema.entities[key.entity].relationships[key.relationship]) }
  }

  private func row(_ entity: Entity, _ key: Int64, _ values: [SQLStoredValue]) -> Row {
    builder.begin(slots: entity.slots.count)
    for (slot, kind) in entity.slots.enumerated() {
      guard let column = layout.columnOfSlot[entity.index][slot] else { continue }
      let stored = values[column]
      if kind == .reference {
        let column = layout.column(entity, slot).name
        if let target = number(stored, column, layout.table(entity.index).name, key) { builder.setInt(slot, target) }
        continue
      }
      switch stored.inspected(as: kind) {
      case .sound(let value): builder.set(slot, value)
      case .invalid(let reason):
        salvage.lose(
          StoreFinding(
            .value, "A value was left out: \(reason).", entity: entity.name, key: key,
            property: layout.column(entity, slot).name))
      }
    }
    return builder.finish(key: key, entity: entity.index, version: 1)
  }

  /// A key or an order; nil for null. Reports any other value, and returns nil.
  private func number(_ stored: SQLStoredValue, _ what: String, _ table: String, _ key: Int64) -> Int64? {
    switch stored {
    case .integer(let number): return number
    case .null: return nil
    default:
      salvage.lose(
        StoreFinding(.reference, "The \(what) of the row \(key) of \(table) is no number: \(stored.description)."))
      return nil
    }
  }

  private func tell(_ links: Links, _ relationship: Relationship) {
    for (owner, links) in links {
      salvage.link(relationship, of: owner, to: links.sorted { ($0.order, $0.key) < ($1.order, $1.key) }.map(\.key))
    }
  }

  // MARK: Pairs

  private func readPairs(of index: Int) throws(StoreError) {
    let join = layout.joins[index]
    let orders = [join.firstOrder, join.secondOrder]
    let columns = [join.first, join.second] + orders.compactMap { $0 }
    var (ofFirst, ofSecond): (Links, Links) = ([:], [:])
    try rows(join.name, number: "rowid", columns) { number, values in
      guard case .integer(let first) = values[0], case .integer(let second) = values[1] else {
        return salvage.lose(StoreFinding(.stray, "The row \(number) of \(join.name) is no pair."))
      }
      var rest = values.dropFirst(2)
      func order(_ column: String?) -> Int64 {
        guard let column, let stored = rest.popFirst() else { return .max }
        return self.number(stored, column, join.name, number) ?? .max
      }
      let (orderOfFirst, orderOfSecond) = (order(join.firstOrder), order(join.secondOrder))
      ofFirst[first, default: []].append((orderOfSecond, second))
      ofSecond[second, default: []].append((orderOfFirst, first))
    }
    for (key, side) in layout.joinOfRelationship where side.join == index {
      let relationship = schema.entities[key.entity].relationships[key.relationship]
      tell(side.ownerIsFirst ? ofFirst : ofSecond, relationship)
      if join.isReflexive { tell(side.ownerIsFirst ? ofSecond : ofFirst, relationship) }
    }
  }

  // MARK: Rows of a table

  /// Calls `body` with the number of each row from 1 on that can be read and with the values of `columns`.
  private func rows(
    _ table: String, number: String, _ columns: [String], _ body: (Int64, [SQLStoredValue]) -> Void
  ) throws(StoreError) {
    guard let listed = catalogue.columns[table], number == "rowid" || listed.contains(number) else {
      return salvage.lose(StoreFinding(.integrity, "There is no table \(table) with the keys of objects."))
    }
    let columns = columns.map { listed.contains($0) ? $0 : "NULL" }
    let list = ([number] + columns).joined(separator: ", ")
    let source = "FROM \(table) NOT INDEXED WHERE \(number)"
    guard
      // Without a bound at first: a search by number fails where a number is damaged.
      let whole = try readable({ () throws(StoreError) in
        try connection.prepare("SELECT \(list) FROM \(table) NOT INDEXED ORDER BY \(number)")
      }),
      let all = try readable({ () throws(StoreError) in
        try connection.prepare("SELECT \(list) \(source) > ? ORDER BY \(number)")
      }),
      let next = try readable({ () throws(StoreError) in
        try connection.prepare("SELECT \(number) \(source) >= ? ORDER BY \(number) LIMIT 1")
      })
    else { return salvage.lose(StoreFinding(.integrity, "The table \(table) cannot be read.")) }
    var last: Int64 = 0
    var isFirst = true
    while true {
      var reached = last
      let statement = isFirst ? whole : all
      let isDone: Void? = try readable { () throws(StoreError) in
        defer { statement.reset() }
        if !isFirst { statement.bind(last, at: 1) }
        while !room.isExceeded, try statement.step() {
          let key = statement.int(0)
          if key <= reached && reached > 0 {
            salvage.lose(StoreFinding(.key, "The row \(key) of \(table) stands behind the row \(reached)."))
          }
          // Reading goes on from here, even where one number is wrong.
          reached = key
          let values = (1...columns.count).map { statement.stored(Int32($0)) }
          room.take(values)
          body(key, values)
        }
      }
      if room.isExceeded {
        return salvage.lose(StoreFinding(.integrity, "The table \(table) leads to more than the file has room for."))
      }
      if isDone != nil { return }
      isFirst = false
      last = reached
      guard let key = try self.next(last, next), key > last else {
        return salvage.lose(StoreFinding(.integrity, "The rows of \(table) behind \(last) cannot be read."))
      }
      if key > last + 1 {
        salvage.lose(
          StoreFinding(.integrity, "The rows of \(table) from \(last + 1) to \(key - 1), if any, cannot be read."))
      }
      if let values = try single(table, number, key, columns) {
        room.take(values)
        body(key, values)
      }
      last = key
    }
  }

  /// The size in bytes, nil where it is unknown.
  private func fileSize() throws(StoreError) -> Int64? {
    func number(_ pragma: String) throws(StoreError) -> Int64? {
      try readable { () throws(StoreError) in
        let statement = try connection.prepare("PRAGMA \(pragma)")
        return try statement.step() ? statement.int(0) : nil
      } ?? nil
    }
    guard let count = try number("page_count"), let size = try number("page_size") else { return nil }
    let (bytes, isTooLarge) = count.multipliedReportingOverflow(by: size)
    return isTooLarge ? nil : bytes
  }

  /// The number of the next readable row after `last`, nil where there is none.
  private func next(_ last: Int64, _ statement: Connection.Statement) throws(StoreError) -> Int64? {
    /// The inner optional is nil behind the last row, the outer one where a page cannot be read.
    func row(from start: Int64) throws(StoreError) -> Int64?? {
      try readable { () throws(StoreError) in
        defer { statement.reset() }
        statement.bind(start, at: 1)
        return try statement.step() ? statement.int(0) : nil
      }
    }
    var (dark, distance): (Int64, Int64) = (last, 1)
    var found: Int64??
    while found == nil {
      let (start, overflow) = last.addingReportingOverflow(distance)
      if overflow || distance > .max / 2 { return nil }
      found = try row(from: start)
      if found == nil { (dark, distance) = (start, distance * 2) }
    }
    // Search between the last unreadable number and the first readable one.
    var light = last + distance
    while dark + 1 < light {
      let middle = dark + (light - dark) / 2
      if let row = try row(from: middle) { (light, found) = (middle, .some(row)) } else { dark = middle }
    }
    return found ?? nil
  }

  /// The values of one row, null for unreadable ones.
  private func single(
    _ table: String, _ number: String, _ key: Int64, _ columns: [String]
  ) throws(StoreError) -> [SQLStoredValue]? {
    var values: [SQLStoredValue] = []
    for column in columns {
      let value = try readable { () throws(StoreError) -> SQLStoredValue in
        let statement = try connection.prepare("SELECT \(column) FROM \(table) NOT INDEXED WHERE \(number) = ?")
        statement.bind(key, at: 1)
        return try statement.step() ? statement.stored(0) : .null
      }
      if value == nil {
        salvage.lose(StoreFinding(.value, "The column \(column) of the row \(key) of \(table) cannot be read."))
      }
      values.append(value ?? .null)
    }
    return values
  }

  /// The result of `body`, nil where the database or its disk is damaged.
  private func readable<R>(_ body: () throws(StoreError) -> R) throws(StoreError) -> R? {
    do { return try body() } catch {
      if Salvage.isDamage(error) { return nil }
      throw error
    }
  }
}
