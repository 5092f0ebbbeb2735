import Foundation

/// The values of ``ArchivedObject``, read from the bytes.
extension KeyedArchiveBytes {
  // MARK: Objects

  /// Finds the fields of an object, for `field` and `location`. Returns false if the item is not an object with fields.
  @inline(__always)
  public func look(at item: Item, _ fields: KeyedFields) throws(PropertyListError) -> Bool {
    guard item.object.isDictionary else { return false }
    try visit(item.object.count)
    try fields.look(at: item.object, table)
    return true
  }

  /// A field of the object that `look` was called for last, by the index of its name. Nil where it is absent or nil.
  @inline(__always)
  public func field(_ index: Int, of item: Item, _ fields: KeyedFields) throws(PropertyListError) -> Item? {
    guard let location = fields.location(index, in: item.object) else { return nil }
    return try self.item(at: location)
  }

  /// The offset of the reference to a field. Nil where the field is absent.
  @inline(__always)
  public func location(_ index: Int, of item: Item, _ fields: KeyedFields) -> Location? {
    fields.location(index, in: item.object)
  }

  /// Whether the object that `look` was called for last is a node of a store. `index` is the index of its class field.
  public func isMapNode(_ item: Item, _ index: Int, _ fields: KeyedFields) throws(PropertyListError) -> Bool {
    try traits(fields.location(index, in: item.object)).contains(.mapNode)
  }

  /// Whether the item is the NSNull object.
  @inline(__always)
  public func isNullObject(_ item: Item) throws(PropertyListError) -> Bool {
    guard item.object.isDictionary else { return false }
    if item.object.offset == nullOffset { return true }
    guard try traits(item).contains(.null) else { return false }
    nullOffset = item.object.offset
    return true
  }

  /// Whether the item is the NSNull object that was found last. Most archives have only one.
  @inline(__always)
  public func isKnownNull(_ item: Item) -> Bool { item.object.offset == nullOffset }

  private func traits(_ item: Item) throws(PropertyListError) -> ArchivedClass {
    guard try look(at: item, classField) else { return [] }
    return try traits(classField.location(0, in: item.object))
  }

  // MARK: Collections

  /// The references to the elements of a collection.
  public struct Elements {
    let start: Int
    let width: Int
    /// The number of elements.
    public let count: Int
    /// For collections of older archives, which number their elements: the index in `numberedPositions`.
    var numbered: Int?
  }

  /// The offset of the reference to an element. `index` must be less than the count.
  @inline(__always)
  public func location(_ index: Int, in elements: Elements) -> Location {
    guard let numbered = elements.numbered else { return Location(offset: elements.start &+ index &* elements.width) }
    return Location(offset: numberedPositions[numbered][index])
  }

  /// The elements of an NSArray, NSSet or NSOrderedSet, or of an array that is stored inline. Nil for everything else.
  public func elements(of item: Item) throws(PropertyListError) -> Elements? {
    if item.object.marker >> 4 == 0xA { return try elements(item.object) }
    guard try look(at: item, listFields) else { return nil }
    guard let location = listFields.location(1, in: item.object) else { return try numberedElements(item.object) }
    if listFields.location(0, in: item.object) != nil { return nil }
    return try list(at: location)
  }

  /// The keys and values of an NSDictionary. Nil for everything else.
  public func entries(of item: Item) throws(PropertyListError) -> (keys: Elements, values: Elements)? {
    guard try look(at: item, listFields), let keys = listFields.location(0, in: item.object),
      let values = listFields.location(1, in: item.object), let keys = try list(at: keys),
      let values = try list(at: values)
    else { return nil }
    return (keys, values)
  }

  private func list(at location: Location) throws(PropertyListError) -> Elements? {
    let object = try table.object(try table.reference(at: location.offset))
    return object.marker >> 4 == 0xA ? try elements(object) : nil
  }

  private func elements(_ object: BinaryObject) throws(PropertyListError) -> Elements {
    try visit(object.count)
    return Elements(start: object.payload, width: table.referenceWidth, count: object.count)
  }

  /// The elements of a collection of an older archive, which numbers them: NS.object.0, NS.object.1, …
  private func numberedElements(_ object: BinaryObject) throws(PropertyListError) -> Elements? {
    let names = (0..<object.count).map { "NS.object.\($0)" }
    var locations: [String: Int] = [:]
    for offset in stride(from: object.payload, to: object.payload + object.payloadCount / 2, by: table.referenceWidth) {
      let key = try table.object(try table.reference(at: offset))
      guard !key.isContainer, case .string(let text) = try key.scalar(table.source) else { return nil }
      locations[text] = offset + object.payloadCount / 2
    }
    var numbered: [Int] = []
    for name in names {
      guard let location = locations[name] else { break }
      numbered.append(location)
    }
    if numbered.isEmpty { return nil }
    numberedPositions.append(numbered)
    return Elements(start: 0, width: 0, count: numbered.count, numbered: numberedPositions.count - 1)
  }

  /// Appends the elements that are integers. Returns false where an element is another object or a reference to nil.
  public func append(
    integersOf elements: Elements, to integers: inout [Int64]
  ) throws(PropertyListError) -> Bool {
    var areIntegers = true
    for index in 0..<elements.count {
      if let item = try item(at: location(index, in: elements)), let integer = try integer(item) {
        integers.append(integer)
      } else {
        areIntegers = false
      }
    }
    return areIntegers
  }

  // MARK: Scalars

  /// See ``ArchivedObject/integer``.
  @inline(__always)
  public func integer(_ item: Item) throws(PropertyListError) -> Int64? {
    let object = item.object
    if object.marker >> 4 == 0x1, object.payloadCount <= 8 {
      return Int64(truncatingIfNeeded: try table.source.unsigned(at: object.payload, width: object.payloadCount))
    }
    switch object.marker {
    case 0x08: return 0
    case 0x09: return 1
    default: return try real(object).flatMap { Int64(exactly: $0) }
    }
  }

  /// See ``ArchivedObject/double``.
  @inline(__always)
  public func double(_ item: Item) throws(PropertyListError) -> Double? {
    if let number = try real(item.object) { return number }
    if let number = try integer(item) { return Double(number) }
    guard item.object.marker == 0x14, case .unsigned(let number) = try item.object.scalar(table.source) else {
      return nil
    }
    return Double(number)
  }

  @inline(__always)
  private func real(_ object: BinaryObject) throws(PropertyListError) -> Double? {
    switch object.marker {
    case 0x23: return Double(bitPattern: try table.source.unsigned(at: object.payload, width: 8))
    case 0x22: return Double(Float(bitPattern: UInt32(try table.source.unsigned(at: object.payload, width: 4))))
    default: return nil
    }
  }

  /// The UTF-8 bytes of a plain string that is stored as ASCII. Nil for everything else, other strings included.
  @inline(__always)
  public func asciiText(_ item: Item) throws(PropertyListError) -> UnsafeRawBufferPointer? {
    item.object.marker >> 4 == 0x5 ? try item.object.ascii(table.source) : nil
  }

  /// See ``ArchivedObject/string``.
  public func string(_ item: Item) throws(PropertyListError) -> String? {
    switch item.object.marker >> 4 {
    case 0x5: String(decoding: try item.object.ascii(table.source), as: UTF8.self)
    case 0x6: BinaryObject.utf16(try item.object.bytes(table.source))
    case 0xD: try takeOut(item)?.string
    default: nil
    }
  }

  /// The bytes of plain data. Nil for everything else.
  @inline(__always)
  public func plainData(_ item: Item) throws(PropertyListError) -> UnsafeRawBufferPointer? {
    item.object.marker >> 4 == 0x4 ? try item.object.bytes(table.source) : nil
  }

  /// See ``ArchivedObject/date``.
  public func date(_ item: Item) throws(PropertyListError) -> Double? {
    if item.object.marker == 0x33 {
      return Double(bitPattern: try table.source.unsigned(at: item.object.payload, width: 8))
    }
    guard try look(at: item, dateFields), try traits(dateFields.location(0, in: item.object)).contains(.date),
      let time = try field(1, of: item, dateFields)
    else { return nil }
    return try double(time)
  }

  /// The 16 bytes of an NSUUID. Nil for everything else.
  public func uuid(_ item: Item) throws(PropertyListError) -> UnsafeRawBufferPointer? {
    guard try look(at: item, uuidFields), let location = uuidFields.location(0, in: item.object) else { return nil }
    let object = try table.object(try table.reference(at: location.offset))
    guard object.marker >> 4 == 0x4, object.payloadCount == 16 else { return nil }
    return try object.bytes(table.source)
  }

  /// The ASCII bytes of an NSURL without a base URL. Nil for everything else, other URLs included.
  public func asciiURL(_ item: Item) throws(PropertyListError) -> UnsafeRawBufferPointer? {
    guard try look(at: item, urlFields), try traits(urlFields.location(0, in: item.object)).contains(.url),
      try field(1, of: item, urlFields) == nil, let text = try field(2, of: item, urlFields)
    else { return nil }
    return try asciiText(text)
  }
}
