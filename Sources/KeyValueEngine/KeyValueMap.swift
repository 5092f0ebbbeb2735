import Foundation
import StoreProtocol

/// The parts of an ordered map: each has keys of its own.
public enum KeySpace: Int, Sendable, CaseIterable {
  /// What the store says of itself: few entries.
  case facts
  /// The rows of all objects.
  case rows
  /// To-many links, and back from one-way ones.
  case links
  /// Values of indexed attributes with the objects that have them.
  case indexes

  /// For media that name their parts.
  public var name: String { "\(self)" }
}

/// An ordered map from bytes to bytes with transactions, opened: what ``KeyValueStore`` stands on.
///
/// Keys are compared byte by byte, a shorter one first. They have at most ``longestKey`` bytes, and at least one. All
/// calls may come from any thread; a transaction is used by one caller at a time, and one that writes on one thread
/// only.
public protocol KeyValueMap: AnyObject, Sendable {
  /// A transaction that reads.
  associatedtype Reading: KeyValueReading
  /// A transaction that reads and writes.
  associatedtype Writing: KeyValueWriting

  /// The most bytes of a key.
  var longestKey: Int { get }

  /// A view of the last commit, which later ones do not change. Ends when it is released.
  ///
  /// Throws `busy` where none is free within `timeout` seconds, `corrupt` for a medium that is not what it was.
  func read(timeout: Double) throws(StoreError) -> Reading

  /// Begins to write `bytes` bytes or so, alone: waits for other writers at most `timeout` seconds, and throws `busy`
  /// then.
  func write(bytes: Int, timeout: Double) throws(StoreError) -> Writing
}

/// One view of an ordered map.
public protocol KeyValueReading: AnyObject {
  /// That of the last commit in the view, of a change its own: one greater than that of the commit before.
  var commitNumber: UInt64 { get }

  /// Throws where the data of the view is gone, because another program has cut the file. Called before each reading of
  /// a snapshot.
  func check() throws(StoreError)

  /// Verifies the whole medium, each entry with its checksum, in its last state or that of the view. Throws `corrupt`
  /// for what is damaged. Does nothing where the medium cannot be damaged.
  func verify() throws(StoreError)

  /// The value of a key, nil where there is none: valid until the transaction ends or writes.
  func value(_ space: KeySpace, _ key: UnsafeRawBufferPointer) throws(StoreError) -> UnsafeRawBufferPointer?

  /// The first entry from `key` on, nil where there is none. It is valid until the transaction ends or writes, or this
  /// is called again.
  func first(
    _ space: KeySpace, from key: UnsafeRawBufferPointer
  ) throws(StoreError) -> (key: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer)?

  /// Calls `body` with each entry from `key` on, in the order of the keys, until it gives false. It may read, but not
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

/// One change of an ordered map, which sees itself. Nobody else sees it before ``commit()``; released before, it has
/// not happened.
public protocol KeyValueWriting: KeyValueReading {
  /// Sets the value of a key to `count` bytes, which `fill` writes where they will lie; all of them, and it reads
  /// nothing.
  ///
  /// `isAtHand` says that the key is the one that ``KeyValueReading/value(_:_:)`` has found last in the space, and
  /// nothing was written to the space or read from it since.
  func put(
    _ space: KeySpace, _ key: UnsafeRawBufferPointer, count: Int, isAtHand: Bool,
    _ fill: (UnsafeMutableRawBufferPointer) -> Void
  ) throws(StoreError)

  /// Removes a key. False where there is none.
  func remove(_ space: KeySpace, _ key: UnsafeRawBufferPointer) throws(StoreError) -> Bool

  /// Removes all keys of a space.
  func removeAll(_ space: KeySpace) throws(StoreError)

  /// Ends the transaction: what it wrote is there, durably.
  ///
  /// An error says whether it is certain that nothing has happened.
  func commit() throws(StoreError)
}
