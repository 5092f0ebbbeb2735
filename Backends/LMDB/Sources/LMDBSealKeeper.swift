#if LMDB
  import Dispatch
  import StoreProtocol

  /// Keeps a file sealed that this process writes to; see ``LMDBSeal``.
  ///
  /// To ask for a file's time, or to set it, makes the next save write and flush one thing more. So of saves that
  /// follow each other quickly one a second is sealed, and the last one a second later or when the file is closed.
  /// Meanwhile the two pages that say what the last state is tell whether others have saved.
  ///
  /// Called by who has the file locked exclusively, one at a time.
  struct LMDBSealKeeper {
    /// How long a save may stay without a seal, in nanoseconds.
    static let delay: UInt64 = 1_000_000_000

    /// What the file said when the save under way began, where it was as this program had left it.
    private var whole: LMDBMeta?
    /// What the last save has left, where it is not sealed yet: its number, and what the file said before.
    private var left: (commitNumber: UInt64, former: LMDBMeta)?
    private var lastSeal: UInt64?
    /// Whether somebody will call ``seal(_:)``.
    private var isAwaited = false

    /// A save begins.
    mutating func begin(_ file: LMDBFile) {
      whole = left(in: file)
      if whole != nil { return }
      left = nil
      whole = LMDBSeal.holding(file)
    }

    private func left(in file: LMDBFile) -> LMDBMeta? {
      guard let left, let metas = try? LMDBMeta.both(of: file), metas.last.commitNumber == left.commitNumber,
        metas.former == left.former
      else { return nil }
      return metas.last
    }

    /// The save has ended: what was whole is whole. True where ``seal(_:)`` must be called after the delay.
    mutating func end(_ file: LMDBFile, commitNumber: UInt64) -> Bool {
      left = nil
      guard let whole else { return false }
      let now = DispatchTime.now().uptimeNanoseconds
      if let lastSeal, now - lastSeal < Self.delay {
        left = (commitNumber, whole)
        defer { isAwaited = true }
        return !isAwaited
      }
      LMDBSeal.set(file)
      lastSeal = now
      return false
    }

    /// Seals what the last save has left, where that is still there.
    mutating func seal(_ file: LMDBFile) {
      isAwaited = false
      guard left(in: file) != nil else { return }
      LMDBSeal.set(file)
      (left, lastSeal) = (nil, DispatchTime.now().uptimeNanoseconds)
    }

    /// A save has failed: whoever opens the file next looks at it.
    mutating func forget() { left = nil }
  }
#endif
