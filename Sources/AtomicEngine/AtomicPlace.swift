import StoreProtocol
import Synchronization

/// What the open stores of one file have in common: whether the store that is there is still theirs.
///
/// A file is another one after each save, so that the stores of this process are known by the place. Whoever removes a
/// store or puts another one there ends the place while no save runs, also where the other one is a former copy with
/// the same UUID: its rows are others under the same keys.
final class AtomicPlace: Sendable {
  struct Key: Hashable {
    private let device: UInt64
    private let inode: UInt64
    private let name: String

    init(folder: FileStatus, name: String) { (device, inode, self.name) = (folder.device, folder.inode, name) }
  }

  private struct WeakPlace: Sendable {
    weak let place: AtomicPlace?
  }

  private static let all = Mutex<[Key: WeakPlace]>([:])

  private let path: String
  private let isOver = Atomic<Bool>(false)

  private init(_ path: String) { self.path = path }

  /// The place of a file that is being opened.
  static func of(_ file: AtomicFile) -> AtomicPlace {
    guard let key = file.place else { return AtomicPlace(file.path) }
    return all.withLock { all in
      if let place = all[key]?.place { return place }
      let place = AtomicPlace(file.path)
      // Those that nobody has open any more go here, where another one comes.
      all = all.filter { $0.value.place != nil }
      all[key] = WeakPlace(place: place)
      return place
    }
  }

  /// Lets the open stores know. Called under the lock of the file's folder.
  static func endAll(_ key: Key?) {
    guard let key else { return }
    let place = all.withLock { all in all.removeValue(forKey: key)?.place }
    place?.isOver.store(true, ordering: .releasing)
  }

  /// Throws `replaced` where the store is not there any more.
  func require() throws(StoreError) {
    if isOver.load(ordering: .acquiring) { throw .replaced(path) }
  }
}
