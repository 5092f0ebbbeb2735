#if LMDB
  import CPosix
  import Foundation
  import StoreProtocol
  import StoreSupport
  import Synchronization

  /// A store file as bytes, beside LMDB: its locks, its size, and the two pages that name the last state.
  ///
  /// A writer holds the exclusive lock of the file. A reader without an entry in LMDB's lock file holds the shared
  /// lock. The locks end with their process, can be waited for with a timeout, and leave no trace. LMDB itself locks
  /// only its lock file, so closing this descriptor releases none of LMDB's locks.
  final class LMDBFile: Sendable {
    let path: String
    let descriptor: Int32
    let identity: Identity
    /// How many users hold the shared lock.
    private let sharers = Mutex(0)

    struct Identity: Hashable {
      let device: UInt64
      let inode: UInt64

      init(_ status: FileStatus) { (device, inode) = (status.device, status.inode) }

      /// Nil where there is no file. Does not read times, which would cost the next save one more write.
      init?(_ path: String) {
        var (device, inode) = (UInt64(0), UInt64(0))
        if cposix_identity(path, &device, &inode) != 0 { return nil }
        (self.device, self.inode) = (device, inode)
      }
    }

    /// The path of a file URL, links resolved.
    static func resolved(_ url: URL) throws(StoreError) -> String {
      guard url.isFileURL else {
        throw StoreError(
          .invalidArgument, "The URL of the store is not a file URL. Use a file URL.",
          context: ["url": url.absoluteString])
      }
      return url.resolvingSymlinksInPath().path
    }

    /// Opens a file, nil where there is none. Throws `notAStore` for an item that is no file, and `corrupt` for a file
    /// that is almost completely a hole.
    static func open(_ path: String, isReadOnly: Bool) throws(StoreError) -> LMDBFile? {
      let flags = (isReadOnly ? O_RDONLY : O_RDWR) | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK
      let descriptor = try LockedFiles.opening(path) { Foundation.open(path, flags) }
      if descriptor < 0 {
        if errno == ENOENT { return nil }
        if errno == EISDIR {
          throw StoreError(
            .notAStore, "The URL leads to something other than a regular file. Choose another URL.",
            context: ["path": path])
        }
        throw LMDBError.system("The store file cannot be opened", path)
      }
      var status = stat()
      guard fstat(descriptor, &status) == 0 else {
        let error = LMDBError.system("The store file cannot be looked at", path)
        _ = Foundation.close(descriptor)
        throw error
      }
      let file = LMDBFile(path, descriptor, FileStatus(status))
      if !FileStatus(status).isRegular {
        throw StoreError(
          .notAStore, "The URL leads to something other than a regular file. Choose another URL.",
          context: ["path": path])
      }
      if FileStatus(status).isHole {
        throw StoreError(
          .corrupt, "The file has almost no data: most of it was never written. Use a backup.", context: ["path": path])
      }
      return file
    }

    private init(_ path: String, _ descriptor: Int32, _ status: FileStatus) {
      (self.path, self.descriptor) = (path, descriptor)
      identity = Identity(status)
    }

    deinit { _ = Foundation.close(descriptor) }

    // MARK: Locks

    func lockExclusively(until deadline: Date) throws(StoreError) { try lock(LOCK_EX, until: deadline) }

    func unlock() { _ = flock(descriptor, LOCK_UN) }

    /// Keeps writers away until ``unshare()`` was called as often.
    func share(until deadline: Date) throws(StoreError) {
      try sharers.withLock { (sharers) throws(StoreError) in
        if sharers == 0 { try lock(LOCK_SH, until: deadline) }
        sharers += 1
      }
    }

    func unshare() {
      sharers.withLock { sharers in
        sharers -= 1
        if sharers == 0 { unlock() }
      }
    }

    private func lock(_ kind: Int32, until deadline: Date) throws(StoreError) {
      var pause: UInt32 = 200
      while flock(descriptor, kind | LOCK_NB) != 0 {
        if errno != EWOULDBLOCK && errno != EINTR { throw LMDBError.system("The store file cannot be locked", path) }
        if Date() >= deadline {
          throw StoreError(
            .busy, "Another program has held the store for longer than the timeout; try again.", context: ["path": path]
          )
        }
        usleep(pause)
        pause = min(pause * 2, 5000)
      }
    }

    // MARK: Content

    /// Whether the open file still has a name, that is, was not removed.
    static func hasName(_ descriptor: Int32) -> Bool {
      var status = stat()
      return fstat(descriptor, &status) == 0 && status.st_nlink > 0
    }

    /// The size in bytes. Does not read times, and does not move the descriptor's offset.
    func size() throws(StoreError) -> Int64 {
      let size = lseek(descriptor, 0, SEEK_END)
      if size < 0 { throw LMDBError.system("The store file cannot be looked at", path) }
      return Int64(size)
    }

    /// The permissions of the file.
    func mode() throws(StoreError) -> UInt32 { UInt32(try status().st_mode & 0o777) }

    private func status() throws(StoreError) -> stat {
      var status = stat()
      guard fstat(descriptor, &status) == 0 else {
        throw LMDBError.system("The store file cannot be looked at", path)
      }
      return status
    }

    /// The first `count` bytes, read-only, until ``unmap(_:)``. Nil where the system gives no map.
    func map(_ count: Int) -> UnsafeRawBufferPointer? {
      let start = mmap(nil, count, PROT_READ, MAP_SHARED, descriptor, 0)
      return start == MAP_FAILED ? nil : UnsafeRawBufferPointer(start: start, count: count)
    }

    func unmap(_ map: UnsafeRawBufferPointer) {
      munmap(UnsafeMutableRawPointer(mutating: map.baseAddress), map.count)
    }

    /// Fills `buffer` from an offset of the file. False where the file ends before.
    func read(_ buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws(StoreError) -> Bool {
      var done = 0
      while done < buffer.count {
        let part = pread(
          descriptor, buffer.baseAddress.map { $0 + done }, buffer.count - done, off_t(offset) + off_t(done))
        if part < 0 && errno == EINTR { continue }
        if part < 0 { throw LMDBError.system("The store file cannot be read", path) }
        if part == 0 { return false }
        done += part
      }
      return true
    }
  }
#endif
