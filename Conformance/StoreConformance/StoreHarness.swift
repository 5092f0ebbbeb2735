import Foundation
import StoreProtocol

/// Everything that the suite needs for a store type. The author of a backend writes one.
///
/// The suite opens stores through `CheckedBackend`, as every user does.
public protocol StoreHarness: Sendable {
  /// The name in commands and reports, lower case, for example `sqlite`.
  var name: String { get }
  /// The backend of the stores.
  var backend: any StoreBackend { get }
  /// Whether the backend opens stores. False where it only declares the capabilities of a store class that coordinators
  /// of CoreData open. Then only cases of objects are run, and the store that a case leaves is not opened again.
  var opensStores: Bool { get }
  /// How the store can be made to crash.
  var crashModel: CrashModel { get }
  /// The URL of the expectations of this store, nil where there are none yet.
  var expectations: URL? { get }

  /// A new location for a store that does not exist yet. Throws where there is no room for one.
  func makeLocation() throws -> StoreLocation

  /// Removes a location with everything in it.
  func destroy(_ location: StoreLocation) throws

  /// Whether a file in the store's folder belongs to a closed store: the store itself and the files beside it.
  func belongs(_ file: String, to location: StoreLocation) -> Bool

  /// Runs statements of SQL on the file of a store that is not open, as another program would, to damage it. Only
  /// called for stores that declare `sqliteFile`.
  func execute(_ statements: [String], at url: URL) throws
}

/// How a kind of store can be made to crash.
public enum CrashModel: Sendable {
  /// Not at all: no data survives the process.
  case none
  /// A process that writes the store is killed.
  case killedProcess
}

/// The location of one store.
public struct StoreLocation: Sendable {
  /// A folder that holds nothing but this store; nil where the store is not files.
  public var folder: URL?
  /// The URL of the store. The store need not exist yet.
  public var url: URL

  /// A location for a store at `url`.
  public init(folder: URL?, url: URL) {
    self.folder = folder
    self.url = url
  }
}

/// A store in a folder of its own below the temporary folder.
extension StoreHarness {
  public var name: String { backend.storeType.lowercased() }
  public var opensStores: Bool { true }
  public var expectations: URL? { nil }
  public var crashModel: CrashModel { backend.capabilities.contains(.persistent) ? .killedProcess : .none }

  public func makeLocation() throws -> StoreLocation {
    let folder = FileManager.default.temporaryDirectory.appending(path: "conformance-\(name)-\(UUID().uuidString)")
    try FileManager.default.createDirectory(
      at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    return StoreLocation(folder: folder, url: folder.appending(path: "store"))
  }

  public func destroy(_ location: StoreLocation) throws {
    if let folder = location.folder { try FileManager.default.removeItem(at: folder) }
  }

  public func belongs(_ file: String, to location: StoreLocation) -> Bool { file == location.url.lastPathComponent }

  public func execute(_ statements: [String], at url: URL) throws {
    throw HarnessProblem("the harness of \(name) runs no SQL")
  }
}
