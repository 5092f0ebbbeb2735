import Foundation
import StoreSchema

/// Parses attribute values from text into rows.
///
/// Used by one caller at a time.
final class XMLValueReader {
  let builder = RowBuilder()
  /// A buffer that is reused for each value.
  private var bytes: [UInt8] = []

  /// Parses a text and sets the slot. Returns false if the text is no value of this kind.
  func set(_ slot: Int, _ kind: SlotKind, _ content: UnsafeRawBufferPointer) -> Bool {
    switch kind {
    case .string, .uri: setText(slot, content)
    case .int16: return set(slot, content, in: Int64(Int16.min)...Int64(Int16.max))
    case .int32: return set(slot, content, in: Int64(Int32.min)...Int64(Int32.max))
    case .int64: return set(slot, content, in: .min ... .max)
    case .double, .date:
      guard let number = XMLNumber.double(content), !number.isNaN else { return false }
      builder.setDouble(slot, number)
    case .data, .transformable: return setData(slot, content, after: [])
    case .externalData: return setData(slot, content, after: [1])
    case .uuid:
      guard let uuid = XMLBinary.uuid(content) else { return false }
      withUnsafeBytes(of: uuid) { builder.setBytes(slot, $0) }
    case .bool:
      guard let value = Self.bool(XMLNumber.trimmed(content)) else { return false }
      builder.setInt(slot, value ? 1 : 0)
    case .float:
      guard let number = Float(String(decoding: XMLNumber.trimmed(content), as: UTF8.self)), !number.isNaN else {
        return false
      }
      builder.setDouble(slot, Double(number))
    case .decimal:
      guard let number = DecimalText.parse(XMLNumber.trimmed(content)) else { return false }
      builder.set(slot, .decimal(number))
    case .reference, .referenceEntity: return false
    }
    return true
  }

  private func setText(_ slot: Int, _ content: UnsafeRawBufferPointer) {
    if let start = content.baseAddress, memchr(start, Int32(UInt8(ascii: "\\")), content.count) != nil {
      builder.setString(slot, XMLText.unescaped(content))
    } else {
      builder.setBytes(slot, content)
    }
  }

  private func set(_ slot: Int, _ content: UnsafeRawBufferPointer, in range: ClosedRange<Int64>) -> Bool {
    guard let number = XMLNumber.integer(content), range.contains(number) else { return false }
    builder.setInt(slot, number)
    return true
  }

  private func setData(_ slot: Int, _ content: UnsafeRawBufferPointer, after first: [UInt8]) -> Bool {
    // Taken out for the call: see decision 075.
    var bytes = bytes
    self.bytes = []
    defer { self.bytes = bytes }
    bytes.replaceSubrange(..<min(first.count, bytes.count), with: first)
    guard let end = XMLBinary.decode(content, into: &bytes, from: first.count) else { return false }
    bytes.withUnsafeBytes { builder.setBytes(slot, UnsafeRawBufferPointer(rebasing: $0[..<end])) }
    return true
  }

  private static func bool(_ text: UnsafeRawBufferPointer) -> Bool? {
    if text.count == 1 { return text[0] == UInt8(ascii: "1") ? true : text[0] == UInt8(ascii: "0") ? false : nil }
    let text = String(decoding: text, as: UTF8.self)
    return text == "true" ? true : text == "false" ? false : nil
  }
}
