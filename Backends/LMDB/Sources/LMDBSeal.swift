#if LMDB
  import Foundation
  import StoreProtocol

  /// The seal of a file whose pages were all looked at, and since then were written by this program alone: the fraction
  /// of the second in the time of its last change.
  ///
  /// The fraction is made from the second, the file's number and size, and the two pages that say what the last state
  /// is. Whatever writes to the file sets another time, whatever copies it makes another file; that one of them meets
  /// the fraction by accident has a chance of one in 10^9. The seal is as durable as need be: a time that is lost is no
  /// seal. A sealed file need not be looked at again before it is mapped, but for once a week: what a disk forgets
  /// changes no time.
  enum LMDBSeal {
    private static let secondsOfTrust: Int64 = 7 * 24 * 3600

    /// Whether a file is as this program has left it; one that cannot be read, or is just being written, is not.
    /// Nothing changes: files opened to be read only can be asked.
    static func holds(_ file: LMDBFile) -> Bool { holding(file) != nil }

    /// The same, with the page that says what the last state is.
    static func holding(_ file: LMDBFile) -> LMDBMeta? {
      guard let metas = try? LMDBMeta.both(of: file), let times = try? file.times() else { return nil }
      let age = Int64(Date().timeIntervalSince1970) - times.secondsOfAnyChange
      return times.nanoseconds == fraction(file, metas, times) && abs(age) < secondsOfTrust ? metas.last : nil
    }

    /// Seals a file that its caller has locked exclusively and knows to be whole. Where that fails, or the file system
    /// keeps no such times, it is looked at when it is opened next.
    static func set(_ file: LMDBFile) {
      guard let metas = try? LMDBMeta.both(of: file), let times = try? file.times() else { return }
      file.setTime(times.seconds, fraction(file, metas, times))
    }

    /// Marks a file that is about to be looked at by a time of its own, which nobody else gives it; nil where it cannot
    /// be written, or somebody is just writing.
    static func mark(_ file: LMDBFile) -> LMDBFile.Times? {
      guard (try? file.lockExclusively(until: .distantPast)) != nil else { return nil }
      defer { file.unlock() }
      guard let times = try? file.times() else { return nil }
      file.setTime(times.seconds, Int64.random(in: 0..<1_000_000_000))
      return try? file.times()
    }

    /// Seals a file that was looked at and has the time of its mark still: nobody has written meanwhile.
    static func set(_ file: LMDBFile, markedBy mark: LMDBFile.Times) {
      guard (try? file.lockExclusively(until: .distantPast)) != nil else { return }
      defer { file.unlock() }
      guard let times = try? file.times(), times.seconds == mark.seconds, times.nanoseconds == mark.nanoseconds else {
        return
      }
      set(file)
    }

    private static func fraction(
      _ file: LMDBFile, _ metas: (last: LMDBMeta, former: LMDBMeta), _ times: LMDBFile.Times
    ) -> Int64 {
      var state: UInt64 = 0x6C6D_6462_7365_616C
      func add(_ word: UInt64) {
        state = (state ^ word) &* 0x9E37_79B9_7F4A_7C15
        state ^= state &>> 32
      }
      add(file.identity.inode)
      add(UInt64(bitPattern: times.size))
      add(UInt64(bitPattern: times.seconds))
      for meta in [metas.last, metas.former] {
        add(meta.commitNumber)
        add(meta.lastPage)
        for tree in [meta.main, meta.free] {
          add(tree.root ?? .max)
          add(tree.entries)
          add(tree.leafPages)
          add(tree.branchPages ^ UInt64(tree.depth) &<< 48)
          add(tree.overflowPages)
        }
      }
      return Int64(state % 1_000_000_000)
    }
  }
#endif
