import Foundation
import StoreProtocol

/// The forms of values. All integers are little-endian.
///
/// - facts: checksum (8 bytes), check of the key (4), format (4), content
/// - rows: checksum (8), check of the key (4), format and entity (1 and 3), version (8), packed bytes
/// - links: checksum (8), then the destinations (8 each), in ordered relationships each with its order (8); see
///   ``LinkBlock``
/// - links back from one-way links: checksum (8), owner (8)
/// - indexes: checksum (8)
///
/// The checksum covers the key and everything behind the checksum. The check of the key does not cover the content,
/// which may be large; see ``hasOwnKey(_:_:_:)``.
public enum KeyValueEntry {
  static let format: UInt8 = 2
  static let factHead = 16
  static let rowHead = 24

  /// Whether an entry has the key that it was written with. For rows and facts this reads only the check of the key;
  /// the rest of the value may be damaged. For media whose searches a damaged key can misdirect.
  public static func hasOwnKey(
    _ space: KeySpace, _ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer
  ) -> Bool {
    switch space {
    case .facts, .rows:
      return value.count >= factHead
        && value.integer(at: 8, as: UInt32.self).littleEndian == EntryChecksum.of(key)
    case .links, .indexes: return (try? check(key, value)) != nil
    }
  }

  /// Throws `corrupt` where the checksum in front of a value is not that of the entry.
  public static func check(_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) throws(StoreError) {
    guard value.count >= 8,
      value.integer(at: 0, as: UInt64.self).littleEndian
        == EntryChecksum.of(key, UnsafeRawBufferPointer(rebasing: value[8...]))
    else { throw damaged }
  }

  /// Writes the checksum into the first 8 bytes of a value, which are reserved for it.
  static func seal(_ value: UnsafeMutableRawBufferPointer, _ key: UnsafeRawBufferPointer) {
    let rest = UnsafeRawBufferPointer(rebasing: value[8...])
    value.storeBytes(of: EntryChecksum.of(key, rest).littleEndian, as: UInt64.self)
  }

  static let damaged = StoreError(
    .corrupt,
    "An entry of the store does not have its checksum: the file was damaged. Work on a copy, or on a backup.")
}
