#if LMDB
  import Foundation
  import KeyValueEngine
  import StoreProtocol
  import StoreSchema
  import StoreSupport

  /// Stores that are one LMDB file each, with a lock file beside it.
  public struct LMDBBackend: StoreBackend, SalvagingBackend {
    private let initialMapSize: Int

    /// `initialMapSize` is how many bytes of addresses are reserved for a file at first, at least the file's size. The
    /// map grows when it must; growing waits for all views to end.
    public init(initialMapSize: Int = LMDBBackend.addressSpace) { self.initialMapSize = initialMapSize }

    /// 64 GiB where addresses have 64 bits. It reserves neither memory nor disk.
    public static let addressSpace = Int.bitWidth == 64 ? 1 << 36 : 1 << 28

    public var storeType: String { "LMDB" }
    public var capabilities: Capabilities {
      [
        .persistent, .localFiles, .rowLevel, .readOnlyOpen, .multipleOpens, .multiProcess, .concurrentReads,
        .rowVersions, .pushDown,
        .uniqueness, .grouping, .migrationByCopy, .externalData, .derivedAttributes, .checksums, .powerLossDurability,
        .memoryMapped, .salvage,
      ]
    }

    public func open(at url: URL, schema: Schema, options: StoreOptions) throws(StoreError) -> any Store {
      let path = try LMDBFile.resolved(url)
      if let map = try map(path, options) {
        if !options.isReadOnly { LMDBNewFile.removeLeft(path) }
        return try store(map, path, schema, options)
      }
      if options.isReadOnly { throw Self.notFound(path) }
      try LMDBNewFile.make(path, timeout: options.timeout) { (temporary) throws(StoreError) in
        let map = try LMDBMap(making: temporary, mapSize: initialMapSize)
        try KeyValueStore<LMDBMap>.make(map, schema, storeType: storeType, options: options)
      }
      guard let map = try map(path, options) else { throw Self.notFound(path) }
      return try store(map, path, schema, options)
    }

    private func store(
      _ map: LMDBMap, _ path: String, _ schema: Schema, _ options: StoreOptions
    ) throws(StoreError) -> any Store {
      try KeyValueStore(
        map, schema, storeType: storeType, capabilities: capabilities, options: options,
        externalFiles: ExternalDataFolder(beside: path))
    }

    private func map(_ path: String, _ options: StoreOptions) throws(StoreError) -> LMDBMap? {
      try LMDBMap(path, isReadOnly: options.isReadOnly, mapSize: initialMapSize, timeout: options.timeout)
    }

    private static func notFound(_ path: String) -> StoreError {
      StoreError(.notFound, "There is no store at the URL.", context: ["path": path])
    }

    public func metadata(at url: URL, options: StoreOptions) throws(StoreError) -> StoreMetadata {
      let path = try LMDBFile.resolved(url)
      guard let file = try LMDBFile.open(path, isReadOnly: true) else { throw Self.notFound(path) }
      let deadline = Date(timeIntervalSinceNow: options.timeout)
      return try LMDBPages.last(of: file, until: deadline) { (_, headerFields) throws(StoreError) in
        try headerFields.metadata(storeType: storeType, withModel: true)
      }
    }

    public func setMetadata(_ metadata: StoreMetadata, at url: URL, options: StoreOptions) throws(StoreError) {
      let path = try LMDBFile.resolved(url)
      guard let map = try map(path, options) else { throw Self.notFound(path) }
      try KeyValueStore.setMetadata(metadata, in: map, storeType: storeType, timeout: options.timeout)
    }

    public func salvage(at url: URL, into salvage: Salvage, options: StoreOptions) throws(StoreError) {
      let path = try LMDBFile.resolved(url)
      guard let file = try LMDBFile.open(path, isReadOnly: true) else { throw Self.notFound(path) }
      try file.share(until: Date(timeIntervalSinceNow: options.timeout))
      defer { file.unshare() }
      let states = LMDBMeta.readable(of: file).map { LMDBPages(file, $0) }
      guard let pages = states.first(where: { (try? $0.headerFields()) != nil }) ?? states.first else {
        throw LMDBMeta.damaged("Neither of its first two pages can be read", file)
      }
      // Without this check an earlier state could be read.
      do throws(StoreError) { _ = try LMDBPages.last(of: file) } catch {
        salvage.lose(StoreFinding(.integrity, error.message))
      }
      let external = ExternalDataFolder(beside: path)
      salvage.externalData = { (name) throws(StoreError) in try external.read(name) }
      try LMDBSalvage(pages, salvage).run(storeType: storeType)
    }

    /// Throws `busy` where this process has the store open. Another process that has it open gets an error at its next
    /// write.
    public func destroy(at url: URL, options: StoreOptions) throws(StoreError) {
      let path = try LMDBFile.resolved(url)
      guard let file = try LMDBFile.open(path, isReadOnly: true) else { return }
      // A file that is no store of this type is not removed.
      if !options.forceDestroy {
        try LMDBPages.last(of: file, until: Date(timeIntervalSinceNow: options.timeout)) { (_, _) throws(StoreError) in
        }
      }
      let external = ExternalDataFolder(beside: path)
      try external.requireOwn()
      // With the lock nobody makes a new store there meanwhile.
      let lock = try FolderLock.ifPossible(path, timeout: options.timeout)
      defer { withExtendedLifetime(lock) {} }
      try LMDBNewFile.remove(path, file, timeout: options.timeout)
      try external.removeAll()
    }

    public func replace(at destination: URL, with source: URL, options: StoreOptions) throws(StoreError) {
      let (from, to) = (try LMDBFile.resolved(source), try LMDBFile.resolved(destination))
      let (theirs, own) = (ExternalDataFolder(beside: from), ExternalDataFolder(beside: to))
      try ExternalDataFolder.copying { () throws(StoreError) in
        // Files that the source's rows name now stay, even if a save makes them obsolete meanwhile.
        let files = theirs.view()
        defer { withExtendedLifetime(files) {} }
        guard let file = try LMDBFile.open(from, isReadOnly: true) else { throw Self.notFound(from) }
        let deadline = Date(timeIntervalSinceNow: options.timeout)
        try LMDBPages.last(of: file, until: deadline) { (pages, _) throws(StoreError) in
          try LMDBVerification(pages).run()
          try own.replace(with: theirs, isNew: FileStatus(to) == nil) { () throws(StoreError) in
            try LMDBNewFile.replace(to, with: pages, timeout: options.timeout)
          }
        }
      }
    }
  }
#endif
