#if LMDB
  import Foundation
  import StoreProtocol
  import StoreSupport

  /// Files that get their name when they are complete.
  enum LMDBNewFile {
    /// Lets `body` fill a new file, and gives it the name `path`. Does nothing where another process was first.
    static func make(
      _ path: String, timeout: Double, _ body: (LMDBFile) throws(StoreError) -> Void
    ) throws(StoreError) {
      try withTemporary(beside: path) { (temporary) throws(StoreError) in
        do {
          guard let file = try LMDBFile.open(temporary, isReadOnly: false) else {
            throw StoreError(
              .io, "The new store file was removed while it was made. Try again.", context: ["path": temporary])
          }
          try body(file)
        }
        // Files of a store that is being removed are removed first.
        let lock = try FolderLock.ifPossible(path, timeout: timeout)
        defer { withExtendedLifetime(lock) {} }
        if link(temporary, path) != 0 {
          if errno == EEXIST { return }
          // Without hard links, the check above is the only sign that the name is free.
          guard errno == EPERM || errno == ENOTSUP || errno == EOPNOTSUPP, access(path, F_OK) != 0,
            rename(temporary, path) == 0
          else { throw LMDBError.system("The new store file cannot get its name", path) }
        }
        try syncFolder(of: path)
      }
    }

    /// Replaces the file at `path`, if any, by a copy of a state.
    ///
    /// A process that has the former file open can still read it, and gets an error when it writes.
    static func replace(_ path: String, with pages: LMDBPages, timeout: Double) throws(StoreError) {
      let former = try LMDBFile.open(path, isReadOnly: true)
      if let former {
        if former.identity == pages.file.identity { return }
        if LMDBOpenFiles.isOpen(former.identity) { throw inUse(path) }
        try requireLockFile(path)
        // Nobody writes the former file while it loses its name.
        try former.lockExclusively(until: Date(timeIntervalSinceNow: timeout))
      }
      try withTemporary(beside: path) { (temporary) throws(StoreError) in
        try copy(pages, to: temporary, like: former)
        guard rename(temporary, path) == 0 else {
          throw LMDBError.system("The copy cannot take the former file's place", path)
        }
        do throws(StoreError) {
          // The lock file lists readers of the former file, so it is removed too.
          if unlink(path + LMDBEnvironment.lockSuffix) != 0 && errno != ENOENT {
            throw LMDBError.system("The former lock file cannot be removed", path)
          }
          try syncFolder(of: path)
        } catch {
          var error = error
          error.outcome = .outcomeUnknown
          throw error
        }
      }
    }

    /// Removes a store with its lock file.
    static func remove(_ path: String, _ file: LMDBFile, timeout: Double) throws(StoreError) {
      if LMDBOpenFiles.isOpen(file.identity) { throw inUse(path) }
      try requireLockFile(path)
      try file.lockExclusively(until: Date(timeIntervalSinceNow: timeout))
      // The store's file first, durably: without it the lock file is worthless.
      for name in [path, path + LMDBEnvironment.lockSuffix] {
        if unlink(name) != 0 && errno != ENOENT { throw LMDBError.system("The store cannot be removed", name) }
        try syncFolder(of: path)
      }
    }

    /// Throws `notAStore` where the name of the lock file belongs to anything but a regular file, which is not removed.
    private static func requireLockFile(_ path: String) throws(StoreError) {
      let url = URL(fileURLWithPath: path + LMDBEnvironment.lockSuffix)
      try OwnedFolder(url.deletingLastPathComponent().path)?.requireFile(url.lastPathComponent)
    }

    private static func inUse(_ path: String) -> StoreError {
      StoreError(
        .busy, "This process has the store open; remove it from its coordinators first.", context: ["path": path])
    }

    /// Removes the files left by a process that was killed, or that a loss of power ended, while it made the store.
    static func removeLeft(_ path: String) {
      TemporaryFolder.removeLeft(beside: URL(fileURLWithPath: path), for: purpose)
    }

    private static let purpose = "making"

    /// Lets `body` use a new file in a folder of its own beside `path`. If the process is killed, the next process that
    /// makes or opens this store removes the folder.
    private static func withTemporary(
      beside path: String, _ body: (String) throws(StoreError) -> Void
    ) throws(StoreError) {
      let folder = try TemporaryFolder(beside: URL(fileURLWithPath: path), for: purpose)
      defer { folder.remove() }
      let temporary = folder.url.appendingPathComponent("store").path
      let descriptor = open(temporary, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
      if descriptor < 0 { throw LMDBError.system("No file can be made beside the store", path) }
      _ = close(descriptor)
      try body(temporary)
    }

    private static func copy(_ pages: LMDBPages, to path: String, like former: LMDBFile?) throws(StoreError) {
      let target = open(path, O_WRONLY | O_NOFOLLOW | O_CLOEXEC)
      if target < 0 { throw LMDBError.system("The copy cannot be written", path) }
      defer { _ = close(target) }
      var buffer = [UInt8](repeating: 0, count: 1 << 18)
      var offset: Int64 = 0
      while offset < pages.meta.byteCount {
        let count = Int(min(Int64(buffer.count), pages.meta.byteCount - offset))
        let result: Result<Void, StoreError> = buffer.withUnsafeMutableBytes { bytes in
          Result { () throws(StoreError) in
            let part = UnsafeMutableRawBufferPointer(rebasing: bytes[..<count])
            guard try pages.file.read(part, at: offset) else { throw pages.damaged }
            try write(UnsafeRawBufferPointer(part), to: target, path)
          }
        }
        try result.get()
        offset += Int64(count)
      }
      var status = stat()
      if let former, fstat(former.descriptor, &status) == 0 { _ = fchmod(target, status.st_mode & 0o7777) }
      guard fsync(target) == 0 else { throw LMDBError.system("The copy cannot be synced", path) }
    }

    private static func write(_ bytes: UnsafeRawBufferPointer, to target: Int32, _ path: String) throws(StoreError) {
      var done = 0
      while done < bytes.count {
        let (part, number) = FileSizeSignal.withoutIt {
          Foundation.write(target, bytes.baseAddress.map { $0 + done }, bytes.count - done)
        }
        if part < 0 && number == EINTR { continue }
        if part <= 0 { throw LMDBError.error(number, "The copy cannot be written", path) }
        done += part
      }
    }

    private static func syncFolder(of path: String) throws(StoreError) {
      let folder = open(URL(fileURLWithPath: path).deletingLastPathComponent().path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
      if folder < 0 { throw LMDBError.system("The store's folder cannot be opened", path) }
      defer { _ = close(folder) }
      guard fsync(folder) == 0 else {
        var error = LMDBError.system("The store's folder cannot be synced", path)
        error.outcome = .outcomeUnknown
        throw error
      }
    }
  }
#endif
