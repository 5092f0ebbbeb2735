import Foundation
import StoreProtocol
import Synchronization

@testable import KeyValueEngine

/// An ordered map in memory: sorted lists, with one writer at a time.
final class MemoryMap: KeyValueMap, @unchecked Sendable {
  /// Bytes with a stable address.
  final class Bytes {
    let view: UnsafeRawBufferPointer

    init(_ source: UnsafeRawBufferPointer) {
      let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: max(1, source.count), alignment: 8)
      copy.copyMemory(from: source)
      view = UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(copy)[..<source.count])
    }

    deinit { view.deallocate() }
  }

  typealias Entry = (key: Bytes, value: Bytes)
  typealias State = [KeySpace: [Entry]]

  private let lock = NSLock()
  private let writing = NSLock()
  private var state: State = [:]
  private var commits: UInt64 = 0
  /// The number of row entries that views have read.
  var readRows: Int { reads.withLock { $0 } }
  fileprivate let reads = Mutex(0)
  /// If not nil, the next commit throws this error.
  var failure: StoreError?

  let longestKey = 128

  func read(timeout: Double) throws(StoreError) -> View { lock.withLock { View(self, state, commits) } }

  func write(bytes: Int, timeout: Double) throws(StoreError) -> Change {
    guard writing.lock(before: Date(timeIntervalSinceNow: timeout)) else { throw StoreError(.busy, "Busy.") }
    return lock.withLock { Change(self, state, commits + 1) }
  }

  fileprivate func end(_ change: Change, commits: Bool) throws(StoreError) {
    defer { writing.unlock() }
    if !commits { return }
    if let failure { throw failure }
    lock.withLock { (state, self.commits) = (change.state, change.commitNumber) }
  }

  /// Changes one byte of a value.
  func damage(_ space: KeySpace, entry: Int, byte: Int) {
    lock.withLock {
      guard let old = state[space]?[entry].value.view else { return }
      var bytes = Array(old)
      bytes[byte] ^= 0x10
      state[space]?[entry].value = bytes.withUnsafeBytes { Bytes($0) }
    }
  }

  /// Writes a number into a value and updates the checksum, as a file of another writer could have it.
  func forge(_ space: KeySpace, entry: Int, byte: Int, _ number: Int64) {
    lock.withLock {
      guard let old = state[space]?[entry] else { return }
      var bytes = Array(old.value.view)
      bytes.withUnsafeMutableBytes {
        $0.storeBytes(of: number.littleEndian, toByteOffset: byte, as: Int64.self)
        KeyValueEntry.seal($0, old.key.view)
      }
      state[space]?[entry].value = bytes.withUnsafeBytes { Bytes($0) }
    }
  }

  /// The index of the entry with a key.
  func entry(_ space: KeySpace, key: String) -> Int? {
    lock.withLock { state[space]?.firstIndex { $0.key.view.elementsEqual(key.utf8) } }
  }

  func sizes(_ space: KeySpace) -> [Int] { lock.withLock { (state[space] ?? []).map(\.value.view.count) } }

  class View: KeyValueReading {
    fileprivate(set) var state: State
    let commitNumber: UInt64

    fileprivate let map: MemoryMap

    fileprivate init(_ map: MemoryMap, _ state: State, _ number: UInt64) {
      (self.map, self.state, commitNumber) = (map, state, number)
    }

    private func note(_ space: KeySpace) { if space == .rows { map.reads.withLock { $0 += 1 } } }

    /// The index of a key, or the index at which it would be inserted.
    fileprivate func position(_ space: KeySpace, _ key: UnsafeRawBufferPointer) -> (index: Int, isThere: Bool) {
      let entries = state[space] ?? []
      var (low, high) = (0, entries.count)
      while low < high {
        let middle = (low + high) / 2
        if entries[middle].key.view.lexicographicallyPrecedes(key) { low = middle + 1 } else { high = middle }
      }
      return (low, low < entries.count && entries[low].key.view.elementsEqual(key))
    }

    func check() throws(StoreError) {}

    func value(_ space: KeySpace, _ key: UnsafeRawBufferPointer) throws(StoreError) -> UnsafeRawBufferPointer? {
      let position = position(space, key)
      note(space)
      return position.isThere ? state[space]?[position.index].value.view : nil
    }

    func first(
      _ space: KeySpace, from key: UnsafeRawBufferPointer
    ) throws(StoreError) -> (key: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer)? {
      let entries = state[space] ?? []
      let index = position(space, key).index
      return index < entries.count ? (entries[index].key.view, entries[index].value.view) : nil
    }

    func scanBackwards(
      _ space: KeySpace, before key: UnsafeRawBufferPointer,
      _ body: (UnsafeRawBufferPointer, UnsafeRawBufferPointer) throws(StoreError) -> Bool
    ) throws(StoreError) {
      for entry in (state[space] ?? []).prefix(position(space, key).index).reversed() {
        if try !body(entry.key.view, entry.value.view) { return }
      }
    }

    func scan(
      _ space: KeySpace, from key: UnsafeRawBufferPointer,
      _ body: (UnsafeRawBufferPointer, UnsafeRawBufferPointer) throws(StoreError) -> Bool
    ) throws(StoreError) {
      for entry in (state[space] ?? []).dropFirst(position(space, key).index) {
        note(space)
        if try !body(entry.key.view, entry.value.view) { return }
      }
    }
  }

  final class Change: View, KeyValueWriting {
    private var hasEnded = false

    deinit { if !hasEnded { try? map.end(self, commits: false) } }

    func put(
      _ space: KeySpace, _ key: UnsafeRawBufferPointer, count: Int, isAtHand: Bool,
      _ fill: (UnsafeMutableRawBufferPointer) -> Void
    ) throws(StoreError) {
      precondition(!key.isEmpty && key.count <= map.longestKey, "no key for a map")
      let position = position(space, key)
      precondition(position.isThere || !isAtHand, "no key at hand")
      let value = UnsafeMutableRawBufferPointer.allocate(byteCount: max(1, count), alignment: 8)
      defer { value.deallocate() }
      let bytes = UnsafeMutableRawBufferPointer(rebasing: value[..<count])
      bytes.initializeMemory(as: UInt8.self, repeating: 0xAA)
      fill(bytes)
      if position.isThere {
        state[space]?[position.index].value = Bytes(UnsafeRawBufferPointer(bytes))
      } else {
        state[space, default: []].insert((Bytes(key), Bytes(UnsafeRawBufferPointer(bytes))), at: position.index)
      }
    }

    func remove(_ space: KeySpace, _ key: UnsafeRawBufferPointer) throws(StoreError) -> Bool {
      let position = position(space, key)
      if position.isThere { state[space]?.remove(at: position.index) }
      return position.isThere
    }

    func removeAll(_ space: KeySpace) throws(StoreError) { state[space] = nil }

    func commit() throws(StoreError) {
      hasEnded = true
      try map.end(self, commits: true)
    }
  }
}
