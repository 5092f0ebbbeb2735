import Foundation
import StoreProtocol

/// The parts of an ordered map. Each part has keys of its own.
public enum KeySpace: Int, Sendable, CaseIterable {
  /// The store's header fields: few entries.
  case facts
  /// The rows of all objects.
  case rows
  /// To-many links, and the links back of one-way links.
  case links
  /// Values of indexed attributes, with the objects that have them.
  case indexes

  /// The name of the part in files, which is the name of the case.
  public var name: String { "\(self)" }
}

/// An opened ordered map from bytes to bytes with transactions, the base of ``KeyValueStore``.
///
/// Keys are compared byte by byte; a shorter key comes first. A key has at least one byte and at most ``longestKey``.
/// All calls may come from any thread. One caller at a time uses a transaction, and a write transaction stays on one
/// thread.
public protocol KeyValueMap: AnyObject, Sendable {
  /// A transaction that reads.
  associatedtype Reading: KeyValueReading
  /// A transaction that reads and writes.
  associatedtype Writing: KeyValueWriting

  /// The greatest length of a key, in bytes.
  var longestKey: Int { get }

  /// A view of the last commit, which later commits do not change. It ends when it is released.
  ///
  /// Throws `busy` where none is free within `timeout` seconds. Throws `corrupt` for a medium that has been damaged.
  func read(timeout: Double) throws(StoreError) -> Reading

  /// Begins an exclusive write of about `bytes` bytes. Waits at most `timeout` seconds for other writers, then throws
  /// `busy`.
  func write(bytes: Int, timeout: Double) throws(StoreError) -> Writing
}

/// One view of an ordered map.
public protocol KeyValueReading: AnyObject {
  /// The number of the last commit in the view; for a write transaction its own number, one greater than the last
  /// commit's.
  var commitNumber: UInt64 { get }

  /// Throws where the data of the view is gone, because another program has truncated the file. Called before each read
  /// of a snapshot.
  func check() throws(StoreError)

  /// Verifies the whole medium and the checksum of each entry, in its last state or that of the view. Throws `corrupt`
  /// for damage. Does nothing where the medium cannot be damaged.
  func verify() throws(StoreError)

  /// The value of a key, nil where there is none: valid until the transaction ends or writes.
  func value(_ space: KeySpace, _ key: UnsafeRawBufferPointer) throws(StoreError) -> UnsafeRawBufferPointer?

  /// The first entry with a key of at least `key`, nil where there is none. Valid until the transaction ends or writes,
  /// or this is called again.
  func first(
    _ space: KeySpace, from key: UnsafeRawBufferPointer
  ) throws(StoreError) -> (key: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer)?

  /// Calls `body` with each entry from `key` on, in key order, until it returns false. `body` may read, and must not
  /// write.
  func scan(
    _ space: KeySpace, from key: UnsafeRawBufferPointer,
    _ body: (_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) throws(StoreError) -> Bool
  ) throws(StoreError)

  /// The same with the entries before `key`, the nearest first.
  func scanBackwards(
    _ space: KeySpace, before key: UnsafeRawBufferPointer,
    _ body: (_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) throws(StoreError) -> Bool
  ) throws(StoreError)
}

extension KeyValueReading {
  public func verify() throws(StoreError) {}
}

/// One change of an ordered map. It sees its own writes; nobody else does before ``commit()``. If it is released before
/// that, nothing has changed.
public protocol KeyValueWriting: KeyValueReading {
  /// Sets the value of a key to `count` bytes. `fill` must write all of them in place, and must not read any.
  ///
  /// With `isAtHand` the key is the one that ``KeyValueReading/value(_:_:)`` found last in the space, and the space was
  /// not written or read since.
  func put(
    _ space: KeySpace, _ key: UnsafeRawBufferPointer, count: Int, isAtHand: Bool,
    _ fill: (UnsafeMutableRawBufferPointer) -> Void
  ) throws(StoreError)

  /// Removes a key. False where there is none.
  func remove(_ space: KeySpace, _ key: UnsafeRawBufferPointer) throws(StoreError) -> Bool

  /// Removes all keys of a space.
  func removeAll(_ space: KeySpace) throws(StoreError)

  /// Ends the transaction and makes its writes durable.
  ///
  /// An error says whether it is certain that nothing was written.
  func commit() throws(StoreError)
}
