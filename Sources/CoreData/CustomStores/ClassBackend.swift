import AtomicEngine
import Foundation
import StoreProtocol
import StoreSchema

/// A class of stores that a client implements, where a coordinator asks for a kind of stores: what can be done to a
/// store that is not open, and what cannot.
///
/// Apple's reference leaves it to the class what removing and replacing a store means, and has no methods for it that a
/// client could override. The rule here: an ``NSAtomicStore`` is one whole file, which is removed or copied; where an
/// ``NSIncrementalStore`` has its objects only the client knows.
struct ClassBackend: StoreBackend {
  let storeType: String
  let storeClass: NSPersistentStore.Type

  private var isAtomic: Bool { storeClass is NSAtomicStore.Type }

  /// What the objects of any store of the class can rely on.
  var capabilities: Capabilities {
    isAtomic
      ? [.persistent, .localFiles, .wholeFile, .concurrentReads, .readOnlyOpen, .uniqueness]
      : [.persistent, .rowLevel, .readOnlyOpen, .uniqueness]
  }

  /// Throws `unsupported`: a store of a class is a part of a coordinator.
  func open(at url: URL, schema: Schema, options: StoreOptions) throws(StoreError) -> any Store {
    throw StoreError(
      .unsupported,
      "Nothing is copied into a store of the class \(storeClass); add one to a coordinator, insert objects and save.")
  }

  func metadata(at url: URL, options: StoreOptions) throws(StoreError) -> StoreMetadata {
    do { return MetadataCoding.metadata(try storeClass.metadataForPersistentStore(with: url)) } catch {
      throw StoreError(
        .notAStore, "The class \(storeClass) cannot read the store's metadata.", context: ["path": url.path],
        cause: "\(error)")
    }
  }

  func destroy(at url: URL, options: StoreOptions) throws(StoreError) {
    let file = try file(url)
    if try file.generation() == nil { return }
    if !options.forceDestroy { _ = try metadata(at: url, options: options) }
    try file.remove(timeout: options.timeout)
  }

  func replace(at destination: URL, with source: URL, options: StoreOptions) throws(StoreError) {
    let (target, origin) = (try file(destination), try file(source))
    guard let content = try origin.content() else {
      throw StoreError(.notFound, "There is no store to copy.", context: ["path": source.path])
    }
    _ = try metadata(at: source, options: options)
    let generation = try target.generation()
    if generation != nil, !options.forceDestroy { _ = try metadata(at: destination, options: options) }
    _ = try target.replace(generation, timeout: options.timeout) { (writer) throws(StoreError) in
      try writer.write(0..<content.count, of: content)
    }
  }

  private func file(_ url: URL) throws(StoreError) -> AtomicFile {
    guard isAtomic else {
      throw StoreError(
        .unsupported,
        "Where a store of the class \(storeClass) keeps its objects only the class knows; remove or copy them by its own means."
      )
    }
    guard url.isFileURL else {
      throw StoreError(.invalidArgument, "The URL is no file's.", context: ["url": url.absoluteString])
    }
    return try AtomicFile(url.path)
  }
}
