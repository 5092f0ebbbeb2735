import CSQLite
import Foundation

/// A way for SQLite to open a database through a symbolic link, and to look for its log beside the link.
///
/// SQLite itself names the files beside a database after what a link leads to. This is its usual access to files with one function
/// changed: a path is taken as it is. So a copy of a log can be read together with a database that nobody has to copy.
enum SQLiteLinkedFiles {
  /// The name by which a connection asks for it, nil where SQLite does not have its usual access to files.
  static let name: String? = isRegistered ? text : nil

  private static let text = "opencoredata-links"

  private static let isRegistered: Bool = {
    guard let usual = sqlite3_vfs_find("unix") else { return false }
    // SQLite keeps both as long as the process lives.
    let access = UnsafeMutablePointer<sqlite3_vfs>.allocate(capacity: 1)
    access.initialize(to: usual.pointee)
    access.pointee.zName = UnsafePointer(strdup(text))
    access.pointee.pNext = nil
    access.pointee.xFullPathname = { _, path, size, result in
      guard let path, let result, strlen(path) < Int(size) else { return SQLITE_CANTOPEN }
      strcpy(result, path)
      return SQLITE_OK
    }
    return sqlite3_vfs_register(access, 0) == SQLITE_OK
  }()
}
