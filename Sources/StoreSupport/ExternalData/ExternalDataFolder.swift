import Foundation
import StoreProtocol

/// The large binary values of a store, each in a file of its own in one folder beside it.
///
/// A file is complete and on disk before a row names it, and is removed only when no row does; see
/// ``ExternalDataFiles``.
///
/// Its name is a UUID. In a name made here (version 8) the first four bytes identify the store that made the file, by
/// its UUID, and the last half is a checksum of the data. Apple's names (version 4) hold neither.
public struct ExternalDataFolder: Sendable {
  /// Smaller values stay in the row. Real stores hold up to 58 583 bytes inline; about 100 KB is commonly reported.
  public static let threshold = 100_000

  /// The folder of the files. It need not exist.
  public let folder: URL
  /// The folders below the store's own that lead to ``folder``, the outermost first.
  private let made: [URL]

  /// The folder of the store at `path`, links resolved: `.<name>_EXTERNAL_DATA`, with the whole name, because stores of
  /// different types may differ by their extension alone.
  public init(beside path: String) {
    let file = URL(fileURLWithPath: path)
    folder = file.deletingLastPathComponent().appendingPathComponent(".\(file.lastPathComponent)_EXTERNAL_DATA")
    made = [folder]
  }

  /// The folder `name` within the folder `outer`, neither of which need exist.
  public init(_ name: String, within outer: URL) {
    // Foundation would ask the system whether it is a folder.
    folder = outer.appendingPathComponent(name, isDirectory: true)
    made = [outer, folder]
  }

  // MARK: Values

  /// The data behind a slot's name, with or without its leading byte 2.
  ///
  /// Throws `missingExternalData` where the file is gone. Throws `corrupt` where its bytes are not those that were
  /// kept, or where the name is no file name.
  public func read(_ name: Data) throws(StoreError) -> Data {
    let id = try Self.id(name)
    let url = folder.appendingPathComponent(id.uuidString)
    try requirePlain(url)
    let data: Data
    do { data = try Data(contentsOf: url) } catch {
      throw StoreError(
        .missingExternalData,
        "The file of an external value is missing or cannot be read. Restore it from a backup, or set the value again.",
        context: ["path": url.path], cause: "\(error)")
    }
    guard Self.tellsNothing(id) || Self.name(of: data, like: id) == id else {
      throw StoreError(
        .corrupt,
        "The file of an external value is damaged: its bytes do not have the checksum in its name. Restore it from a backup.",
        context: ["path": url.path])
    }
    return data
  }

  /// Writes a value of the store with this UUID, durably. Returns its name for the slot; nil for a small value.
  public func write(_ data: Data, ofStore identifier: String) throws(StoreError) -> Data? {
    if data.count <= Self.threshold { return nil }
    var id: UUID
    // Only 28 bits of the name are random: the same data may get a name that exists already.
    repeat { id = Self.name(of: data, like: Self.random(Self.owner(identifier))) } while status(of: id) != nil
    var attempts = 20
    while true {
      do throws(StoreError) {
        try makeFolders()
        try write(data, to: folder.appendingPathComponent(id.uuidString))
        try Self.synchronize(folder)
        return Data([2]) + Data(id.uuidString.utf8) + Data([0])
      } catch {
        // A copy that failed has just removed the folder, which was empty.
        attempts -= 1
        if attempts == 0 || error.code != .notFound { throw error }
      }
    }
  }

  /// Removes files that no row names. A missing file is no error. Only regular files in the store's own folder are
  /// removed.
  public func remove(_ names: [Data]) {
    if names.isEmpty { return }
    guard let own = try? opened() else { return }
    for name in names {
      if let id = try? Self.id(name) { _ = try? own.removeFile(id.uuidString) }
    }
  }

  /// The folder above the store's own folders, then those of them that exist, the outermost first. The last is
  /// ``folder`` where that exists. Throws `notAStore` where something else has such a name, for example a link to
  /// another folder.
  private func chain() throws(StoreError) -> [OwnedFolder] {
    guard let outermost = made.first,
      let parent = try OwnedFolder(outermost.deletingLastPathComponent().path)
    else { return [] }
    var result = [parent]
    for url in made {
      guard let next = try result[result.count - 1].folder(url.lastPathComponent) else { break }
      result.append(next)
    }
    return result
  }

  /// ``folder``, nil where it is not there.
  func opened() throws(StoreError) -> OwnedFolder? {
    let found = try chain()
    return found.count > made.count ? found.last : nil
  }

  /// Keeps the files that rows name now from removal by this process, until the view is released. Make it before the
  /// rows are read.
  public func view() -> ExternalDataView { ExternalDataView(.of(self)) }

  // MARK: Whole stores

  /// Runs `body`, which copies a store with its files. Runs it again while a file is missing, at most 21 times: a
  /// failed save removes its files, and others may remove obsolete ones.
  public static func copying(_ body: () throws(StoreError) -> Void) throws(StoreError) {
    for _ in 0..<20 {
      do { return try body() } catch { if error.code != .missingExternalData { throw error } }
    }
    try body()
  }

  /// The names of the values, sorted. Other files are left out.
  public var names: [String] {
    let found = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
    return found.filter {
      UUID(uuidString: $0)?.uuidString == $0 && (try? requirePlain(folder.appendingPathComponent($0))) != nil
    }.sorted()
  }

  /// Makes this the folder of the store that replaces its own store in `body`. The files that the new rows name are
  /// added before `body`, and the others are removed after it. If `body` throws and has changed nothing, the folder is
  /// as it was.
  ///
  /// With `isNew` there was no such store. Files in the folder are not its own, and stay: they may belong to a renamed
  /// store, or to one whose name differs by its extension. With `isShared` there is such a store: files are only added.
  public func replace(
    with other: ExternalDataFolder, isNew: Bool, isShared: Bool = false, _ body: () throws(StoreError) -> Void
  ) throws(StoreError) {
    // Listed before: another user of the new store may save meanwhile, and touches the files that its rows name.
    let former =
      isNew || isShared ? [] : names.compactMap { name in UUID(uuidString: name).map { ($0, status(of: $0)) } }
    var added: [String] = []
    var copied: Set<String> = []
    do throws(StoreError) {
      try add(other, &added, &copied)
      try body()
    } catch {
      if error.outcome == .notSaved {
        remove(added.map { Data($0.utf8) })
        removeEmptyFolders()
      }
      throw error
    }
    let obsolete = former.filter { !copied.contains($0.0.uuidString) }
    if obsolete.isEmpty { return }
    // Make the new store durable first: it must not be undone after the old files are gone.
    try? Self.synchronize(folder.deletingLastPathComponent())
    for (id, status) in obsolete { remove(id, unlessTouchedSince: status) }
  }

  /// Copies the files of another store that are not here yet, durably and each as a whole. Names are never used again,
  /// so a file that is here has the same content. It is touched, because it may be due for removal and touched files
  /// stay.
  private func add(
    _ other: ExternalDataFolder, _ added: inout [String], _ copied: inout Set<String>
  ) throws(StoreError) {
    // Twice: a process that removes the file may have checked it before it was touched.
    for _ in 0..<2 {
      let names = other.names
      copied.formUnion(names)
      let missing = names.filter { name in
        !(UUID(uuidString: name).map { status(of: $0)?.isRegular == true && touch($0) } ?? false)
      }
      try copy(missing, of: other, &added)
    }
  }

  private func copy(
    _ names: [String], of other: ExternalDataFolder, _ added: inout [String]
  ) throws(StoreError) {
    if names.isEmpty { return }
    try makeFolders()
    for name in names {
      let (source, target) = (other.folder.appendingPathComponent(name), folder.appendingPathComponent(name))
      let data: Data
      do { data = try Data(contentsOf: source, options: .mappedIfSafe) } catch {
        throw StoreError(
          FileStatus(source.path) == nil ? .missingExternalData : .io, "The store's external data cannot be copied.",
          context: ["path": source.path], cause: "\(error)")
      }
      if FileStatus(target.path) != nil { try requirePlain(target) }
      let draft = folder.appendingPathComponent(".\(name).\(UUID().uuidString).copying")
      try write(data, to: draft)
      if rename(draft.path, target.path) != 0 {
        let error = StoreError.system("The copy of a large value cannot get its name", target.path)
        unlink(draft.path)
        throw error
      }
      added.append(name)
    }
    try Self.synchronize(folder)
  }

  private func removeEmptyFolders() {
    guard let found = try? chain() else { return }
    for (parent, url) in zip(found, made).reversed() { parent.removeEmptyFolder(url.lastPathComponent) }
  }

  /// Throws `notAStore` where ``removeAll()`` would find anything but regular files and folders.
  public func requireOwn() throws(StoreError) {
    if let outermost = made.first, let parent = try chain().first {
      try parent.requireTree(outermost.lastPathComponent)
    }
  }

  /// Removes the values whose names identify the store with this UUID. Files with Apple's names stay.
  public func removeValues(ofStore identifier: String) {
    let owner = Self.owner(identifier)
    remove(names.filter { UUID(uuidString: $0).map { Self.isOwn($0, owner) } ?? false }.map { Data($0.utf8) })
  }

  /// Removes the folder and everything in it. A missing folder is no error. Throws `notAStore` for an item that is
  /// neither a regular file nor a folder, which stays; see ``requireOwn()``.
  public func removeAll() throws(StoreError) {
    guard let outermost = made.first, let parent = try chain().first,
      try parent.folder(outermost.lastPathComponent) != nil
    else { return }
    try parent.removeTree(outermost.lastPathComponent)
    try parent.synchronize()
  }

  // MARK: Names

  /// Only a UUID is a name: text from a file must not lead out of the folder.
  private static func id(_ name: Data) throws(StoreError) -> UUID {
    let text = String(decoding: name.drop { $0 == 2 }.prefix { $0 != 0 }, as: UTF8.self)
    guard let id = UUID(uuidString: text) else {
      throw StoreError(.corrupt, "The name of an external value is not a UUID.", context: ["name": text])
    }
    return id
  }

  /// The file of a slot's bytes, nil where they are no name.
  static func file(_ name: Data) -> UUID? { name.first == 2 ? try? id(name) : nil }

  /// The first four bytes of file names of the store with this UUID.
  static func owner(_ identifier: String) -> UInt32 {
    var sum = CRC64()
    sum.add(Data(identifier.utf8))
    return UInt32(truncatingIfNeeded: sum.value >> 32)
  }

  /// Whether the bytes of two slots stand for the same data, as far as names show. Apple's names show nothing.
  package static func isSame(_ one: Data, _ other: Data) -> Bool {
    switch (file(one), file(other)) {
    case (nil, nil): one == other
    case (let file?, nil): tellsNothing(file) || name(of: other.dropFirst(), like: file) == file
    case (nil, let file?): tellsNothing(file) || name(of: one.dropFirst(), like: file) == file
    case (let file?, let other?): tellsNothing(file) || tellsNothing(other) || checksum(file) == checksum(other)
    }
  }

  /// The half of a name that is computed from the data.
  private static func checksum(_ file: UUID) -> UInt64 {
    withUnsafeBytes(of: file.uuid) { $0.loadUnaligned(fromByteOffset: 8, as: UInt64.self) }
  }

  private static func random(_ owner: UInt32) -> UUID {
    var bytes = UUID().uuid
    withUnsafeMutableBytes(of: &bytes) { $0.storeBytes(of: owner.bigEndian, as: UInt32.self) }
    return UUID(uuid: bytes)
  }

  /// Whether a file was made by the store with this UUID.
  static func isOwn(_ id: UUID, _ owner: UInt32) -> Bool {
    if tellsNothing(id) { return false }
    return withUnsafeBytes(of: id.uuid) { UInt32(bigEndian: $0.loadUnaligned(as: UInt32.self)) } == owner
  }

  private static func tellsNothing(_ id: UUID) -> Bool { id.uuid.6 >> 4 != 8 }

  /// The name for this data that begins with the first half of `id`.
  private static func name(of data: Data, like id: UUID) -> UUID {
    var sum = CRC64()
    sum.add(data)
    var bytes = id.uuid
    bytes.6 = bytes.6 & 0x0F | 0x80
    withUnsafeMutableBytes(of: &bytes) {
      $0.storeBytes(of: sum.value.bigEndian, toByteOffset: 8, as: UInt64.self)
    }
    bytes.8 = bytes.8 & 0x3F | 0x80
    return UUID(uuid: bytes)
  }

  // MARK: Files

  func status(of id: UUID) -> FileStatus? { FileStatus(folder.appendingPathComponent(id.uuidString).path) }

  /// Sets the time of a file's last change to now. False where there is no such file.
  func touch(_ id: UUID) -> Bool {
    let path = folder.appendingPathComponent(id.uuidString).path
    return utimensat(AT_FDCWD, path, nil, AT_SYMLINK_NOFOLLOW) == 0 || FileStatus(path)?.isRegular == true
  }

  /// Removes a file, unless it has changed or was touched since it had this status.
  func remove(_ id: UUID, unlessTouchedSince known: FileStatus?) {
    if status(of: id) == known { remove([Data(id.uuidString.utf8)]) }
  }

  /// Throws unless it is a regular file: a link may lead anywhere, and a pipe blocks its reader.
  private func requirePlain(_ url: URL) throws(StoreError) {
    guard let status = FileStatus(url.path) else { return }
    if !status.isRegular || status.isHole || made.contains(where: { !Self.isFolder($0) }) {
      throw StoreError(
        .corrupt, "The file of an external value is not a regular file in the store's own folder. Move it away.",
        context: ["path": url.path])
    }
  }

  private static func isFolder(_ url: URL) -> Bool {
    let attributes = try? FileManager.default.attributesOfItem(atPath: url.path)
    return attributes?[.type] as? FileAttributeType == .typeDirectory
  }

  /// Makes the missing folders. Afterwards all their names are durable, even if another process made a folder and did
  /// not synchronize it.
  private func makeFolders() throws(StoreError) {
    for url in made {
      while mkdir(url.path, 0o700) != 0 {
        guard errno == EEXIST else {
          throw StoreError.system("No folder can be made for the store's external data", url.path)
        }
        var status = stat()
        // The folder may have existed, empty, and been removed since.
        if lstat(url.path, &status) != 0 && errno == ENOENT { continue }
        if status.st_mode & S_IFMT == S_IFDIR { break }
        throw StoreError(
          .corrupt, "Something other than a folder has the name of the store's folder of external data. Move it away.",
          context: ["path": url.path])
      }
      try Self.synchronize(url.deletingLastPathComponent())
    }
  }

  private func write(_ data: Data, to url: URL) throws(StoreError) {
    let file = open(url.path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
    if file < 0 { throw StoreError.system("A large value cannot be written to a file of its own", url.path) }
    defer { _ = close(file) }
    do throws(StoreError) {
      var done = 0
      while done < data.count {
        let (count, number) = FileSizeSignal.withoutIt {
          data.withUnsafeBytes { Foundation.write(file, $0.baseAddress.map { $0 + done }, data.count - done) }
        }
        if count < 0 && number == EINTR { continue }
        if count <= 0 {
          throw StoreError.system(number, "A large value cannot be written to a file of its own", url.path)
        }
        done += count
      }
      guard fsync(file) == 0 else { throw StoreError.system("The file of a large value cannot be synced", url.path) }
    } catch {
      unlink(url.path)
      throw error
    }
  }

  /// Waits until the names in a folder are on the disk.
  public static func synchronize(_ url: URL) throws(StoreError) {
    let file = open(url.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    if file < 0 { throw StoreError.system("A folder of the store cannot be opened", url.path) }
    defer { _ = close(file) }
    guard fsync(file) == 0 else { throw StoreError.system("A folder of the store cannot be synced", url.path) }
  }
}
