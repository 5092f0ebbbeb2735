import Foundation
import Synchronization

/// Tells a process from its copies made by `fork`. A copy has its parent's open files but not its locks, so it must not
/// use any of its parent's stores.
public enum ProcessCopy {
  private static let number = Atomic<Int>(0)

  private static let isWatched: Bool = {
    #if os(Windows)
      return false
    #else
      return pthread_atfork(nil, nil, { ProcessCopy.number.add(1, ordering: .relaxed) }) == 0
    #endif
  }()

  /// A number that differs between a process and its copy. A store keeps the number of the process that opened it.
  /// Where the current number is another one, the store leaves its open files alone, even when it is released.
  public static var current: Int { isWatched ? number.load(ordering: .relaxed) : 0 }
}
