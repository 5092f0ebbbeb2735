import Foundation
import StoreSupport

extension NSPersistentStore {
  /// The store's identifier and its files with their sizes and times: equal ones mean the same content.
  ///
  /// Nil for a store that reads its files only once, and for one whose files may change without a sign: those of client
  /// classes, and files that have changed in the last two seconds, because a second change may leave the time as it is.
  var fileState: String? {
    guard readsRows, custom == nil, let url = location, let identifier else { return nil }
    let now = Int64(Date().timeIntervalSince1970)
    var parts = [identifier, url.path]
    for path in ["", "-wal", "-journal", "/data.mdb"].map({ url.path + $0 }) {
      guard let status = FileStatus(path), status.isRegular, status.size > 0 else { continue }
      if status.seconds + 2 >= now { return nil }
      parts.append("\(path) \(status.inode) \(status.size) \(status.seconds).\(status.nanoseconds)")
    }
    return parts.count > 2 ? parts.joined(separator: "\u{1}") : nil
  }
}
