import CoreData
import StoreConformance
import StoreProtocol

/// One case of objects in contexts, as a value. What it does is written against Core Data's public API alone, so that
/// it says the same of every implementation.
struct GraphCase: Sendable {
  /// What the runner runs.
  let conformanceCase: ConformanceCase

  /// A row that is a case of stores as well has `/graph` behind its id. `model` is what the case's coordinators are
  /// made with; `programs` are what the case runs in processes of their own, by name.
  init(
    _ id: String, _ title: String, _ model: @escaping @Sendable () -> NSManagedObjectModel = { Models.people },
    requirements: [String] = [], needs: Need = .nothing, without: Need = .nothing, ways: Ways = .all,
    places: Int = 1, races: Bool = false, needsBackend: Bool = false, disturbsFiles: Bool = false, size: Load = .small,
    programs: [String: @Sendable () throws -> Void] = [:],
    body: @escaping @Sendable (Graph) throws -> Void
  ) {
    conformanceCase = ConformanceCase(
      id, title, requirements: requirements, requires: needs.capabilities, absent: without.capabilities,
      level: Self.level(of: id), size: size.size,
      profiles: ways.profiles, places: places, races: races,
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
  /// The steps that areas belong to; all others are the core.
  private static func level(of id: String) -> Level {
    switch id.prefix(3) {
    case "CON", "LCK": .concurrent
    case "DUR": .durable
    default: .core
    }
  }
}

/// How much a case works with.
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

/// What a case needs of a store, by the names that capabilities have.
struct Need: Sendable {
  let capabilities: Capabilities

  private init(_ capabilities: Capabilities) { self.capabilities = capabilities }

  static let nothing = Need([])
  static let persistent = Need(.persistent)
  static let files = Need([.persistent, .localFiles])
  static let readOnly = Need([.persistent, .readOnlyOpen])
  static let secondOpening = Need([.persistent, .multipleOpens])
  static let cachedRows = Need([.persistent, .multipleOpens, .rowLevel])
  /// A store of the type can be made as a copy of another.
  static let copies = Need([.persistent, .migrationByCopy])
  static let fileCopies = Need([.persistent, .localFiles, .migrationByCopy])
  static let rowVersions = Need(.rowVersions)
  static let rowLevel = Need(.rowLevel)
  static let uniqueness = Need(.uniqueness)
  static let derivation = Need(.derivedAttributes)
  /// Values of transformable attributes are kept as they are, and no transformer is asked.
  static let objects = Need(.objectValues)
  static let externalData = Need(.externalData)
  static let history = Need(.history)
}

/// The ways to look at what was saved that can change a case's result.
enum Ways: Sendable {
  /// Warm, with a context that has only faults, after close and reopen, and through a second coordinator.
  case all
  /// Only as the case itself says: for cases of contexts that are held over saves.
  case own

  var profiles: Set<Profile> {
    switch self {
    case .all: [.plain, .reopen, .coldCache, .twoStores]
    case .own: [.plain]
    }
  }
}
