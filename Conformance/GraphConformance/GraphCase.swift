import CoreData
import StoreConformance
import StoreProtocol

/// One case with objects in contexts, as a value. Its body uses only Core Data's public API, so it can run on every
/// implementation.
struct GraphCase: Sendable {
  /// The case for the runner.
  let conformanceCase: ConformanceCase

  /// The ID of a row that also has a case for stores ends with `/graph`. `model` is the model of the case's
  /// coordinators. `programs` are the programs, by name, that the case runs in separate processes.
  init(
    _ id: String, _ title: String, _ model: @escaping @Sendable () -> NSManagedObjectModel = { Models.people },
    requirements: [String] = [], needs: Need = .nothing, without: Need = .nothing, ways: Ways = .all,
    sites: Int = 1, races: Bool = false, needsBackend: Bool = false, disturbsFiles: Bool = false, size: Load = .small,
    programs: [String: @Sendable () throws -> Void] = [:],
    body: @escaping @Sendable (Graph) throws -> Void
  ) {
    conformanceCase = ConformanceCase(
      id, title, requirements: requirements, requires: needs.capabilities, absent: without.capabilities,
      level: Self.level(of: id), size: size.size,
      profiles: ways.profiles, sites: sites, races: races,
      disturbsFiles: disturbsFiles, needsBackend: needsBackend,
      roles: programs.mapValues { program in { _ in try program() } }
    ) { context in
      let graph = Graph(context, model())
      let result = Result { try body(graph) }
      graph.end()
      do { try result.get() } catch let error as StoreError { throw error } catch let error
        where Graph.isThrownByUse(error)
      { throw Failure("unexpected \(Graph.text(of: error))") }
    }
  }
}

extension GraphCase {
  /// The levels of some areas; all others belong to the core.
  private static func level(of id: String) -> Level {
    switch id.prefix(3) {
    case "CON", "LCK": .concurrent
    case "DUR": .durable
    default: .core
    }
  }
}

/// The number of objects with which a case works.
enum Load: Sendable {
  case small
  /// A hundred thousand objects.
  case tenth
  /// A million.
  case million

  var size: Size {
    switch self {
    case .small: .small
    case .tenth: .medium
    case .million: .large
    }
  }
}

/// The capabilities that a case needs of a store.
struct Need: Sendable {
  let capabilities: Capabilities

  private init(_ capabilities: Capabilities) { self.capabilities = capabilities }

  static let nothing = Need([])
  static let persistent = Need(.persistent)
  static let files = Need([.persistent, .localFiles])
  static let readOnly = Need([.persistent, .readOnlyOpen])
  static let secondOpening = Need([.persistent, .multipleOpens])
  static let cachedRows = Need([.persistent, .multipleOpens, .rowLevel])
  /// A store of the type can be created as a copy of another store.
  static let copies = Need([.persistent, .migrationByCopy])
  static let fileCopies = Need([.persistent, .localFiles, .migrationByCopy])
  static let rowVersions = Need(.rowVersions)
  static let rowLevel = Need(.rowLevel)
  static let uniqueness = Need(.uniqueness)
  static let derivation = Need(.derivedAttributes)
  /// The store keeps values of transformable attributes unchanged and calls no transformer.
  static let objects = Need(.objectValues)
  static let externalData = Need(.externalData)
  static let history = Need(.history)
}

/// The ways to read saved data that can affect a case's result.
enum Ways: Sendable {
  /// In a context with the objects loaded, in one that has only faults, after closing and reopening the store, and
  /// through a second coordinator.
  case all
  /// Only the reads of the case itself: for cases whose contexts are kept across saves.
  case own

  var profiles: Set<Profile> {
    switch self {
    case .all: [.plain, .reopen, .coldCache, .twoStores]
    case .own: [.plain]
    }
  }
}
