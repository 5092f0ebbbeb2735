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
/// The checksum is over the key and everything behind it. The check of the key lets a verifier look at entries without
/// their content.
public enum KeyValueEntry {
  static let format: UInt8 = 2
  static let factHead = 16
  static let rowHead = 24

  /// Whether an entry can be what it seems, judged by its key and the first 24 bytes of its value (or all that it has);
  /// `count` is how many it has. For those who look at the medium itself: every lost, damaged or strayed key is found,
  /// and every damaged value without content.
  public static func isPlausible(
    _ space: KeySpace, _ key: UnsafeRawBufferPointer, _ start: UnsafeRawBufferPointer, count: Int
  ) -> Bool {
    switch space {
    case .facts:
      return count >= factHead && start.count >= factHead
        && start.integer(at: 8, as: UInt32.self).littleEndian == EntryChecksum.of(key)
    case .rows:
      return count >= rowHead && start.count >= rowHead
        && start.integer(at: 8, as: UInt32.self).littleEndian == EntryChecksum.of(key)
    case .links, .indexes:
      return start.count == count && (try? check(key, start)) != nil
    }
  }

  /// Throws `corrupt` where the checksum in front of a value is not that of the entry.
  static func check(_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) throws(StoreError) {
    guard value.count >= 8,
      value.integer(at: 0, as: UInt64.self).littleEndian
        == EntryChecksum.of(key, UnsafeRawBufferPointer(rebasing: value[8...]))
    else { throw damaged }
  }

  /// Puts the checksum in front of a value, whose first 8 bytes are free for it.
  static func seal(_ value: UnsafeMutableRawBufferPointer, _ key: UnsafeRawBufferPointer) {
    let rest = UnsafeRawBufferPointer(rebasing: value[8...])
    value.storeBytes(of: EntryChecksum.of(key, rest).littleEndian, as: UInt64.self)
  }

  static let damaged = StoreError(
    .corrupt,
    "An entry of the store does not have its checksum: the file was damaged. Work on a copy, or on a backup.")
}
