import Foundation
import StoreProtocol
import Synchronization

/// The files on which this process has POSIX locks: databases that SQLite has open, by device and inode.
///
/// The system drops such locks as soon as the process closes *any* descriptor of the file, whoever opened it. So only
/// SQLite opens these files. Nothing else does, not even to find out the kind of a file.
public enum LockedFiles {
  /// A file, whatever names it has.
  public struct Identity: Hashable, Sendable {
    let device: UInt64
    let inode: UInt64

    /// The file at a path, links followed. Nil where there is none.
    public init?(_ path: String) {
      var status = stat()
      guard stat(path, &status) == 0 else { return nil }
      self.init(status)
    }

    fileprivate init(_ status: stat) {
      device = UInt64(truncatingIfNeeded: status.st_dev)
      inode = UInt64(truncatingIfNeeded: status.st_ino)
    }
  }

  /// Held while such a file is opened or closed. Recursive, because a copy opens its target while it holds the source.
  public static let lock = NSRecursiveLock()
  /// Used while `lock` is held, so that the number of a file belongs to what the caller does with it.
  private static let counts = Mutex<[Identity: Int]>([:])

  /// Notes that the process has opened a file once more.
  public static func add(_ file: Identity) { lock.withLock { counts.withLock { $0[file, default: 0] += 1 } } }

  /// Notes that the process has closed a file that was added.
  public static func remove(_ file: Identity) {
    lock.withLock {
      counts.withLock { counts in
        let count = (counts[file] ?? 1) - 1
        counts[file] = count > 0 ? count : nil
      }
    }
  }

  /// Whether the file at a path is in the list.
  public static func contains(_ path: String) -> Bool {
    lock.withLock {
      let counts = counts.withLock { $0 }
      return !counts.isEmpty && Identity(path).map { counts[$0] != nil } ?? false
    }
  }

  /// A file that this process has open and that is not in the list: another library may have locks on it.
  public enum Unlisted {
    /// A database, or a file that may be or become one: it is empty, or can only be written.
    case database
    /// Any other file.
    case other
  }

  /// Nil where the process has not opened the file, or the file is in the list.
  public static func unlisted(_ path: String) -> Unlisted? {
    lock.withLock {
      guard let file = Identity(path), counts.withLock({ $0[file] }) == nil else { return nil }
      let opened = descriptors(of: file) ?? []
      if opened.isEmpty { return nil }
      return opened.contains { header($0).map { !$0.isEmpty && $0 != databaseHeader } ?? false } ? .other : .database
    }
  }

  /// The descriptors that this process has of a file; nil where the system does not say.
  private static func descriptors(of file: Identity) -> [Int32]? {
    guard let numbers = try? FileManager.default.contentsOfDirectory(atPath: "/dev/fd") else { return nil }
    return numbers.compactMap { Int32($0) }.filter { number in
      var status = stat()
      return fstat(number, &status) == 0 && Identity(status) == file
    }
  }

  /// The descriptor that `open` returns for a file of another kind, below 0 where it fails. Throws `notAStore` for an
  /// SQLite database, which stays as it is.
  public static func opening(_ path: String, _ open: () -> Int32) throws(StoreError) -> Int32 {
    let found: Int32? = lock.withLock {
      // A new file may have the inode of a file that another thread has closed and not yet taken off the list.
      if contains(path), let file = Identity(path), descriptors(of: file)?.isEmpty != true { return nil }
      let file = open()
      if file < 0 { return file }
      if header(file) != databaseHeader { return file }
      _ = close(file)
      return nil
    }
    guard let found else {
      throw StoreError(.notAStore, "The file is an SQLite database.", context: ["path": path])
    }
    return found
  }

  private static let databaseHeader = Array("SQLite format 3\0".utf8)

  /// The first bytes of a file, as many as a database's header has; nil where they cannot be read.
  private static func header(_ file: Int32) -> [UInt8]? {
    var bytes = [UInt8](repeating: 0, count: databaseHeader.count)
    let count = pread(file, &bytes, bytes.count, 0)
    return count < 0 ? nil : Array(bytes.prefix(count))
  }
}
