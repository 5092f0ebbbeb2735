import Foundation
import StoreProtocol

/// A checksum over a whole file, in the metadata that the file itself carries: a text of fixed length, which counts as
/// zeros while the sum is made.
///
/// CRC-64 finds every change of up to eight bytes in a row, and all but one in 2^64 of the others. It protects from
/// damage, not from intent.
public enum AtomicChecksum {
  /// The key in the metadata, which Apple's readers do not know and leave alone.
  public static let key = "OpenCoreDataChecksum"
  /// The value before the sum is known.
  public static let placeholder = prefix + String(repeating: "0", count: digits)

  private static let prefix = "crc64-of-all-other-bytes:"
  private static let digits = 16

  /// How many bytes the text has.
  static let textSize = prefix.utf8.count + digits

  /// What a file says of its sum, and where.
  struct Seal {
    let place: Int
    let text: Data

    /// Whether it is the sum of the file's bytes, which are all in `sum`, these too.
    func isOf(_ sum: CRC64, fileSize: Int) -> Bool {
      let behind = fileSize - place - digits
      guard behind >= 0 else { return false }
      // As if there were zeros in its place.
      var sum = sum
      sum.change(by: Data(text.map { $0 ^ UInt8(ascii: "0") }), before: Int64(behind))
      return text.elementsEqual(AtomicChecksum.text(sum).utf8)
    }
  }

  static let damaged = StoreError(
    .corrupt,
    "The file's checksum is not that of its bytes: it was damaged, or another program has rewritten it. Work on a copy, or on a backup."
  )

  /// Where the sum stands: users' data may have the same text, so that the format says whether it comes first or last.
  static func place(in bytes: Data, isLast: Bool) -> Range<Data.Index>? {
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
