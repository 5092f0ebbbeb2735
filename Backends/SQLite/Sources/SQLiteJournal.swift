import Foundation
import StoreProtocol

/// A rollback journal that was left behind: the next connection to the database applies it ([the rollback journal's
/// format](https://www.sqlite.org/fileformat.html#the_rollback_journal)).
enum SQLiteJournal {
  private static let magic = Data([0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7])

  /// Throws where rolling back would do more than restore pages of this database, which has `room` bytes together with
  /// its journal. It could also remove the file that the journal names as the journal of a transaction over several
  /// databases, or make the database larger than it can have been.
  static func requireOwn(_ path: String, room: Int64) throws(StoreError) {
    let (head, tail) = try ends(path)
    // Without it SQLite ignores the journal.
    guard head.starts(with: magic), head.count == 28 else { return }
    let pages = Int64(bigEndian(head, 16))
    let pageSize = Int64(bigEndian(head, 24))
    if tail == magic || pageSize > 1 << 16 || pages * pageSize > room {
      throw StoreError(
        .corrupt, "The rollback journal beside the store belongs to another store. Move it away.",
        context: ["path": path])
    }
  }

  /// The first 28 and the last 8 bytes.
  private static func ends(_ path: String) throws(StoreError) -> (Data, Data) {
    do {
      let file = try FileHandle(forReadingFrom: URL(fileURLWithPath: path))
      defer { try? file.close() }
      let head = try file.read(upToCount: 28) ?? Data()
      let end = try file.seekToEnd()
      try file.seek(toOffset: end - min(end, 8))
      return (head, try file.read(upToCount: 8) ?? Data())
    } catch {
      throw StoreError(
        .io, "The store's journal cannot be read. Check its permissions.", context: ["path": path], cause: "\(error)")
    }
  }

  private static func bigEndian(_ data: Data, _ offset: Int) -> UInt32 {
    data[offset..<offset + 4].reduce(0) { $0 << 8 | UInt32($1) }
  }
}
