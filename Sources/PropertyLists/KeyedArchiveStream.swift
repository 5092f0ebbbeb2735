import Foundation

/// Writes an archive that `NSKeyedUnarchiver` reads, object by object, without building the whole archive in memory.
///
/// An object is added after the values that it refers to; ``reserve()`` is for cycles. Equal numbers, strings and data
/// are written once. The bytes depend only on the sequence of calls. ``takeBytes(_:)`` hands out the bytes written so
/// far, at any time.
///
/// Used by one caller at a time.
public final class KeyedArchiveStream {
  /// A reference to an object of the archive.
  public struct Reference: BitwiseCopyable, Sendable {
    /// The number of the reference in the property list. The object itself has the number before, unless it was
    /// reserved.
    let number: UInt32
  }

  /// The limit of objects: with more of them containers would exceed 4 GB.
  static let mostObjects = 1 << 30

  let bytes = GrowingBuffer<UInt8>(capacity: 1 << 18)
  /// The size in bytes of each object of the property list, by its number.
  let sizes = GrowingBuffer<UInt32>(capacity: 1 << 16)
  /// The number of each object, by its index in `$objects`.
  let objects = GrowingBuffer<UInt32>(capacity: 1 << 14)
  /// The offset in `bytes` of the object that is being written.
  private var start = 0
  private var keys: [String: UInt32] = [:]
  private var classes: [String: Reference] = [:]
  let integers = KnownValues<Int64>(0)
  let reals = KnownValues<UInt64>(0)
  let texts = KnownValues(UnsafeRawBufferPointer(start: nil, count: 0))
  let datas = KnownValues(UnsafeRawBufferPointer(start: nil, count: 0))
  var booleans: [Reference?] = [nil, nil]

  // The numbers of keys that very many objects have.
  private(set) var classKey: UInt32 = 0
  private(set) var keysKey: UInt32 = 0
  private(set) var listKey: UInt32 = 0
  private(set) var timeKey: UInt32 = 0
  private(set) var uuidKey: UInt32 = 0
  private(set) var nodeKeys: (values: UInt32, entity: UInt32, key: UInt32) = (0, 0, 0)
  private(set) var relatedKey: UInt32 = 0
  /// The nil object.
  private(set) var null = Reference(number: 0)

  /// An archive without objects.
  public init() {
    for byte in "bplist00".utf8 { bytes.append(byte) }
    start = bytes.count
    null = add(text("$null"))
    (classKey, keysKey, listKey) = (key("$class"), key("NS.keys"), key("NS.objects"))
    (timeKey, uuidKey) = (key("NS.time"), key("NS.uuidbytes"))
    nodeKeys = (key("NSAttributeValues"), key("NSEntityName"), key("NSPrimaryKey64"))
    relatedKey = key("NSRelatedNodes")
  }

  // MARK: Bytes

  /// Whether no further object can be written.
  public var isFull: Bool { sizes.count > Self.mostObjects - 1024 }

  /// The number of bytes that were not taken yet.
  public var byteCount: Int { bytes.count }

  /// Passes the bytes that were not taken yet to `body`.
  public func takeBytes<E: Error>(_ body: (UnsafeRawBufferPointer) throws(E) -> Void) throws(E) {
    try body(UnsafeRawBufferPointer(start: bytes.start, count: bytes.count))
    bytes.removeAll()
    start = 0
  }

  // MARK: Objects of the property list

  /// Ends an object. Returns its number.
  @inline(__always)
  func end() -> UInt32 {
    sizes.append(UInt32(truncatingIfNeeded: bytes.count &- start))
    start = bytes.count
    return UInt32(truncatingIfNeeded: sizes.count &- 1)
  }

  /// Ends an object whose bytes were partly taken already. `size` counts all of them.
  func end(size: Int) -> UInt32 {
    sizes.append(UInt32(truncatingIfNeeded: size))
    start = bytes.count
    return UInt32(truncatingIfNeeded: sizes.count &- 1)
  }

  /// Writes a marker with a count, and reserves space for `more` bytes behind it.
  @inline(__always)
  func begin(_ marker: UInt8, _ count: Int, room more: Int) {
    bytes.reserve(more &+ 10)
    if count < 15 { return bytes.appendUnchecked(marker | UInt8(truncatingIfNeeded: count)) }
    bytes.appendUnchecked(marker | 0x0F)
    appendInteger(Int64(count))
  }

  /// Appends an integer object. Space for 9 bytes must be reserved.
  @inline(__always)
  private func appendInteger(_ value: Int64) {
    let word = UInt64(bitPattern: value)
    if word <= 0xFF {
      bytes.appendUnchecked(0x10)
      bytes.appendUnchecked(UInt8(truncatingIfNeeded: word))
    } else if word <= 0xFFFF {
      bytes.appendUnchecked(0x11)
      bytes.appendUnchecked(bigEndian: UInt16(truncatingIfNeeded: word))
    } else if word <= 0xFFFF_FFFF {
      bytes.appendUnchecked(0x12)
      bytes.appendUnchecked(bigEndian: UInt32(truncatingIfNeeded: word))
    } else {
      bytes.appendUnchecked(0x13)
      bytes.appendUnchecked(bigEndian: word)
    }
  }

  func plainInteger(_ value: Int64) -> UInt32 {
    bytes.reserve(9)
    appendInteger(value)
    return end()
  }

  @inline(__always)
  func plainReal(_ value: Double) -> UInt32 {
    bytes.reserve(9)
    bytes.appendUnchecked(0x23)
    bytes.appendUnchecked(bigEndian: value.bitPattern)
    return end()
  }

  func plainData(_ data: UnsafeRawBufferPointer) -> UInt32 {
    begin(0x40, data.count, room: data.count)
    bytes.appendUnchecked(data)
    return end()
  }

  /// A string of valid UTF-8.
  func plainText(_ text: UnsafeRawBufferPointer) -> UInt32 {
    if text.isASCII {
      begin(0x50, text.count, room: text.count)
      bytes.appendUnchecked(text)
      return end()
    }
    let string = String(decoding: text, as: UTF8.self)
    let count = string.utf16.count
    begin(0x60, count, room: 2 * count)
    for unit in string.utf16 { bytes.appendUnchecked(bigEndian: unit) }
    return end()
  }

  func text(_ text: String) -> UInt32 {
    var text = text
    return text.withUTF8 { plainText(UnsafeRawBufferPointer($0)) }
  }

  /// The number of a dictionary's key.
  func key(_ name: String) -> UInt32 {
    if let known = keys[name] { return known }
    let number = text(name)
    keys[name] = number
    return number
  }

  func array(_ numbers: UnsafeBufferPointer<UInt32>) -> UInt32 {
    begin(0xA0, numbers.count, room: 4 &* numbers.count)
    for number in numbers { bytes.appendUnchecked(bigEndian: number) }
    return end()
  }

  // MARK: Objects of the archive

  /// Adds the object with a number, which was written last, to `$objects`.
  @inline(__always)
  func add(_ number: UInt32) -> Reference {
    objects.append(number)
    return uid(objects.count &- 1)
  }

  @inline(__always)
  private func uid(_ index: Int) -> Reference {
    bytes.reserve(9)
    if index <= 0xFF {
      bytes.appendUnchecked(0x80)
      bytes.appendUnchecked(UInt8(truncatingIfNeeded: index))
    } else if index <= 0xFFFF {
      bytes.appendUnchecked(0x81)
      bytes.appendUnchecked(bigEndian: UInt16(truncatingIfNeeded: index))
    } else {
      bytes.appendUnchecked(0x83)
      bytes.appendUnchecked(bigEndian: UInt32(truncatingIfNeeded: index))
    }
    return Reference(number: end())
  }

  /// Reserves a reference for an object that is added later.
  func reserve() -> (reference: Reference, index: Int) {
    objects.append(0)
    return (uid(objects.count - 1), objects.count - 1)
  }

  /// Sets the object of a reserved index.
  func fill(_ index: Int, _ number: UInt32) { objects.start[index] = number }

  /// The class with these names, its own first.
  public func addClass(_ names: [String]) -> Reference {
    let joined = names.joined(separator: "\u{0}")
    if let known = classes[joined] { return known }
    let numbers = names.map { text($0) }
    let list = numbers.withUnsafeBufferPointer { array($0) }
    let name = numbers.first ?? text("NSObject")
    let reference = add(dictionary([(key("$classes"), list), (key("$classname"), name)]))
    classes[joined] = reference
    return reference
  }
}
