import Foundation
import StoreProtocol
import StoreSupport

/// A file that is only replaced as a whole. A process that opens it finds the old or the new content, never a mixture.
///
/// The path is resolved once, and all work is relative to the folder's descriptor. A writer locks the folder, so no
/// lock file is left behind. Foundation's atomic write is not used: it syncs no folder, changes modes and replaces
/// links.
public final class AtomicFile: Sendable {
  /// Identifies one content of the file by the status of the file that has it. Each content is a file of its own. A
  /// generation that was read or written keeps its file open: otherwise the system could reuse the inode number for the
  /// next file, and file times with a resolution of milliseconds would not tell the two apart.
  public struct Generation: Equatable, Sendable {
    fileprivate let status: FileStatus
    private let file: Descriptor?
    var size: Int { Int(clamping: status.size) }

    fileprivate init(_ status: FileStatus, keeping file: Descriptor? = nil) {
      (self.status, self.file) = (status, file)
    }

    public static func == (one: Generation, other: Generation) -> Bool { one.status == other.status }
  }

  /// An open file.
  final class Descriptor: Sendable {
    let number: Int32
    init(_ number: Int32) { self.number = number }
    deinit { _ = Foundation.close(number) }
  }

  /// The path, with symbolic links resolved.
  public let path: String
  private let name: String
  private let folder: Int32

  /// Opens the folder of the file at `path`. The file need not exist. Throws `notFound` where there is no folder.
  public init(_ path: String) throws(StoreError) {
    let url = URL(fileURLWithPath: path).resolvingSymlinksInPath()
    self.path = url.path
    name = url.lastPathComponent
    folder = open(url.deletingLastPathComponent().path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    if folder < 0 {
      throw StoreError.system("The folder of the store cannot be opened", path)
    }
  }

  deinit { _ = Foundation.close(folder) }

  /// The device and inode of the folder with the name of the file; nil where the system does not report them.
  var location: AtomicLocation.Key? {
    var status = stat()
    return fstat(folder, &status) == 0 ? AtomicLocation.Key(folder: FileStatus(status), name: name) : nil
  }

  // MARK: Reading

  /// Opens the content, nil where there is no file.
  ///
  /// Throws `notAStore` where the path is no regular file, and where `accepts` rejects the first 512 bytes; the rest is
  /// not read then. Throws `corrupt` for a file that is almost entirely a hole.
  public func content(_ accepts: (Data) -> Bool = { _ in true }) throws(StoreError) -> AtomicFileContent? {
    let file = try LockedFiles.opening(path) {
      openat(folder, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK)
    }
    if file < 0 {
      if errno == ENOENT { return nil }
      throw StoreError.system("The store file cannot be read", path)
    }
    let opened = Descriptor(file)
    let generation = try Self.generation(of: opened, path)
    let content = AtomicFileContent(opened, generation, path)
    guard generation.status.isRegular else {
      throw StoreError(
        .notAStore, "The URL leads to something other than a regular file. Choose another URL.", context: ["path": path]
      )
    }
    if generation.status.isHole {
      throw StoreError(
        .corrupt, "The file has almost no data: most of it was never written. Use a backup.", context: ["path": path])
    }
    guard accepts(try content.data(0..<512)) else {
      throw StoreError(
        .notAStore, "The file does not begin like a store of this type. Open it with its own type.",
        context: ["path": path])
    }
    return content
  }

  /// The whole content with its generation, nil where there is no file. Throws the errors of ``content(_:)``.
  public func read() throws(StoreError) -> (data: Data, generation: Generation)? {
    guard let content = try content() else { return nil }
    return (try content.data(), content.generation)
  }

  /// The generation of the current file, nil where there is no file.
  public func generation() throws(StoreError) -> Generation? {
    var status = stat()
    if fstatat(folder, name, &status, AT_SYMLINK_NOFOLLOW) == 0 { return Generation(FileStatus(status)) }
    if errno == ENOENT { return nil }
    throw StoreError.system("The store file cannot be looked at", path)
  }

  /// Throws `notAStore` unless it is a regular file. Nothing else is ever removed or replaced.
  private func requireFile(_ found: Generation) throws(StoreError) {
    if found.status.isRegular { return }
    throw StoreError(
      .notAStore,
      "The URL leads to something other than a regular file. It was not removed or replaced. Move it away, or choose another URL.",
      context: ["path": path])
  }

  private static func generation(of file: Descriptor, _ path: String) throws(StoreError) -> Generation {
    var status = stat()
    guard fstat(file.number, &status) == 0 else { throw StoreError.system("The store file cannot be looked at", path) }
    return Generation(FileStatus(status), keeping: file)
  }

  // MARK: Replacing

  /// Replaces the content `expected` (nil: no file yet) with the bytes that `body` writes. Returns the new generation.
  ///
  /// Throws, with nothing written:
  /// - `busy` where another writer holds the folder for longer than `timeout` seconds, or has replaced the expected
  ///   content
  /// - `notFound` where the expected file is gone
  /// - `notAStore` where the name belongs to something that is no regular file
  ///
  /// An error after the rename leaves the outcome unknown. Every other error has the outcome `notSaved`.
  ///
  /// With `isOther` the new content is another store. Open stores of the former one throw `replaced` from then on.
  public func replace(
    _ expected: Generation?, timeout: Double, isOther: Bool = false,
    _ body: (AtomicFileWriter) throws(StoreError) -> Void
  ) throws(StoreError) -> Generation {
    let lock = try FolderLock(path, timeout: timeout)
    defer { withExtendedLifetime(lock) {} }
    let found = try generation()
    if let found { try requireFile(found) }
    if expected != nil && found == nil {
      throw StoreError(
        .notFound, "The store's file was removed, and nothing was saved. Put the file back, or open another store.",
        context: ["path": path])
    }
    if found != expected {
      throw StoreError(
        .busy, "Another process or store has just written the file; save again.", context: ["path": path])
    }
    let (file, temporary) = try makeTemporary()
    var isNamed = false
    defer {
      _ = Foundation.close(file)
      if !isNamed { _ = unlinkat(folder, temporary, 0) }
    }
    // This descriptor does not hold the lock that marks a file being written. It is opened now because the mode that
    // the file gets later may forbid reading.
    let kept = openat(folder, temporary, O_RDONLY | O_NOFOLLOW | O_CLOEXEC)
    if kept < 0 { throw StoreError.system("The new store file cannot be looked at", path) }
    let written = Descriptor(kept)
    let writer = AtomicFileWriter(file, path)
    try body(writer)
    try writer.finish()
    if expected != nil { try copyTraits(to: file) }
    guard fsync(file) == 0 else { throw StoreError.system("The new store file cannot be synced", path) }
    let generation = try Self.generation(of: written, path)
    if renameat(folder, temporary, folder, name) != 0 {
      let failure = StoreError.system("The new store file cannot take the old one's place", path)
      // Over a network the rename may have succeeded although its answer was lost.
      guard (try? self.generation()) == generation else { throw failure }
    }
    isNamed = true
    if isOther { AtomicLocation.endAll(location) }
    guard fsync(folder) == 0 else {
      var failure = StoreError.system("The store's folder cannot be synced", path)
      failure.outcome = .outcomeUnknown
      throw failure
    }
    return generation
  }

  /// A new file and its name. The file is locked while it is open; `sweep` removes such files that nobody has locked.
  private func makeTemporary() throws(StoreError) -> (file: Int32, name: String) {
    while true {
      let temporary = ".\(name).\(UUID().uuidString)\(Self.suffix)"
      let file = openat(folder, temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
      if file < 0 { throw StoreError.system("No file can be made beside the store", path) }
      // Another process that sweeps may have locked or removed the file before it was locked here.
      let isTaken = flock(file, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK
      var status = stat()
      if !isTaken, fstat(file, &status) != 0 || status.st_nlink > 0 { return (file, temporary) }
      _ = Foundation.close(file)
      _ = unlinkat(folder, temporary, 0)
    }
  }

  /// Copies mode, owner and extended attributes of the old file to the new one.
  private func copyTraits(to file: Int32) throws(StoreError) {
    let old = try LockedFiles.opening(path) {
      openat(folder, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK)
    }
    guard old >= 0 else { throw StoreError.system("The store file cannot be read", path) }
    defer { _ = Foundation.close(old) }
    var status = stat()
    guard fstat(old, &status) == 0 else { throw StoreError.system("The store file cannot be looked at", path) }
    // Only root may change the owner. Without that right the new file keeps this process's user.
    if fchown(file, status.st_uid, status.st_gid) != 0 && errno != EPERM {
      throw StoreError.system("The new store file cannot get the old one's owner", path)
    }
    guard fchmod(file, status.st_mode & 0o7777) == 0 else {
      throw StoreError.system("The new store file cannot get the old one's mode", path)
    }
    ExtendedAttributes.copy(from: old, to: file)
  }

  /// Whether the file can be replaced, as far as the system reports it.
  var isWritable: Bool {
    FileStatus.mayBeWritten(URL(fileURLWithPath: path).deletingLastPathComponent().path)
      && FileStatus.mayBeWritten(path)
  }

  // MARK: Removing

  private static let suffix = ".replacing"

  /// Removes temporary files that killed writers of this file left behind.
  public func sweep() {
    let parent = URL(fileURLWithPath: path).deletingLastPathComponent().path
    let names = (try? FileManager.default.contentsOfDirectory(atPath: parent)) ?? []
    for left in names where left.hasPrefix(".\(name).") && left.hasSuffix(Self.suffix) {
      guard FileStatus(parent + "/" + left)?.isRegular == true else { continue }
      let file = openat(folder, left, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK)
      if file < 0 { continue }
      if flock(file, LOCK_EX | LOCK_NB) == 0 { _ = unlinkat(folder, left, 0) }
      _ = Foundation.close(file)
    }
  }

  /// Removes the file durably. Its open stores throw `replaced` from then on. A missing file is no error.
  ///
  /// Throws `notAStore` for anything but a regular file, which stays. Throws `busy` where another writer holds the
  /// folder for longer than `timeout` seconds.
  public func remove(timeout: Double = 240) throws(StoreError) {
    try remove(timeout: timeout) { () throws(StoreError) in }
  }

  /// Removes the file, and lets `others` remove its companions under the same lock, before anybody can make a new file.
  func remove(timeout: Double, _ others: () throws(StoreError) -> Void) throws(StoreError) {
    // Without the lock, a writer that has compared generations already would bring the file back.
    let lock = try FolderLock(path, timeout: timeout)
    defer { withExtendedLifetime(lock) {} }
    if let found = try generation() { try requireFile(found) }
    if unlinkat(folder, name, 0) != 0 && errno != ENOENT {
      throw StoreError.system("The store file cannot be removed", path)
    }
    AtomicLocation.endAll(location)
    guard fsync(folder) == 0 else { throw StoreError.system("The store's folder cannot be synced", path) }
    try others()
  }
}
