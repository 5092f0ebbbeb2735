import Foundation

/// Values that are written once and referred to by all equal ones.
extension KeyedArchiveStream {
  /// Adds an integer. Returns the reference to it.
  public func add(_ value: Int64) -> Reference {
    let hash = Self.hash(UInt64(bitPattern: value))
    var position = 0
    if let known = integers.find(hash, &position, { $0 == value }) { return Reference(number: known) }
    let reference = add(plainInteger(value))
    integers.insert(value, hash, reference.number, at: position)
    return reference
  }

  /// Adds a Boolean. Returns the reference to it.
  public func add(_ value: Bool) -> Reference {
    if let known = booleans[value ? 1 : 0] { return known }
    bytes.append(value ? 0x09 : 0x08)
    let reference = add(end())
    booleans[value ? 1 : 0] = reference
    return reference
  }

  /// Adds a floating-point number. Returns the reference to it. Two numbers are equal if their bits are.
  public func add(_ value: Double) -> Reference {
    let bits = value.bitPattern
    let hash = Self.hash(bits)
    var position = 0
    if let known = reals.find(hash, &position, { $0 == bits }) { return Reference(number: known) }
    let reference = add(plainReal(value))
    reals.insert(bits, hash, reference.number, at: position)
    return reference
  }

  /// Adds a string of valid UTF-8. The bytes must stay valid until the archive ends.
  public func add(text value: UnsafeRawBufferPointer) -> Reference {
    let hash = Self.hash(value)
    var position = 0
    if let known = texts.find(hash, &position, { Self.isEqual($0, value) }) { return Reference(number: known) }
    let reference = add(plainText(value))
    texts.insert(value, hash, reference.number, at: position)
    return reference
  }

  /// Adds data. The bytes must stay valid until the archive ends.
  public func add(data value: UnsafeRawBufferPointer) -> Reference {
    let hash = Self.hash(value)
    var position = 0
    if let known = datas.find(hash, &position, { Self.isEqual($0, value) }) { return Reference(number: known) }
    let reference = add(plainData(value))
    datas.insert(value, hash, reference.number, at: position)
    return reference
  }

  @inline(__always)
  private static func isEqual(_ a: UnsafeRawBufferPointer, _ b: UnsafeRawBufferPointer) -> Bool {
    guard a.count == b.count, let first = a.baseAddress, let second = b.baseAddress else { return a.count == b.count }
    return memcmp(first, second, a.count) == 0
  }

  /// Seeded, so that nobody can choose values that all have the same hash.
  @inline(__always)
  private static func hash(_ bytes: UnsafeRawBufferPointer) -> UInt32 {
    var hasher = Hasher()
    hasher.combine(bytes: bytes)
    return UInt32(truncatingIfNeeded: hasher.finalize())
  }

  @inline(__always)
  private static func hash(_ word: UInt64) -> UInt32 {
    let product = (word ^ seed).multipliedFullWidth(by: 0x9E37_79B9_7F4A_7C15)
    return UInt32(truncatingIfNeeded: product.high ^ product.low ^ (product.low &>> 32))
  }

  private static let seed = UInt64.random(in: .min ... .max)
}
