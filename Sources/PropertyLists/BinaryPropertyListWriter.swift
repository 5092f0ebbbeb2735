import Foundation

/// Writes binary property lists (`bplist00`) that Apple's and other readers accept.
///
/// The output depends on the value alone: dictionary keys are written in the order of their UTF-8 bytes, and equal
/// strings, numbers, dates and data are written once.
public enum BinaryPropertyListWriter {
  /// The bytes of `value`. Works on values of any depth, though readers refuse more than ``PropertyListLimits/depth``.
  public static func write(_ value: PropertyList) -> Data {
    var layout = Layout()
    layout.lay(out: value)
    return layout.encode()
  }

  /// Objects by number, containers with the numbers of their children.
  private struct Layout {
    enum Object {
      case scalar(PropertyList)
      case container(marker: UInt8, count: Int, children: [Int])
    }

    var objects: [Object] = []
    var numbers: [PropertyList: Int] = [:]

    /// Numbers all objects, parents before children, with a worklist instead of recursion.
    mutating func lay(out value: PropertyList) {
      var pending: [(PropertyList, number: Int)] = []
      _ = number(value, &pending)
      while let (container, number) = pending.popLast() {
        switch container {
        case .array(let elements):
          let children = elements.map { self.number($0, &pending) }
          objects[number] = .container(marker: 0xA0, count: elements.count, children: children)
        case .dictionary(let entries):
          let sorted = entries.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
          let keys = sorted.map { self.number(.string($0.key), &pending) }
          let values = sorted.map { self.number($0.value, &pending) }
          objects[number] = .container(marker: 0xD0, count: entries.count, children: keys + values)
        default: break
        }
      }
    }

    private mutating func number(_ value: PropertyList, _ pending: inout [(PropertyList, number: Int)]) -> Int {
      let next = objects.count
      switch value {
      case .array, .dictionary:
        pending.append((value, next))
      default:
        if let known = numbers[value], isSame(objects[known], value) { return known }
        numbers[value] = next
      }
      objects.append(.scalar(value))
      return next
    }

    /// Compares bits: 0.0 and -0.0 are equal as doubles, but must be two objects.
    private func isSame(_ object: Object, _ value: PropertyList) -> Bool {
      guard case .scalar(let known) = object else { return false }
      switch (known, value) {
      case (.real(let x), .real(let y)), (.date(let x), .date(let y)): return x.bitPattern == y.bitPattern
      default: return true
      }
    }

    func encode() -> Data {
      var output = BinaryObjectTable.magic
      let referenceWidth = BinaryEncoding.width(of: UInt64(objects.count))
      var offsets: [Int] = []
      offsets.reserveCapacity(objects.count)
      for object in objects {
        offsets.append(output.count)
        switch object {
        case .scalar(let value): BinaryEncoding.append(value, to: &output)
        case .container(let marker, let count, let children):
          BinaryEncoding.append(marker: marker, count: count, to: &output)
          for child in children { BinaryEncoding.append(UInt64(child), width: referenceWidth, to: &output) }
        }
      }
      let table = output.count
      let offsetWidth = BinaryEncoding.width(of: UInt64(table))
      for offset in offsets { BinaryEncoding.append(UInt64(offset), width: offsetWidth, to: &output) }
      output.append(contentsOf: [0, 0, 0, 0, 0, 0, UInt8(offsetWidth), UInt8(referenceWidth)])
      for number in [objects.count, 0, table] { BinaryEncoding.append(UInt64(number), width: 8, to: &output) }
      return output
    }
  }
}

/// The bytes of single objects.
enum BinaryEncoding {
  /// The smallest power of two bytes that holds `value`, as Apple's reader expects of all integers.
  static func width(of value: UInt64) -> Int {
    switch value {
    case ...0xFF: 1
    case ...0xFFFF: 2
    case ...0xFFFF_FFFF: 4
    default: 8
    }
  }

  static func append(_ value: UInt64, width: Int, to output: inout Data) {
    for shift in (0..<width).reversed() { output.append(UInt8(truncatingIfNeeded: value >> UInt64(shift * 8))) }
  }

  static func append(marker: UInt8, count: Int, to output: inout Data) {
    guard count >= 15 else { return output.append(marker | UInt8(count)) }
    output.append(marker | 0x0F)
    appendInteger(UInt64(count), to: &output)
  }

  /// The bytes of a value that is not a container.
  static func bytes(_ value: PropertyList) -> Data {
    var output = Data()
    append(value, to: &output)
    return output
  }

  static func append(_ value: PropertyList, to output: inout Data) {
    switch value {
    case .null: output.append(0x00)
    case .bool(let flag): output.append(flag ? 0x09 : 0x08)
    case .integer(let number): appendInteger(UInt64(bitPattern: number), to: &output)
    case .unsigned(let number) where number <= UInt64(Int64.max): appendInteger(number, to: &output)
    case .unsigned(let number):
      output.append(contentsOf: [0x14, 0, 0, 0, 0, 0, 0, 0, 0])
      append(number, width: 8, to: &output)
    case .real(let number):
      output.append(0x23)
      append(number.bitPattern, width: 8, to: &output)
    case .date(let seconds):
      output.append(0x33)
      append(seconds.bitPattern, width: 8, to: &output)
    case .data(let bytes):
      append(marker: 0x40, count: bytes.count, to: &output)
      output.append(bytes)
    case .string(let text): append(text, to: &output)
    case .uid(let number):
      let width = width(of: number)
      output.append(0x80 | UInt8(width - 1))
      append(number, width: width, to: &output)
    case .array, .dictionary: break
    }
  }

  private static func appendInteger(_ value: UInt64, to output: inout Data) {
    let width = width(of: value)
    output.append(0x10 | UInt8(width.trailingZeroBitCount))
    append(value, width: width, to: &output)
  }

  private static func append(_ text: String, to output: inout Data) {
    if text.utf8.allSatisfy({ $0 < 0x80 }) {
      append(marker: 0x50, count: text.utf8.count, to: &output)
      output.append(contentsOf: text.utf8)
    } else {
      append(marker: 0x60, count: text.utf16.count, to: &output)
      for unit in text.utf16 { append(UInt64(unit), width: 2, to: &output) }
    }
  }
}
