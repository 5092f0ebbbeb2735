/// Where objects have the values of some keys. Found once for all that have the same keys in the same order.
///
/// Used by one caller at a time, and with one archive.
public final class KeyedFields {
  private let names: [String]
  /// Some kinds of objects that were met before: their keys as they stand in the file, and where the values are.
  private let keys: UnsafeMutablePointer<UnsafeRawBufferPointer>
  private let places: UnsafeMutablePointer<Int>
  /// The places of the object that was looked at last.
  @exclusivity(unchecked) private var current: UnsafeMutablePointer<Int>
  private static let kinds = 16

  public init(_ names: [String]) {
    self.names = names
    keys = .allocate(capacity: Self.kinds)
    keys.initialize(repeating: UnsafeRawBufferPointer(start: nil, count: 0), count: Self.kinds)
    places = .allocate(capacity: Self.kinds * names.count)
    places.initialize(repeating: -1, count: Self.kinds * names.count)
    current = places
  }

  deinit {
    keys.deallocate()
    places.deallocate()
  }

  @inline(__always)
  func look(at object: BinaryObject, _ table: BinaryObjectTable) throws(PropertyListError) {
    let bytes = try table.source.slice(at: object.payload, count: object.payloadCount / 2)
    let kind = Self.kind(bytes)
    current = places + kind &* names.count
    if bytes.count == keys[kind].count, Self.isSame(bytes, keys[kind]) { return }
    let found = try Self.find(names, in: object, table)
    for (index, place) in found.enumerated() { current[index] = place ?? -1 }
    keys[kind] = bytes
  }

  /// Where the object that was looked at last refers to the value of the key with an index in the names. Nil without one.
  @inline(__always)
  func place(_ index: Int, in object: BinaryObject) -> KeyedArchiveBytes.Place? {
    precondition(index >= 0 && index < names.count, "there is no such field")
    let place = current[index]
    return place < 0 ? nil : KeyedArchiveBytes.Place(offset: object.payload + place)
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

  /// Where the references to the values of some keys stand behind the beginning of a dictionary's content. Of two equal keys the last
  /// one counts. Throws where a key is no string.
  static func find(
    _ names: [String], in object: BinaryObject, _ table: BinaryObjectTable
  ) throws(PropertyListError) -> [Int?] {
    let width = table.referenceWidth
    let half = object.payloadCount / 2
    var places: [Int?] = Array(repeating: nil, count: names.count)
    for place in stride(from: 0, to: half, by: width) {
      let key = try table.object(try table.reference(at: object.payload + place))
      guard !key.isContainer, case .string(let text) = try key.scalar(table.source) else {
        throw PropertyListError(.malformed, offset: object.offset, "a dictionary key is not a string")
      }
      for (index, name) in names.enumerated() where name == text { places[index] = half + place }
    }
    return places
  }
}
