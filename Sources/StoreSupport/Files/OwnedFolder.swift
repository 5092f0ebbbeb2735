import Foundation
import StoreProtocol

/// An open folder that holds files of a store. All calls are relative to its descriptor, so that nobody can replace the
/// folder by another one, or by a link, meanwhile.
///
/// Only regular files and folders are removed. A device, a socket, a pipe or a symbolic link is never a store's own: it
/// stays, and the error `notAStore` names it.
public final class OwnedFolder: Sendable {
  /// The path by which the folder was opened.
  public let path: String
  private let descriptor: Int32
  private static let greatestDepth = 32

  /// Opens the folder at a path; links on the way are followed. Nil where there is none. Throws the
  /// error of the system where it cannot be opened.
  public convenience init?(_ path: String) throws(StoreError) {
    let descriptor = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    if descriptor < 0 {
      if errno == ENOENT || errno == ENOTDIR { return nil }
      throw StoreError.system("A folder of the store cannot be opened", path)
    }
    self.init(path, descriptor)
  }

  private init(_ path: String, _ descriptor: Int32) { (self.path, self.descriptor) = (path, descriptor) }

  deinit { _ = close(descriptor) }

  /// The folder `name` in this one, nil where there is nothing of that name. Throws `notAStore` for anything but a
  /// folder.
  public func folder(_ name: String) throws(StoreError) -> OwnedFolder? {
    let found = openat(descriptor, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
    if found >= 0 { return OwnedFolder(path + "/" + name, found) }
    switch errno {
    case ENOENT: return nil
    case ENOTDIR, ELOOP, EMLINK: throw foreign(name)
    default: throw StoreError.system("A folder of the store cannot be opened", path + "/" + name)
    }
  }

  /// The status of the item with the name, nil where there is none. Links are not followed.
  public func status(_ name: String) throws(StoreError) -> FileStatus? {
    var status = stat()
    if fstatat(descriptor, name, &status, AT_SYMLINK_NOFOLLOW) == 0 { return FileStatus(status) }
    if errno == ENOENT { return nil }
    throw StoreError.system("A file of the store cannot be looked at", path + "/" + name)
  }

  /// Throws `notAStore` where the item with the name is not a regular file.
  public func requireFile(_ name: String) throws(StoreError) {
    if let found = try status(name), !found.isRegular { throw foreign(name) }
  }

  /// Removes a regular file. False where there was nothing of that name. Throws `notAStore` for anything else, and the
  /// error of the system where the file cannot be removed; then it stays.
  @discardableResult
  public func removeFile(_ name: String) throws(StoreError) -> Bool {
    guard let found = try status(name) else { return false }
    if !found.isRegular { throw foreign(name) }
    if unlinkat(descriptor, name, 0) == 0 { return true }
    if errno == ENOENT { return false }
    throw StoreError.system("A file of the store cannot be removed", path + "/" + name)
  }

  /// Removes an empty folder. Does nothing where the folder is missing or not empty.
  public func removeEmptyFolder(_ name: String) { _ = unlinkat(descriptor, name, AT_REMOVEDIR) }

  /// Makes the names in this folder durable. After an error it is unknown which names are.
  public func synchronize() throws(StoreError) {
    guard fsync(descriptor) == 0 else { throw StoreError.system("A folder of the store cannot be synced", path) }
  }

  // MARK: Locks

  /// Locks the folder while it is open. Returns 0, `EWOULDBLOCK` where another descriptor has the lock, or another
  /// `errno` where folders cannot be locked.
  public func lock() -> Int32 { flock(descriptor, LOCK_EX | LOCK_NB) == 0 ? 0 : errno }

  /// Whether the folder still exists, that is, nobody has removed it.
  public var hasName: Bool {
    var status = stat()
    return fstat(descriptor, &status) == 0 && status.st_nlink > 0
  }

  /// Whether the folder belongs to the user of this process.
  public var isOfThisUser: Bool {
    var status = stat()
    return fstat(descriptor, &status) == 0 && status.st_uid == geteuid()
  }

  // MARK: Whole trees

  /// Throws `notAStore` where the tree below `name` holds anything but regular files and folders.
  public func requireTree(_ name: String) throws(StoreError) { try walk(name, removes: false) }

  /// Removes the folder `name` and everything below it. A missing folder is no error. Throws `notAStore` at the first
  /// item that is neither a regular file nor a folder; it stays, with the folders around it.
  public func removeTree(_ name: String) throws(StoreError) { try walk(name, removes: true) }

  private func walk(_ name: String, removes: Bool) throws(StoreError) {
    guard let root = try folder(name) else { return }
    // The folders on the current path, the deepest last, each with its name and the names in it that remain.
    var open = [(folder: root, name: name, left: try root.names())]
    var again = 100
    while let index = open.indices.last {
      let folder = open[index].folder
      if let next = open[index].left.popLast() {
        if try !folder.isFolder(next) {
          if removes { try folder.removeFile(next) } else { try folder.requireFile(next) }
        } else if open.count == Self.greatestDepth {
          throw folder.foreign(next)
        } else if let inner = try folder.folder(next) {
          open.append((inner, next, try inner.names()))
        }
        continue
      }
      let name = open[index].name
      let parent = index > 0 ? open[index - 1].folder : self
      if removes, unlinkat(parent.descriptor, name, AT_REMOVEDIR) != 0, errno != ENOENT {
        let error = StoreError.system("A folder of the store cannot be removed", folder.path)
        // Somebody has added a file meanwhile.
        if errno != ENOTEMPTY || again == 0 { throw error }
        again -= 1
        open[index].left = try folder.names()
        continue
      }
      open.removeLast()
    }
  }

  private func isFolder(_ name: String) throws(StoreError) -> Bool {
    var status = stat()
    if fstatat(descriptor, name, &status, AT_SYMLINK_NOFOLLOW) == 0 { return status.st_mode & S_IFMT == S_IFDIR }
    if errno == ENOENT { return false }
    throw StoreError.system("A file of the store cannot be looked at", path + "/" + name)
  }

  /// The names of the items in the folder, in no order.
  public func names() throws(StoreError) -> [String] {
    // A new description reads from the beginning.
    let copy = openat(descriptor, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard copy >= 0, let stream = fdopendir(copy) else {
      let error = StoreError.system("A folder of the store cannot be read", path)
      if copy >= 0 { _ = close(copy) }
      throw error
    }
    defer { closedir(stream) }
    var names: [String] = []
    while let entry = readdir(stream) {
      // An entry ends with its name, so it is shorter than its type.
      guard let offset = MemoryLayout<dirent>.offset(of: \.d_name) else { break }
      let name = String(cString: (UnsafeRawPointer(entry) + offset).assumingMemoryBound(to: UInt8.self))
      if name != "." && name != ".." { names.append(name) }
    }
    return names
  }

  private func foreign(_ name: String) -> StoreError {
    StoreError(
      .notAStore,
      "The URL leads to something other than a regular file or a folder of the store. It was not removed or replaced. Move it away, or choose another URL.",
      context: ["path": path + "/" + name])
  }
}
