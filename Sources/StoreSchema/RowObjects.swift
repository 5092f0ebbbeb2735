import Foundation
import Synchronization

/// Objects that rows own: values of transformable attributes in stores that keep rows as they are, in memory, so that
/// nothing has to make bytes of them.
///
/// The slot holds a token, bytes that name the object. It is good for as long as somebody owns it: a ``RowObject``, or
/// a row that has it in a slot, from the moment that it is built until its block goes. A row that is made of another's
/// slots owns the same objects. A token says nothing to another process and must not get into a file.
public enum RowObjects {
  /// The object that a token names; nil for other bytes.
  public static func object(_ token: Data) -> Any? {
    guard let id = token.withUnsafeBytes(id) else { return nil }
    return table.withLock { $0.objects[id]?.value }?.value
  }

  /// What every token of this process begins with, and nothing else: nobody outside could know it.
  static let mark: (UInt64, UInt64) = (.random(in: .min ... .max), .random(in: .min ... .max))
  @usableFromInline static let length = 24

  /// The number of the object that a slot's bytes name.
  static func id(_ bytes: UnsafeRawBufferPointer) -> UInt64? {
    guard bytes.count == length, bytes.loadUnaligned(as: UInt64.self) == mark.0,
      bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self) == mark.1
    else { return nil }
    return bytes.loadUnaligned(fromByteOffset: 16, as: UInt64.self)
  }

  private struct Held: @unchecked Sendable {
    let value: Any
  }

  private struct Table {
    var objects: [UInt64: (value: Held, owners: Int)] = [:]
    /// What the blocks of rows own, by the addresses of their headers.
    var rows: [UInt: [UInt64]] = [:]
    var next: UInt64 = 0

    mutating func release(_ id: UInt64) -> Held? {
      guard let (value, owners) = objects[id] else { return nil }
      objects[id] = owners > 1 ? (value, owners - 1) : nil
      return owners > 1 ? nil : value
    }
  }

  private static let table = Mutex(Table())

  /// How many objects are kept.
  package static var count: Int { table.withLock { $0.objects.count } }

  fileprivate static func add(_ value: Any) -> UInt64 {
    let held = Held(value: value)
    return table.withLock {
      $0.next += 1
      $0.objects[$0.next] = (held, 1)
      return $0.next
    }
  }

  fileprivate static func release(_ id: UInt64) {
    // What goes may run code of the client's, outside the lock.
    _ = table.withLock { $0.release(id) }
  }

  /// Makes the block at an address an owner of objects.
  static func own(_ ids: [UInt64], by block: UInt) {
    table.withLock { table in
      // An object whose last owner has gone meanwhile is no object any more.
      let present = ids.filter { table.objects[$0] != nil }
      for id in present { table.objects[id]?.owners += 1 }
      table.rows[block] = present
    }
  }

  /// Makes a copy of a block an owner of what the block owns.
  static func own(sameAs original: UInt, by copy: UInt) {
    own(table.withLock { $0.rows[original] ?? [] }, by: copy)
  }

  @inline(never)
  static func disown(by block: UInt) {
    _ = table.withLock { table in (table.rows.removeValue(forKey: block) ?? []).map { table.release($0) } }
  }
}

/// Owns an object until a row does.
public final class RowObject: Sendable {
  private let id: UInt64

  /// Owns `object`, which gets a token of its own.
  public init(_ object: Any) { id = RowObjects.add(object) }

  deinit { RowObjects.release(id) }

  /// What a row's slot holds.
  public var token: Data {
    withUnsafeBytes(of: (RowObjects.mark.0, RowObjects.mark.1, id)) { Data($0) }
  }
}
