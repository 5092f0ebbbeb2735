import Foundation
import StoreProtocol
import StoreSupport

/// A checksum of a whole file. It stands in the metadata of the file as a text of fixed length. The digits of this text
/// count as zeros while the checksum is computed.
///
/// CRC-64 finds every change of up to eight bytes in a row. It misses one in 2^64 of all other changes. It detects
/// damage; it does not detect changes that somebody made on purpose.
public enum AtomicChecksum {
  /// The metadata key. Apple's readers ignore it and keep it.
  public static let key = "OpenCoreDataChecksum"
  /// The value before the sum is known.
  public static let placeholder = prefix + String(repeating: "0", count: digits)

  private static let prefix = "crc64-of-all-other-bytes:"
  private static let digits = 16

  /// The size of the text in bytes.
  static let textSize = prefix.utf8.count + digits

  /// The checksum text of a file, and the offset of its digits.
  struct Seal {
    let location: Int
    let text: Data

    /// Whether the text is the checksum of the file. `sum` covers all bytes of the file, the digits included.
    func isOf(_ sum: CRC64, fileSize: Int) -> Bool {
      let behind = fileSize - location - digits
      guard behind >= 0 else { return false }
      // Computes the sum as if the digits were zeros.
      var sum = sum
      sum.change(by: Data(text.map { $0 ^ UInt8(ascii: "0") }), before: Int64(behind))
      return text.elementsEqual(AtomicChecksum.text(sum).utf8)
    }
  }

  static let damaged = StoreError(
    .corrupt,
    "The file's checksum is not that of its bytes: it was damaged, or another program has rewritten it. Work on a copy, or on a backup."
  )

  /// The range of the digits. User data may contain the same text, so the caller says whether the first or the last one
  /// counts: the first where the metadata precedes the objects.
  static func location(in bytes: Data, isLast: Bool) -> Range<Data.Index>? {
    guard let found = bytes.range(of: Data(prefix.utf8), options: isLast ? .backwards : []),
      found.upperBound + digits <= bytes.endIndex
    else { return nil }
    return found.upperBound..<found.upperBound + digits
  }

  static func text(_ sum: CRC64) -> String {
    let hex = String(sum.value, radix: 16)
    return String(repeating: "0", count: digits - hex.count) + hex
  }
}
