import Foundation
import StoreProtocol
import Synchronization

/// A folder for this process alone, removed when nobody needs it any more.
///
/// The folder to use is inside a folder that the process holds a lock on, because making a store locks the store's own
/// folder.
/// - A killed process leaves its folders. The next process that opens a store or makes such a folder removes each
///   folder whose lock is free.
/// - Folders of other users stay, and so does anything that is neither a regular file nor a folder.
public final class TemporaryFolder: Sendable {
  /// The folder to use.
  public let url: URL
  private let name: String
  private let parent: OwnedFolder
  private let folder: OwnedFolder
  /// A forked copy of the process must not remove its parent's files.
  private let process = ProcessCopy.current
  private let isRemoved = Atomic<Bool>(false)

  /// Makes a folder in the system's temporary directory. Throws the error of the system where none can be made.
  public convenience init() throws(StoreError) {
    Self.sweepOnce()
    let directory = FileManager.default.temporaryDirectory
    try? FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    try self.init(in: directory.path, prefix: Self.prefix)
  }

  /// Makes a folder beside the file at `url`. Its name begins with a full stop and the name of the file. Folders that
  /// killed processes left there are removed first. Throws the error of the system where no folder can be made.
  public convenience init(beside url: URL, for purpose: String) throws(StoreError) {
    let (parent, prefix) = (url.deletingLastPathComponent().path, Self.prefix(url, purpose))
    Self.sweep(parent, prefix)
    try self.init(in: parent, prefix: prefix)
  }

  /// Removes such folders beside the file at `url`, left by killed processes or a loss of power.
  public static func removeLeft(beside url: URL, for purpose: String) {
    sweep(url.deletingLastPathComponent().path, prefix(url, purpose))
  }

  private static func prefix(_ url: URL, _ purpose: String) -> String { ".\(url.lastPathComponent).\(purpose)-" }

  private init(in path: String, prefix: String) throws(StoreError) {
    guard let parent = try OwnedFolder(path) else {
      throw StoreError.system(ENOENT, "No temporary folder can be made", path)
    }
    while true {
      let name = prefix + UUID().uuidString
      if mkdir(path + "/" + name, 0o700) != 0 { throw StoreError.system("No temporary folder can be made", path) }
      let made: OwnedFolder?
      do throws(StoreError) { made = try parent.folder(name) } catch {
        parent.removeEmptyFolder(name)
        throw error
      }
      // A sweep at this moment may be faster, and take the new folder for one that was left.
      if let folder = made, folder.lock() != EWOULDBLOCK, folder.hasName {
        (self.parent, self.name, self.folder) = (parent, name, folder)
        url = URL(fileURLWithPath: path).appendingPathComponent(name).appendingPathComponent("files")
        if mkdir(url.path, 0o700) != 0 { throw StoreError.system("No temporary folder can be made", url.path) }
        return
      }
    }
  }

  deinit { remove() }

  /// Removes the folder with everything in it. Safe to call twice. Files that cannot be removed are never opened again.
  public func remove() {
    if process != ProcessCopy.current || isRemoved.exchange(true, ordering: .relaxed) { return }
    try? parent.removeTree(name)
  }

  // MARK: Folders left behind

  private static let prefix = "OpenCoreData-"

  /// Removes the folders that killed processes left in the temporary directory. Runs once in a process.
  public static func sweepOnce() { _ = isSwept }

  private static let isSwept: Bool = {
    sweep(FileManager.default.temporaryDirectory.path, prefix)
    return true
  }()

  private static func sweep(_ path: String, _ prefix: String) {
    guard let parent = try? OwnedFolder(path), let names = try? parent.names() else { return }
    for name in names where name.hasPrefix(prefix) && UUID(uuidString: String(name.dropFirst(prefix.count))) != nil {
      guard let folder = try? parent.folder(name), folder.isOfThisUser, folder.lock() == 0 else { continue }
      try? parent.removeTree(name)
    }
  }
}
