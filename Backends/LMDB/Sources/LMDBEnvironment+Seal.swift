#if LMDB
  import Dispatch
  import Foundation
  import StoreProtocol

  extension LMDBEnvironment {
    /// After a commit, before ``endWriting()``.
    func sealAgain(_ commitNumber: UInt64) {
      guard sealing.end(file, commitNumber: commitNumber) else { return }
      let delay = DispatchTimeInterval.nanoseconds(Int(LMDBSealKeeper.delay))
      DispatchQueue.global(qos: .utility).asyncAfter(deadline: .now() + delay) { [weak self] in self?.seal() }
    }

    /// Seals what the last commit has left. Where somebody has the file locked the next commit does so, or who closes
    /// the file.
    func seal() {
      guard belongsToProcess, !isReadOnly, writing.try() else { return }
      defer { writing.unlock() }
      guard (try? file.lockExclusively(until: .distantPast)) != nil else { return }
      defer { file.unlock() }
      sealing.seal(file)
    }
  }
#endif
