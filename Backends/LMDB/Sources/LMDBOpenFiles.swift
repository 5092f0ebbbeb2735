#if LMDB
  import Foundation
  import StoreProtocol
  import Synchronization

  /// The environments that this process has open, one for each file. LMDB forbids two of one file, because their locks
  /// would not see each other.
  enum LMDBOpenFiles {
    struct Key: Hashable {
      let identity: LMDBFile.Identity
      let isReadOnly: Bool
    }

    private static let environments = Mutex<[Key: (environment: LMDBEnvironment, users: Int)]>([:])

    /// The environment of a file, opened by `open` where there is none. Balance each call with ``release(_:)``.
    static func environment(
      _ key: Key, _ open: () throws(StoreError) -> LMDBEnvironment
    ) throws(StoreError) -> LMDBEnvironment {
      try environments.withLock { (environments) throws(StoreError) in
        if let known = environments[key], known.environment.belongsToProcess {
          environments[key] = (known.environment, known.users + 1)
          return known.environment
        }
        // Environments of a parent process must not be closed here, so they are left as they are.
        let environment = try open()
        environments[key] = (environment, 1)
        return environment
      }
    }

    /// Closes the environment that nobody uses any more, before anybody can open the file again.
    static func release(_ environment: LMDBEnvironment) {
      environments.withLock { environments in
        guard let known = environments[environment.key], known.environment === environment else { return }
        if known.users > 1 {
          environments[environment.key] = (environment, known.users - 1)
        } else {
          environments[environment.key] = nil
          environment.close()
        }
      }
    }

    /// Whether this process has the file open.
    static func isOpen(_ identity: LMDBFile.Identity) -> Bool {
      environments.withLock { environments in environments.keys.contains { $0.identity == identity } }
    }
  }
#endif
