import Foundation

/// The objects of a binary property list, found by their numbers. Valid as long as the bytes are.
struct BinaryObjectTable {
  static let magic = Data("bplist00".utf8)
  private static let trailerSize = 32

  /// The part before the offset table, where all objects lie.
  let source: ByteSource
  let referenceWidth: Int
  let count: Int
  /// The number of the top object.
  let top: Int
  private let file: ByteSource
  /// The shapes of objects by marker, if references have four bytes.
  private let shapes: UnsafePointer<BinaryObject.Shape>?
  private let offsetWidth: Int
  let table: Int

  /// Reads the layout from the last 32 bytes. Throws unless the offset table lies inside the data.
  init(
    _ bytes: UnsafeRawBufferPointer, _ gap: UnsafePointer<ByteGap>? = nil
  ) throws(PropertyListError) {
    guard bytes.starts(with: Self.magic) else {
      throw PropertyListError(.notAPropertyList, "the data does not begin with bplist00")
    }
    file = ByteSource(bytes, gap)
    let start = file.end - Self.trailerSize
    guard start > 8 else {
      throw PropertyListError(.truncated, offset: file.end, "there is no trailer")
    }
    offsetWidth = Int(try file.byte(at: start + 6))
    referenceWidth = Int(try file.byte(at: start + 7))
    count = Int(clamping: try file.unsigned(at: start + 8, width: 8))
    top = Int(clamping: try file.unsigned(at: start + 16, width: 8))
    table = Int(clamping: try file.unsigned(at: start + 24, width: 8))
    guard (1...8).contains(offsetWidth), (1...8).contains(referenceWidth) else {
      throw PropertyListError(
        .malformed, offset: start, "integer widths \(offsetWidth), \(referenceWidth)")
    }
    guard table > 8, table <= start, count >= 1, count <= (start - table) / offsetWidth else {
      throw PropertyListError(
        .truncated, offset: start, "no room for an offset table of \(count) objects")
    }
    guard top < count else {
      throw PropertyListError(.malformed, offset: start, "the top object \(top) is missing")
    }
    source = file.prefix(table)
    shapes = referenceWidth == 4 ? BinaryObject.shapes : nil
  }

  /// The object with a number below ``count``.
  @inline(__always)
  func object(_ number: Int) throws(PropertyListError) -> BinaryObject {
    guard number >= 0, number < count else { throw missing(number) }
    // `init` has checked that the offset table lies inside the data.
    let position =
      offsetWidth == 4
      ? UInt64(file.four(at: table &+ number &* 4))
      : try file.unsigned(at: table + number * offsetWidth, width: offsetWidth)
    guard position >= 8, position < UInt64(source.end) else { throw missing(number) }
    if let shapes {
      let marker = source.known(at: Int(position))
      let (size, count) = (Int(shapes[Int(marker)].size), Int(shapes[Int(marker)].count))
      if size >= 0 {
        try source.check(Int(position), 1 &+ size)
        return BinaryObject(
          offset: Int(position), marker: marker, payload: Int(position) &+ 1, payloadCount: size, count: count)
      }
    }
    return try BinaryObject(source, at: Int(position), referenceWidth: referenceWidth)
  }

  /// The index in an object that is a keyed archive's reference.
  @inline(__always)
  func uid(_ object: BinaryObject) throws(PropertyListError) -> UInt64 {
    switch object.payloadCount {
    case 1: UInt64(source.known(at: object.payload))
    case 4: UInt64(source.four(at: object.payload))
    default: try object.uid(source)
    }
  }

  /// The object number stored at an offset inside a container.
  @inline(__always)
  func reference(at offset: Int) throws(PropertyListError) -> Int {
    let number: UInt64
    if referenceWidth == 4 {
      try source.check(offset, 4)
      number = UInt64(source.four(at: offset))
    } else {
      number = try source.unsigned(at: offset, width: referenceWidth)
    }
    guard number < UInt64(count) else { throw missing(Int(clamping: number)) }
    return Int(number)
  }

  @inline(never)
  private func missing(_ number: Int) -> PropertyListError {
    PropertyListError(.malformed, offset: table, "object \(number) lies outside the data")
  }
}
