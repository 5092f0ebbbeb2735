/// Finds the values of some keys in objects. The result is kept for all objects that have the same keys in the same
/// order.
///
/// Used by one caller at a time, and with one archive.
public final class KeyedFields {
  private let names: [String]
  /// For each kind of object met before: the size of its keys in bytes, the keys as the file has them, and the offsets
  /// of the values.
  private let counts: UnsafeMutablePointer<Int>
  private let keys: UnsafeMutableRawPointer
  private let positions: UnsafeMutablePointer<Int>
  /// The offsets of the values of the object that `look` was called for last.
  private var current: UnsafeMutablePointer<Int>
  private static let kinds = 16
  /// In bytes. Objects with more keys are searched each time.
  private static let mostBytes = 64

  /// Finds the values of these keys; `location` has their indexes.
  public init(_ names: [String]) {
    self.names = names
    counts = .allocate(capacity: Self.kinds + 1)
    counts.initialize(repeating: -1, count: Self.kinds + 1)
    keys = .allocate(byteCount: Self.kinds * Self.mostBytes, alignment: 8)
    positions = .allocate(capacity: (Self.kinds + 1) * names.count)
    positions.initialize(repeating: -1, count: (Self.kinds + 1) * names.count)
    current = positions
  }

  deinit {
    counts.deallocate()
    keys.deallocate()
    positions.deallocate()
  }

  @inline(__always)
  func look(at object: BinaryObject, _ table: BinaryObjectTable) throws(PropertyListError) {
    let bytes = try table.source.slice(at: object.payload, count: object.payloadCount / 2)
    let first = Self.kind(bytes)
    if isKnown(bytes, first) {
      current = positions + first &* names.count
    } else if isKnown(bytes, first ^ 1) {
      current = positions + (first ^ 1) &* names.count
    } else {
      try find(object, bytes, first, table)
    }
  }

  @inline(__always)
  private func isKnown(_ bytes: UnsafeRawBufferPointer, _ kind: Int) -> Bool {
    counts[kind] == bytes.count
      && Self.isSame(bytes, UnsafeRawBufferPointer(start: keys + kind &* Self.mostBytes, count: bytes.count))
  }

  @inline(never)
  private func find(
    _ object: BinaryObject, _ bytes: UnsafeRawBufferPointer, _ first: Int, _ table: BinaryObjectTable
  ) throws(PropertyListError) {
    let found = try Self.find(names, in: object, table)
    var kind = Self.kinds
    if bytes.count <= Self.mostBytes {
      kind = counts[first] < 0 || counts[first ^ 1] >= 0 ? first : first ^ 1
      // The kind at `first` moves to the second index.
      if counts[first] >= 0, kind == first { move(first, to: first ^ 1) }
      counts[kind] = bytes.count
      if let start = bytes.baseAddress {
        (keys + kind * Self.mostBytes).copyMemory(from: start, byteCount: bytes.count)
      }
    }
    current = positions + kind * names.count
    for (index, location) in found.enumerated() { current[index] = location ?? -1 }
  }

  private func move(_ kind: Int, to other: Int) {
    counts[other] = counts[kind]
    (keys + other * Self.mostBytes).copyMemory(from: keys + kind * Self.mostBytes, byteCount: Self.mostBytes)
    (positions + other * names.count).update(from: positions + kind * names.count, count: names.count)
  }

  /// The offset of the reference to the value of a key, for the object that `look` was called for last. `index` is that
  /// of the key in the names. Nil for an absent key.
  @inline(__always)
  func location(_ index: Int, in object: BinaryObject) -> KeyedArchiveBytes.Location? {
    precondition(index >= 0 && index < names.count, "there is no such field")
    let location = current[index]
    return location < 0 ? nil : KeyedArchiveBytes.Location(offset: object.payload + location)
  }

  @inline(__always)
  private static func kind(_ bytes: UnsafeRawBufferPointer) -> Int {
    if bytes.count < 4 { return bytes.count }
    let last = bytes.loadUnaligned(fromByteOffset: bytes.count &- 4, as: UInt32.self).bigEndian
    let hash = (last &+ UInt32(truncatingIfNeeded: bytes.count) &* 31) &* 0x9E37_79B1
    return Int(hash &>> 28) & (kinds - 1)
  }

  @inline(__always)
  private static func isSame(_ a: UnsafeRawBufferPointer, _ b: UnsafeRawBufferPointer) -> Bool {
    var index = 0
    while index + 4 <= a.count {
      if a.loadUnaligned(fromByteOffset: index, as: UInt32.self)
        != b.loadUnaligned(fromByteOffset: index, as: UInt32.self)
      {
        return false
      }
      index += 4
    }
    while index < a.count {
      if a[index] != b[index] { return false }
      index += 1
    }
    return true
  }

  /// The offsets of the references to the values of some keys, from the beginning of a dictionary's payload. Of two
  /// equal keys the last one counts. Throws where a key is not a string.
  static func find(
    _ names: [String], in object: BinaryObject, _ table: BinaryObjectTable
  ) throws(PropertyListError) -> [Int?] {
    let width = table.referenceWidth
    let half = object.payloadCount / 2
    var positions: [Int?] = Array(repeating: nil, count: names.count)
    for location in stride(from: 0, to: half, by: width) {
      let key = try table.object(try table.reference(at: object.payload + location))
      guard !key.isContainer, case .string(let text) = try key.scalar(table.source) else {
        throw PropertyListError(.malformed, offset: object.offset, "a dictionary key is not a string")
      }
      for (index, name) in names.enumerated() where name == text { positions[index] = half + location }
    }
    return positions
  }
}
