import Foundation
import Synchronization

/// Objects that rows own: values of transformable attributes in stores that keep rows in memory unchanged, so that the
/// objects need not be encoded.
///
/// The slot holds a token: bytes that identify the object. The token is valid while the object has an owner: a
/// ``RowObject``, or the block of a row that has the token in a slot. A row that is made from the slots of another row
/// owns the same objects. A token is meaningless to other processes and must not be written to a file.
public enum RowObjects {
  /// The object of a token; nil for other bytes.
  public static func object(_ token: Data) -> Any? {
    guard let id = token.withUnsafeBytes(id) else { return nil }
    return table.withLock { $0.objects[id]?.value }?.value
  }

  /// The prefix of every token of this process. It is random, so that bytes from outside cannot be a token.
  static let mark: (UInt64, UInt64) = (.random(in: .min ... .max), .random(in: .min ... .max))
  @usableFromInline static let length = 24

  /// The number of the object whose token a slot's bytes are.
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
    /// The objects that blocks of rows own, by the addresses of the headers.
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
    // Released outside of the lock, because that may run code of the client.
    _ = table.withLock { $0.release(id) }
  }

  /// Makes the block at an address an owner of objects.
  static func own(_ ids: [UInt64], by block: UInt) {
    table.withLock { table in
      // An object whose last owner was released meanwhile no longer exists.
      let present = ids.filter { table.objects[$0] != nil }
      for id in present { table.objects[id]?.owners += 1 }
      table.rows[block] = present
    }
  }

  /// Makes a copy of a block an owner of the block's objects.
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

  /// Owns `object`, and assigns it a token.
  public init(_ object: Any) { id = RowObjects.add(object) }

  deinit { RowObjects.release(id) }

  /// The content of a row's slot.
  public var token: Data {
    withUnsafeBytes(of: (RowObjects.mark.0, RowObjects.mark.1, id)) { Data($0) }
  }
}
