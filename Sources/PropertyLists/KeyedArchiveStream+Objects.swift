import Foundation

/// Objects of the archive with keyed values.
extension KeyedArchiveStream {
  /// Writes a dictionary. The fields must come in the order of their keys, with `$class` first.
  func dictionary(_ fields: [(key: UInt32, value: UInt32)]) -> UInt32 {
    begin(0xD0, fields.count, room: 8 * fields.count)
    for field in fields { bytes.appendUnchecked(bigEndian: field.key) }
    for field in fields { bytes.appendUnchecked(bigEndian: field.value) }
    return end()
  }

  // Stores have very many objects of these kinds, so they are written without allocating lists of their fields.

  @inline(__always)
  private func object(_ key: UInt32, _ value: UInt32, of type: Reference) -> Reference {
    begin(0xD0, 2, room: 16)
    bytes.appendUnchecked(bigEndian: classKey)
    bytes.appendUnchecked(bigEndian: key)
    bytes.appendUnchecked(bigEndian: type.number)
    bytes.appendUnchecked(bigEndian: value)
    return add(end())
  }

  /// An object that has a class and no other fields.
  public func add(instanceOf type: Reference) -> Reference { add(dictionary([(classKey, type.number)])) }

  /// Writes a string, each time anew. The caller keeps the reference and uses it again.
  public func add(name: String) -> Reference { add(text(name)) }

  /// An NSArray, or an object of another class that archives its elements in the same way.
  public func add(list elements: [Reference], of type: Reference) -> Reference {
    object(listKey, array(elements), of: type)
  }

  func array(_ elements: [Reference]) -> UInt32 {
    begin(0xA0, elements.count, room: 4 &* elements.count)
    for element in elements { bytes.appendUnchecked(bigEndian: element.number) }
    return end()
  }

  /// An NSDictionary. `keys` and `values` must have the same count.
  public func add(keys: [Reference], values: [Reference], of type: Reference) -> Reference {
    let (keys, values) = (array(keys), array(values))
    begin(0xD0, 3, room: 24)
    for number in [classKey, keysKey, listKey, type.number, keys, values] { bytes.appendUnchecked(bigEndian: number) }
    return add(end())
  }

  /// An NSDate of so many seconds since 2001-01-01T00:00:00Z.
  public func add(date seconds: Double, of type: Reference) -> Reference {
    object(timeKey, plainReal(seconds), of: type)
  }

  /// An NSUUID of 16 bytes.
  public func add(uuid value: UnsafeRawBufferPointer, of type: Reference) -> Reference {
    object(uuidKey, plainData(value), of: type)
  }

  /// An NSURL without a base URL. The bytes must stay valid until the archive ends.
  public func add(url: UnsafeRawBufferPointer, of type: Reference) -> Reference {
    let text = add(text: url)
    return add(
      dictionary([(classKey, type.number), (key("NS.base"), null.number), (key("NS.relative"), text.number)]))
  }

  /// An NSDecimalNumber.
  public func add(_ number: Decimal, of type: Reference) -> Reference {
    let parts = ArchivedDecimal(number)
    let mantissa = parts.mantissa.withUnsafeBytes { plainData($0) }
    // The number before that of a reference is the number of its object.
    let fields = [
      ("NS.compact", add(false).number - 1), ("NS.exponent", add(parts.exponent).number - 1),
      ("NS.length", add(parts.length).number - 1), ("NS.mantissa", mantissa),
      ("NS.mantissa.bo", add(Int64(1)).number - 1), ("NS.negative", add(parts.isNegative).number - 1),
    ].map { (key: key($0.0), value: $0.1) }
    return add(dictionary([(classKey, type.number)] + fields))
  }

  /// A node of a store.
  public func add(
    node key: Int64, entity: Reference, values: Reference, related: Reference?, of type: Reference
  ) -> (key: Reference, node: Reference) {
    let number = add(key)
    let (valuesKey, entityKey, primaryKey) = nodeKeys
    begin(0xD0, related == nil ? 4 : 5, room: 40)
    bytes.appendUnchecked(bigEndian: classKey)
    bytes.appendUnchecked(bigEndian: valuesKey)
    bytes.appendUnchecked(bigEndian: entityKey)
    bytes.appendUnchecked(bigEndian: primaryKey)
    if related != nil { bytes.appendUnchecked(bigEndian: relatedKey) }
    bytes.appendUnchecked(bigEndian: type.number)
    bytes.appendUnchecked(bigEndian: values.number)
    bytes.appendUnchecked(bigEndian: entity.number)
    // The number before that of a reference is the number of its object.
    bytes.appendUnchecked(bigEndian: number.number &- 1)
    if let related { bytes.appendUnchecked(bigEndian: related.number) }
    return (number, add(end()))
  }

  // MARK: Copies

  /// Adds an object and everything that it refers to, keeping identities and cycles. Returns nil, and adds nothing, if
  /// an object has containers in containers. Archives of Foundation have no such objects.
  public func add(copyOf object: ArchivedObject) -> Reference? {
    guard let first = object.uid else { return object.value.isScalar ? add(plain(object.value)) : nil }
    var order = [first]
    var known: Set<UInt64> = [first]
    var next = 0
    while next < order.count {
      guard let source = ArchivedObject(.uid(order[next]), in: object.archive) else { return nil }
      guard source.value.isFlat else { return nil }
      _ = source.value.translatingReferences { reference in
        if reference != 0 && known.insert(reference).inserted { order.append(reference) }
        return reference
      }
      next += 1
    }
    var positions: [UInt64: (reference: Reference, index: Int)] = [:]
    for uid in order { positions[uid] = reserve() }
    for uid in order {
      guard let source = ArchivedObject(.uid(uid), in: object.archive), let position = positions[uid] else { continue }
      fill(
        position.index, flat(source.value.translatingReferences { UInt64((positions[$0]?.reference ?? null).number) }))
    }
    return positions[first]?.reference
  }

  /// Writes a scalar, or a container of scalars and of arrays of scalars. References are numbers in the property list.
  private func flat(_ value: PropertyList) -> UInt32 {
    switch value {
    case .array(let elements): return numbers(elements)
    case .dictionary(let entries):
      let sorted = entries.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
      return dictionary(
        sorted.map { name, field in
          if case .array(let elements) = field { return (key(name), numbers(elements)) }
          return (key(name), plain(field))
        })
    default: return plain(value)
    }
  }

  private func numbers(_ elements: [PropertyList]) -> UInt32 {
    elements.map { plain($0) }.withUnsafeBufferPointer { array($0) }
  }

  private func plain(_ value: PropertyList) -> UInt32 {
    switch value {
    case .uid(let number): return UInt32(truncatingIfNeeded: number)
    case .integer(let x): return plainInteger(x)
    case .real(let x): return plainReal(x)
    case .string(let x): return text(x)
    case .data(let x): return x.withUnsafeBytes { plainData($0) }
    default: return plain(BinaryEncoding.bytes(value))
    }
  }

  private func plain(_ encoded: Data) -> UInt32 {
    bytes.reserve(encoded.count)
    encoded.withUnsafeBytes { bytes.appendUnchecked($0) }
    return end()
  }

  // MARK: The end

  /// Ends the archive, with `root` under `key` at its top. Passes all bytes that were not taken yet to `take`, piece by
  /// piece.
  public func finish<E: Error>(
    _ key: String, _ root: Reference, _ take: (UnsafeRawBufferPointer) throws(E) -> Void
  ) throws(E) {
    let list = try finishObjects(take)
    let top = dictionary([(self.key(key), root.number)])
    let fields = [
      ("$archiver", text("NSKeyedArchiver")), ("$objects", list), ("$top", top), ("$version", plainInteger(100_000)),
    ]
    let frame = dictionary(fields.map { (self.key($0.0), $0.1) })
    var table = UInt64(8)
    for index in 0..<sizes.count { table += UInt64(sizes.start[index]) }
    let width = BinaryEncoding.width(of: table)
    var offset = UInt64(8)
    for index in 0..<sizes.count {
      append(offset, width: width)
      offset += UInt64(sizes.start[index])
      if bytes.count >= 1 << 18 { try takeBytes(take) }
    }
    for byte in [0, 0, 0, 0, 0, 0, UInt8(width), 4] { bytes.append(byte) }
    for number in [UInt64(sizes.count), UInt64(frame), table] { append(number, width: 8) }
    try takeBytes(take)
  }

  /// Writes `$objects` in pieces, because it may be too long for memory.
  private func finishObjects<E: Error>(_ take: (UnsafeRawBufferPointer) throws(E) -> Void) throws(E) -> UInt32 {
    let before = bytes.count
    begin(0xA0, objects.count, room: 0)
    let size = bytes.count - before + 4 * objects.count
    for index in 0..<objects.count {
      append(UInt64(objects.start[index]), width: 4)
      if bytes.count >= 1 << 18 { try takeBytes(take) }
    }
    return end(size: size)
  }

  @inline(__always)
  private func append(_ value: UInt64, width: Int) {
    bytes.reserve(8)
    switch width {
    case 1: bytes.appendUnchecked(UInt8(truncatingIfNeeded: value))
    case 2: bytes.appendUnchecked(bigEndian: UInt16(truncatingIfNeeded: value))
    case 4: bytes.appendUnchecked(bigEndian: UInt32(truncatingIfNeeded: value))
    default: bytes.appendUnchecked(bigEndian: value)
    }
  }
}

extension PropertyList {
  fileprivate var isScalar: Bool {
    switch self {
    case .array, .dictionary: false
    default: true
    }
  }

  /// Whether the value is a scalar, or contains only scalars and arrays of scalars.
  fileprivate var isFlat: Bool {
    switch self {
    case .array(let elements): elements.allSatisfy(\.isScalar)
    case .dictionary(let entries):
      entries.values.allSatisfy { field in
        if case .array(let elements) = field { elements.allSatisfy(\.isScalar) } else { field.isScalar }
      }
    default: true
    }
  }
}
