import Foundation

/// The marker byte of one object in a binary property list, with the extent of its payload.
struct BinaryObject {
  let offset: Int
  let marker: UInt8
  let payload: Int
  /// Bytes; checked to lie inside the data.
  let payloadCount: Int
  /// Elements of an array, entries of a dictionary, units of a string, or bytes.
  let count: Int

  /// The payload size and the count of an object, if its marker determines both and references have four bytes.
  /// Otherwise the size is -1.
  struct Shape {
    let size: Int16
    let count: Int16
  }

  /// One shape per marker byte. This memory is never freed.
  nonisolated(unsafe) static let shapes: UnsafePointer<Shape> = {
    let shapes = UnsafeMutablePointer<Shape>.allocate(capacity: 256)
    for marker in 0..<256 {
      let (kind, low) = (marker >> 4, Int16(marker & 0x0F))
      let units: [Int: Int16] = [0x4: 1, 0x5: 1, 0x6: 2, 0xA: 4, 0xD: 8]
      let shape: Shape
      switch kind {
      case 0x0: shape = Shape(size: 0, count: 0)
      case 0x1, 0x2, 0x3: shape = low <= 4 ? Shape(size: 1 << low, count: 1 << low) : Shape(size: -1, count: 0)
      case 0x8: shape = Shape(size: low + 1, count: low + 1)
      default: shape = Shape(size: low < 15 ? units[kind].map { $0 * low } ?? -1 : -1, count: low)
      }
      (shapes + marker).initialize(to: shape)
    }
    return UnsafePointer(shapes)
  }()

  @inline(__always)
  init(offset: Int, marker: UInt8, payload: Int, payloadCount: Int, count: Int) {
    self.offset = offset
    self.marker = marker
    self.payload = payload
    self.payloadCount = payloadCount
    self.count = count
  }

  var isDictionary: Bool { marker >> 4 == 0xD }
  var isUID: Bool { marker >> 4 == 0x8 }
  var isContainer: Bool { isDictionary || marker >> 4 == 0xA }

  @inline(never)
  init(_ source: ByteSource, at offset: Int, referenceWidth: Int) throws(PropertyListError) {
    let marker = try source.byte(at: offset)
    let low = Int(marker & 0x0F)
    let unit: Int
    switch marker >> 4 {
    case 0x0: unit = 0
    case 0x1, 0x2, 0x3:
      guard low <= 4 else { throw Self.wrong(offset, "a number of 2^\(low) bytes") }
      try self.init(source, offset, marker, payload: offset + 1, count: 1 << low, unit: 1)
      return
    case 0x8:
      try self.init(source, offset, marker, payload: offset + 1, count: low + 1, unit: 1)
      return
    case 0x4, 0x5: unit = 1
    case 0x6: unit = 2
    case 0xA: unit = referenceWidth
    case 0xD: unit = 2 * referenceWidth
    default: throw PropertyListError(.unsupported, offset: offset, "an object of kind \(marker)")
    }
    if low != 0x0F || unit == 0 {
      try self.init(source, offset, marker, payload: offset + 1, count: unit == 0 ? 0 : low, unit: unit)
    } else {
      self = try Self.counted(source, offset, marker, unit)
    }
  }

  @inline(__always)
  private init(
    _ source: ByteSource, _ offset: Int, _ marker: UInt8, payload: Int, count: Int, unit: Int
  ) throws(PropertyListError) {
    self.offset = offset
    self.marker = marker
    self.payload = payload
    self.count = count
    payloadCount = count &* unit
    try source.check(payload, payloadCount)
  }

  /// An object whose count follows its marker.
  @inline(never)
  private static func counted(
    _ source: ByteSource, _ offset: Int, _ marker: UInt8, _ unit: Int
  ) throws(PropertyListError) -> BinaryObject {
    let sizeMarker = try source.byte(at: offset + 1)
    guard sizeMarker & 0xF0 == 0x10, sizeMarker & 0x0F <= 3 else {
      throw wrong(offset + 1, "a count is not an integer")
    }
    let width = 1 << Int(sizeMarker & 0x0F)
    let start = offset + 2 + width
    let count = try source.unsigned(at: offset + 2, width: width)
    let (size, overflow) = count.multipliedReportingOverflow(by: UInt64(unit))
    guard start <= source.end, !overflow, size <= UInt64(source.end - start) else {
      throw PropertyListError(.truncated, offset: offset, "\(count) elements do not fit into the data")
    }
    return try BinaryObject(source, offset, marker, payload: start, count: Int(count), unit: unit)
  }

  private static func wrong(_ offset: Int, _ what: String) -> PropertyListError {
    PropertyListError(.malformed, offset: offset, what)
  }

  /// The value of an object that is not a container.
  func scalar(_ source: ByteSource) throws(PropertyListError) -> PropertyList {
    let bytes = try bytes(source)
    switch marker >> 4 {
    case 0x0: return try singleton()
    case 0x1: return try integer(bytes)
    case 0x2: return .real(try floating(bytes))
    case 0x3:
      guard bytes.count == 8 else {
        throw PropertyListError(.malformed, offset: offset, "a date of odd size")
      }
      return .date(try floating(bytes))
    case 0x4: return .data(Data(bytes))
    case 0x5: return .string(String(decoding: try ascii(source), as: UTF8.self))
    case 0x6: return .string(Self.utf16(bytes))
    case 0x8: return .uid(try uid(source))
    default: throw PropertyListError(.unsupported, offset: offset, "an object of kind \(marker)")
    }
  }

  /// The bytes of its payload.
  @inline(__always)
  func bytes(_ source: ByteSource) throws(PropertyListError) -> UnsafeRawBufferPointer {
    try source.slice(at: payload, count: payloadCount)
  }

  /// The bytes of an ASCII string.
  @inline(__always)
  func ascii(_ source: ByteSource) throws(PropertyListError) -> UnsafeRawBufferPointer {
    let bytes = try bytes(source)
    guard bytes.isASCII else {
      throw PropertyListError(.malformed, offset: offset, "an ASCII string with other bytes")
    }
    return bytes
  }

  /// The index in a keyed archive's reference.
  @inline(__always)
  func uid(_ source: ByteSource) throws(PropertyListError) -> UInt64 {
    if payloadCount <= 8 { return try source.unsigned(at: payload, width: payloadCount) }
    guard let value = UInt64(exactly: wide(try bytes(source))) else {
      throw PropertyListError(.unsupported, offset: offset, "a UID above 64 bits")
    }
    return value
  }

  private func singleton() throws(PropertyListError) -> PropertyList {
    switch marker {
    case 0x00: return .null
    case 0x08: return .bool(false)
    case 0x09: return .bool(true)
    default: throw PropertyListError(.unsupported, offset: offset, "an object of kind \(marker)")
    }
  }

  private func wide(_ bytes: UnsafeRawBufferPointer) -> UInt128 {
    bytes.reduce(0) { $0 << 8 | UInt128($1) }
  }

  /// Integers of 1, 2 and 4 bytes are unsigned, longer ones signed.
  private func integer(_ bytes: UnsafeRawBufferPointer) throws(PropertyListError) -> PropertyList {
    let value = wide(bytes)
    switch bytes.count {
    case 16:
      let signed = Int128(truncatingIfNeeded: value)
      if let number = Int64(exactly: signed) { return .integer(number) }
      if let number = UInt64(exactly: signed) { return .unsigned(number) }
      throw PropertyListError(.unsupported, offset: offset, "an integer above 64 bits")
    default:
      return .integer(Int64(truncatingIfNeeded: value))
    }
  }

  private func floating(_ bytes: UnsafeRawBufferPointer) throws(PropertyListError) -> Double {
    let value = wide(bytes)
    switch bytes.count {
    case 4: return Double(Float(bitPattern: UInt32(truncatingIfNeeded: value)))
    case 8: return Double(bitPattern: UInt64(truncatingIfNeeded: value))
    default: throw PropertyListError(.malformed, offset: offset, "a real of \(bytes.count) bytes")
    }
  }

  /// Unpaired surrogates become U+FFFD: a Swift string cannot hold them, and refusing the file would lose the rest.
  static func utf16(_ bytes: UnsafeRawBufferPointer) -> String {
    let units = (0..<bytes.count / 2).lazy.map {
      UInt16(bigEndian: bytes.loadUnaligned(fromByteOffset: 2 * $0, as: UInt16.self))
    }
    return String(decoding: units, as: UTF16.self)
  }
}
