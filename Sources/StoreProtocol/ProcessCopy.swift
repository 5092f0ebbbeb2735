import Foundation
import Synchronization

/// Which copy of a process this is. A process that was made by `fork` has what its parent had open, but not its locks:
/// none of its stores may be used there.
package enum ProcessCopy {
  private static let number = Atomic<Int>(0)

  private static let isWatched: Bool = {
    #if os(Windows)
      return false
    #else
      return pthread_atfork(nil, nil, { ProcessCopy.number.add(1, ordering: .relaxed) }) == 0
    #endif
  }()

  /// Another number in a process than in the one that it is a copy of.
  package static var current: Int { isWatched ? number.load(ordering: .relaxed) : 0 }
}
