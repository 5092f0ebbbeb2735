import Foundation

/// The item at a path (links are not followed), in enough detail to tell one content from another.
public struct FileStatus: Equatable, Sendable {
  /// The number of the file system.
  public let device: UInt64
  /// The number of the item in its file system.
  public let inode: UInt64
  /// Whether it is a regular file: a pipe blocks its reader, and a link may lead anywhere.
  public let isRegular: Bool
  /// Whether less than a hundredth of a large file is allocated. Reading all of it would take for ever, and a copy
  /// would fill the disk with zeros. File systems that compress real content do not reach this ratio.
  public let isHole: Bool
  /// In bytes.
  public let size: Int64
  /// When the content changed, in whole seconds since 1970.
  public let seconds: Int64
  /// When the content changed: the nanoseconds beyond ``seconds``.
  public let nanoseconds: Int64

  /// Nil where there is nothing, or nothing that may be looked at.
  public init?(_ path: String) {
    var status = stat()
    guard lstat(path, &status) == 0 else { return nil }
    self.init(status)
  }

  /// The status that the system has given.
  public init(_ status: stat) {
    isRegular = status.st_mode & S_IFMT == S_IFREG
    isHole = status.st_size > 1 << 28 && Int64(status.st_blocks) < Int64(status.st_size) / 512 / 100
    device = UInt64(truncatingIfNeeded: status.st_dev)
    inode = UInt64(truncatingIfNeeded: status.st_ino)
    size = Int64(status.st_size)
    #if canImport(Darwin)
      let time = status.st_mtimespec
    #else
      let time = status.st_mtim
    #endif
    (seconds, nanoseconds) = (Int64(time.tv_sec), Int64(time.tv_nsec))
  }

  /// False only where the system says that the file or folder at a path cannot be written.
  public static func mayBeWritten(_ path: String) -> Bool {
    faccessat(AT_FDCWD, path, W_OK, AT_EACCESS) == 0 || ![EACCES, EPERM, EROFS].contains(errno)
  }
}
