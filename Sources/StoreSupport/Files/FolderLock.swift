import Foundation
import StoreProtocol

/// A lock on the folder of a store. Hold it while making, replacing or removing the store's file.
public struct FolderLock: ~Copyable {
  private let descriptor: Int32

  /// Waits up to `timeout` seconds for the folder of the file at `path`, then throws `busy`.
  public init(_ path: String, timeout: Double) throws(StoreError) {
    // Needs a file description of its own: locks of one description do not exclude each other.
    let folder = URL(fileURLWithPath: path).deletingLastPathComponent().path
    let descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    if descriptor < 0 { throw StoreError.system("The folder of the store cannot be opened", path) }
    let deadline = Date(timeIntervalSinceNow: timeout)
    while flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
      let number = errno
      if number != EWOULDBLOCK && number != EINTR || Date() > deadline {
        _ = close(descriptor)
        if number != EWOULDBLOCK { throw StoreError.system(number, "The folder of the store cannot be locked", path) }
        throw StoreError(
          .busy, "Another writer holds the folder of the store; try again.", context: ["path": path])
      }
      usleep(2000)
    }
    self.descriptor = descriptor
  }

  /// The same; nil where the file system has no locks, or the folder cannot be opened.
  public static func ifPossible(_ path: String, timeout: Double) throws(StoreError) -> FolderLock? {
    do throws(StoreError) { return try FolderLock(path, timeout: timeout) } catch {
      if error.code == .busy { throw error }
      return nil
    }
  }

  deinit { _ = close(descriptor) }
}
