import Foundation

/// What lies at a path, links not followed, as far as it tells one content from another.
package struct FileStatus: Equatable, Sendable {
  package let device: UInt64
  package let inode: UInt64
  /// Whether it is a file: a pipe would make its reader wait, and a link may lead anywhere.
  package let isRegular: Bool
  /// Whether less than a hundredth of a large file is there: to read it all would take for ever, and a copy would fill
  /// the disk with zeros. A file system that compresses real content does not get there.
  package let isHole: Bool
  package let size: Int64
  /// When the content changed: seconds and nanoseconds since 1970.
  package let seconds: Int64
  package let nanoseconds: Int64

  /// Nil where there is nothing, or nothing that may be looked at.
  package init?(_ path: String) {
    var status = stat()
    guard lstat(path, &status) == 0 else { return nil }
    self.init(status)
  }

  package init(_ status: stat) {
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

  /// Whether the file or folder at a path can be written, as far as the system tells: false where it says that it
  /// cannot.
  package static func mayBeWritten(_ path: String) -> Bool {
    faccessat(AT_FDCWD, path, W_OK, AT_EACCESS) == 0 || ![EACCES, EPERM, EROFS].contains(errno)
  }
}
