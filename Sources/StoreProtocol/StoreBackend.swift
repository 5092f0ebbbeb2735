import Foundation
import PropertyLists
import StoreSchema

/// A kind of store: how stores of this type are made, opened, looked at and removed.
///
/// Implementations are values or final classes without state of their own; every call stands alone and may come from
/// any thread.
public protocol StoreBackend: Sendable {
  /// The type's name as files and `NSPersistentStore.type` carry it, for example `SQLite`.
  var storeType: String { get }
  /// The capabilities of stores of this type.
  var capabilities: Capabilities { get }
  /// The options that stores of this type have of their own; none by default.
  var ownOptions: [StoreOptionDeclaration] { get }

  /// Opens the store at `url`, and makes it first where there is none.
  ///
  /// Throws `modelMismatch` when the store was made with another model, `notAStore` for a foreign file; then nothing
  /// has been changed.
  func open(at url: URL, schema: Schema, options: StoreOptions) throws(StoreError) -> any Store

  /// The metadata of the store at `url`, read without opening it and without leaving a trace.
  func metadata(at url: URL, options: StoreOptions) throws(StoreError) -> StoreMetadata

  /// Replaces the metadata of the store at `url`, without a model, durably, all or nothing. The store keeps its type,
  /// UUID and version hashes.
  ///
  /// Throws `unsupported`, and changes nothing, where the format has no way to do so.
  func setMetadata(_ metadata: StoreMetadata, at url: URL, options: StoreOptions) throws(StoreError)

  /// Removes the store at `url` with everything that belongs to it, the store's own file first. A missing store is no
  /// error.
  ///
  /// Throws `notAStore`, and removes nothing, where a file name of the store belongs to anything but a regular file or
  /// a folder, even with ``StoreOptions/forceDestroy``. An open store may be refused as `busy`; otherwise it throws
  /// `replaced` from then on.
  func destroy(at url: URL, options: StoreOptions) throws(StoreError)

  /// Makes the store at `destination` a copy of the store at `source`, with the source's identity.
  ///
  /// A file that ``destroy(at:options:)`` does not remove is not replaced either. The same holds for stores that are
  /// open.
  func replace(at destination: URL, with source: URL, options: StoreOptions) throws(StoreError)

  /// The backend as an optional capability, which is a protocol of any module, for example
  /// `(any SalvagingBackend).self`. Nil where it lacks the capability.
  ///
  /// A backend has the protocols that its type conforms to; implement this only to pass the request to another value.
  /// The checking wrapper passes each request on. A wrapper of your own does the same.
  func capability<Capability>(_ type: Capability.Type) -> Capability?
}

extension StoreBackend {
  public var ownOptions: [StoreOptionDeclaration] { [] }

  public func capability<Capability>(_ type: Capability.Type) -> Capability? { self as? Capability }

  public func setMetadata(_ metadata: StoreMetadata, at url: URL, options: StoreOptions) throws(StoreError) {
    throw StoreError(
      .unsupported,
      "The metadata of a store of type \(storeType) change only when the store is saved. Open it with its model, and save."
    )
  }
}

/// A backend that can guess the model of a store whose model is lost: an optional capability.
public protocol ModelInferringBackend: Sendable {
  /// A model guessed from the content of the store at `url`, for reading it. Leaves no trace.
  ///
  /// Throws `unsupported` where the format holds too little information.
  func inferredModel(at url: URL, options: StoreOptions) throws(StoreError) -> [EntityDefinition]
}

/// How to open a store.
public struct StoreOptions: Sendable {
  /// Opens the store for reading only: nothing is written, and every commit throws `readOnly`.
  public var isReadOnly = false
  /// How long to wait for other connections, in seconds.
  public var timeout: Double = 240
  /// Name to value, applied to every connection of an SQL store.
  public var pragmas: [String: String] = [:]
  /// Collects statistics for the queries of an SQL store when it is opened.
  public var analyzes = false
  /// Rewrites the file of an SQL store without unused pages when it is opened.
  public var vacuums = false
  /// How many snapshots may be read at once; further ones wait.
  public var maximumReaders = 8
  /// Skips the comparison of model versions.
  public var ignoresModelVersion = false
  /// Returns the model as a keyed archive, for stores that carry their model. Where the schema is a part of the model,
  /// returns the model of that part. Called only when a store is made.
  public var archivedModel: (@Sendable () -> Data?)?
  /// Returns the whole model as a keyed archive, for stores that hold a part of the model and lay out rows by all of
  /// it.
  public var archivedWholeModel: (@Sendable () -> Data?)?
  /// Whether the entities of a model are those of the schema. The model is a keyed archive that a store carries. Called
  /// where version hashes alone are not enough.
  public var haveSameStructure: (@Sendable (_ archivedModel: Data, _ entities: Set<String>) -> Bool)?
  /// `NSStoreModelVersionIdentifiers` for new metadata.
  public var versionIdentifiers: [String] = []
  /// Records every commit in persistent history. Makes the tables of history where there are none.
  public var tracksHistory = false
  /// For ``StoreBackend/destroy(at:options:)`` and ``StoreBackend/replace(at:with:options:)``: also removes a file that
  /// is damaged or no store of this type.
  public var forceDestroy = false
  /// For ``StoreBackend/destroy(at:options:)``: leaves an empty file of the store's name where other processes may have
  /// the file open, as for an SQL database. The next store of the name is made in it.
  public var leavesEmptyFile = false
  /// How many seconds the file of a large value stays after a commit has made it obsolete: contexts of other processes
  /// may have the row that named it. With 0 it is removed at the end of the commit, unless this process still needs it.
  public var externalDataGrace: Double = 60
  /// Receives each statement with its duration in seconds, for logging.
  public var trace: (@Sendable (String, Double) -> Void)?

  /// Options that types of stores have of their own, by name, as they were given; see ``StoreOption``.
  public var own: [String: StoreOptionValue] = [:]

  /// The options of a store that is opened for reading and writing.
  public init() {}
}
