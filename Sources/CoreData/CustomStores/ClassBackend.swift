import AtomicEngine
import Foundation
import StoreProtocol
import StoreSchema

/// The backend of a class of stores that a client implements. It says what can be done with a store that is not open.
///
/// Apple's reference leaves it to the class what removing and replacing a store means, and has no methods for it that a
/// client could override. The rule here: an ``NSAtomicStore`` is one file, which is removed or copied as a whole. Only
/// the client knows where an ``NSIncrementalStore`` keeps its objects, so removing and copying it are rejected.
struct ClassBackend: StoreBackend {
  let storeType: String
  let storeClass: NSPersistentStore.Type

  private var isAtomic: Bool { storeClass is NSAtomicStore.Type }

  /// The capabilities that every store of the class has.
  var capabilities: Capabilities {
    isAtomic
      ? [.persistent, .localFiles, .wholeFile, .concurrentReads, .readOnlyOpen, .uniqueness]
      : [.persistent, .rowLevel, .readOnlyOpen, .uniqueness]
  }

  /// Throws `unsupported`: a store of a client's class exists only within a coordinator.
  func open(at url: URL, schema: Schema, options: StoreOptions) throws(StoreError) -> any Store {
    throw StoreError(
      .unsupported,
      "No copy can be written to a store of class \(storeClass); add one to a coordinator, insert objects and save.")
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
      throw StoreError(.notFound, "There is no store to copy at the URL.", context: ["path": source.path])
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
        "Only the class \(storeClass) knows where its stores keep their objects; remove or copy them with functions of the class."
      )
    }
    guard url.isFileURL else {
      throw StoreError(
        .invalidArgument, "The URL of the store is not a file URL. Use a file URL.",
        context: ["url": url.absoluteString])
    }
    return try AtomicFile(url.path)
  }
}
