import StoreProtocol
import StoreSupport
import Synchronization

/// Shared by all open stores of one file: whether the file is still their store.
///
/// Each save makes a new file, so stores are identified by folder and name. A writer that removes the store, or
/// replaces it with another one, ends the shared object while no save runs. A replacement with a former copy ends it,
/// too: that has the same UUID, but other rows under the same keys.
final class AtomicLocation: Sendable {
  struct Key: Hashable {
    private let device: UInt64
    private let inode: UInt64
    private let name: String

    init(folder: FileStatus, name: String) { (device, inode, self.name) = (folder.device, folder.inode, name) }
  }

  private struct WeakLocation: Sendable {
    weak let location: AtomicLocation?
  }

  private static let all = Mutex<[Key: WeakLocation]>([:])

  private let path: String
  private let isOver = Atomic<Bool>(false)

  private init(_ path: String) { self.path = path }

  /// The shared object of a file that is being opened.
  static func of(_ file: AtomicFile) -> AtomicLocation {
    guard let key = file.location else { return AtomicLocation(file.path) }
    return all.withLock { all in
      if let location = all[key]?.location { return location }
      let location = AtomicLocation(file.path)
      // Entries without open stores are removed when a new one is added.
      all = all.filter { $0.value.location != nil }
      all[key] = WeakLocation(location: location)
      return location
    }
  }

  /// Marks the open stores as replaced. Called under the lock of the folder.
  static func endAll(_ key: Key?) {
    guard let key else { return }
    let location = all.withLock { all in all.removeValue(forKey: key)?.location }
    location?.isOver.store(true, ordering: .releasing)
  }

  /// Throws `replaced` where the store was removed or replaced.
  func require() throws(StoreError) {
    if isOver.load(ordering: .acquiring) { throw .replaced(path) }
  }
}
