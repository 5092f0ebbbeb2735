import Foundation
import StoreProtocol

/// One case of the contract, as a value: its requirements, its needs, and its code.
///
/// A case cannot skip itself. The runner decides whether it applies, from ``requires`` and ``absent`` alone.
public struct ConformanceCase: Sendable, CustomStringConvertible {
  /// The id of the case.
  public let id: CaseID
  /// The requirement in words.
  public let title: String
  /// The ids of requirements that it proves besides its own.
  public let requirements: [String]
  /// The capabilities that the store must declare.
  public let requires: Capabilities
  /// The capabilities that the store must not declare: the case checks the behaviour without them.
  public let absent: Capabilities
  /// The step above the core that the case belongs to.
  public let level: Level
  /// How long the case takes.
  public let size: Size
  /// The profiles that can change its result.
  public let profiles: Set<Profile>
  /// How many locations the case needs: two for copying from one store to another.
  public let sites: Int
  /// Whether it runs other processes. Only a runner can start those.
  public let needsProcesses: Bool
  /// Whether it makes files fail, by ``FailingFiles``. Then it has its process to itself.
  public let disturbsFiles: Bool
  /// Whether it needs the backend itself, and not only a coordinator that opens its stores; see
  /// ``StoreHarness/opensStores``.
  public let needsBackend: Bool
  /// Whether it has several threads race. Such a case may miss a defect.
  public let races: Bool
  /// The code of the case. A ``Failure`` or a `StoreError` that it throws is a failure of the store. Any other error is
  /// a problem of the harness.
  public let body: @Sendable (CaseContext) throws -> Void
  /// The code of the processes that it starts, by name.
  public let roles: [String: @Sendable (RoleContext) throws -> Void]

  public var description: String { id.text }

  /// A case of the row `id`, with a title in words. `body` is run once for each store and profile that the case applies
  /// to.
  public init(
    _ id: String, _ title: String, requirements: [String] = [], requires: Capabilities = [], absent: Capabilities = [],
    level: Level = .core, size: Size = .small, profiles: Set<Profile> = Profile.all, sites: Int = 1,
    races: Bool = false, disturbsFiles: Bool = false, needsBackend: Bool = false,
    roles: [String: @Sendable (RoleContext) throws -> Void] = [:],
    body: @escaping @Sendable (CaseContext) throws -> Void
  ) {
    self.id = CaseID(id)
    self.title = title
    self.requirements = requirements
    self.requires = requires
    self.absent = absent
    self.level = level
    self.size = size
    self.profiles = profiles
    self.sites = sites
    self.races = races
    self.roles = roles
    needsProcesses = !roles.isEmpty
    self.disturbsFiles = disturbsFiles
    self.needsBackend = needsBackend
    self.body = body
  }

  /// Why the case does not apply to a store, nil where it applies.
  public func exemption(of harness: any StoreHarness, _ profile: Profile = .plain) -> Exemption? {
    let capabilities = harness.backend.capabilities
    if needsBackend && !harness.opensStores { return .missing(["a backend"]) }
    let missing = requires.subtracting(capabilities)
    if !missing.isEmpty { return .missing(missing.names) }
    let excess = absent.intersection(capabilities)
    if !excess.isEmpty { return .declared(excess.names) }
    let unmet = profile.requires.subtracting(capabilities)
    if !unmet.isEmpty { return .missing(unmet.names) }
    return nil
  }

  /// Why a case does not apply.
  public enum Exemption: Sendable, Hashable {
    /// The store does not declare these capabilities.
    case missing([String])
    /// The store declares these capabilities, and the case is for stores without them.
    case declared([String])
  }
}

/// The id of a case: the row of the specification, followed by an instance where the row has many.
///
/// `SAV-018`, or `ATT-004/int64/min`. An id never changes and is never used again.
public struct CaseID: Sendable, Hashable, Comparable {
  /// The id in full.
  public let text: String

  /// The id of that text.
  public init(_ text: String) { self.text = text }

  /// The row, for example `ATT-004`.
  public var row: String { String(text.prefix { $0 != "/" }) }
  /// The area of the row, for example `ATT`.
  public var area: String { String(text.prefix { $0 != "-" }) }

  public static func < (a: CaseID, b: CaseID) -> Bool { a.text.utf8.lexicographicallyPrecedes(b.text.utf8) }

  /// Whether the id matches a pattern, in which `*` stands for any text.
  public func matches(_ pattern: String) -> Bool {
    let parts = pattern.split(separator: "*", omittingEmptySubsequences: false).map(String.init)
    guard let first = parts.first, text.hasPrefix(first) else { return false }
    if parts.count == 1 { return text == first || row == first }
    var rest = text.dropFirst(first.count)
    for part in parts.dropFirst().dropLast() where !part.isEmpty {
      guard let found = rest.range(of: part) else { return false }
      rest = rest[found.upperBound...]
    }
    return rest.hasSuffix(parts[parts.count - 1])
  }
}

/// In reports an id is its text.
extension CaseID: Codable {
  public init(from decoder: any Decoder) throws { text = try decoder.singleValueContainer().decode(String.self) }

  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(text)
  }
}

/// The levels above the core. Each needs the levels before it.
public enum Level: String, Sendable, Codable, CaseIterable {
  /// What all stores do; what survives a crash; what several users do at once; what fetches select; what history
  /// records.
  case core, durable, concurrent, queryable, historical
}

/// How long a case takes. Small cases run on every change.
public enum Size: String, Sendable, Codable, CaseIterable, Comparable {
  /// Runs on every change.
  case small = "S"
  /// May take ten times as long. Runs with `--size M` and `--size L`.
  case medium = "M"
  /// May take a hundred times as long. Runs with `--size L`.
  case large = "L"

  public static func < (a: Size, b: Size) -> Bool { a.rank < b.rank }
  private var rank: Int { Size.allCases.firstIndex(of: self) ?? 0 }
}

/// A way to run the same cases under another condition.
public enum Profile: String, Sendable, Codable, CaseIterable {
  /// No other condition.
  case plain
  /// The store is closed and opened after each commit.
  case reopen
  /// Every read goes through a store that is opened for it.
  case coldCache = "cold-cache"
  /// Rows are read one at a time, and fetches in pages of one.
  case single = "batch-1"
  /// Fetches are evaluated above the store.
  case noPushdown = "no-pushdown"
  /// The store is open twice: one writes, the other reads.
  case twoStores = "two-stores"

  /// The capabilities that a store must declare to run under the profile.
  public var requires: Capabilities {
    switch self {
    case .plain, .single: []
    case .reopen: .persistent
    case .coldCache, .twoStores: [.persistent, .multipleOpens]
    case .noPushdown: .pushDown
    }
  }

  /// Every profile.
  public static let all = Set(allCases)
  /// For cases that open, close and damage stores themselves.
  public static let plainOnly: Set<Profile> = [.plain]
  /// For cases that hold rows over commits. Some stores count versions only while they are open, so reopening ends
  /// them.
  public static let oneOpening: Set<Profile> = [.plain, .single]
  /// For cases that fetch.
  public static let fetching: Set<Profile> = [.plain, .reopen, .single, .noPushdown, .twoStores]
  /// For cases of everything except fetching.
  public static let reading: Set<Profile> = [.plain, .reopen, .coldCache, .single, .twoStores]
}
