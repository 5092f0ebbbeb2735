import Foundation
import StoreProtocol
import StoreSchema

/// The locations, stores, expectations and random numbers that a case works with.
///
/// Used by one thread at a time, except ``expect(_:_:)``, which any thread may call.
public final class CaseContext: @unchecked Sendable {
  /// The way that the case is run.
  public let profile: Profile
  /// The seed of ``random``.
  public let seed: UInt64
  /// Random numbers, the same for each run of the case with the same seed.
  public var random: SplitMix64
  /// Starts other processes, nil where the case runs without a runner.
  public let processes: (any ProcessStarter)?
  let id: CaseID
  /// The kind of store that the case runs on.
  public let harness: any StoreHarness
  /// The kinds of stores to copy to: all that the runner knows, including the case's own.
  public let peers: [any StoreHarness]
  private(set) var sites: [Site] = []
  private let lock = NSLock()
  private var problems: [Failure.Problem] = []
  private var expectations = 0
  private var labels: [String] = []

  init(
    _ conformanceCase: ConformanceCase, _ harness: any StoreHarness, _ profile: Profile, seed: UInt64,
    peers: [any StoreHarness], processes: (any ProcessStarter)?
  ) throws {
    id = conformanceCase.id
    self.harness = harness
    self.peers = peers.isEmpty ? [harness] : peers
    self.profile = profile
    self.seed = seed
    self.processes = processes
    random = SplitMix64(seed: seed)
    for _ in 0..<max(1, conformanceCase.sites) { sites.append(Site(try harness.makeLocation())) }
    if conformanceCase.disturbsFiles, let folder = sites[0].location.folder {
      let paths = sites.compactMap { $0.location.folder?.resolvingSymlinksInPath().path }
      FailingFiles.watch(paths.reduce(folder.resolvingSymlinksInPath().path) { $0.commonPrefix(with: $1) })
    }
  }

  /// The capabilities that the store declares.
  public var capabilities: Capabilities { harness.backend.capabilities }
  /// The backend of the store, behind the check that every store is opened through.
  public var backend: any StoreBackend { CheckedBackend(harness.backend) }
  /// The case's first location.
  public var location: StoreLocation { sites[0].location }
  /// The URL of the store at the case's first location.
  public var url: URL { location.url }
  /// The URL of one of the case's locations.
  public func url(of site: Int) -> URL { sites[site].location.url }

  // MARK: Stores

  /// Opens the store of the case's first location, under the profile. It is closed when the case ends.
  public func open(_ schema: Schema, _ options: StoreOptions = StoreOptions()) throws(StoreError) -> Session {
    try open(schema, in: 0, options)
  }

  /// Opens the store of one of the case's locations.
  public func open(
    _ schema: Schema, in site: Int, _ options: StoreOptions = StoreOptions()
  ) throws(StoreError) -> Session {
    let session = try Session(backend, sites[site].location.url, schema, options, profile)
    sites[site].sessions.append(session)
    opened(session.store, in: site)
    return session
  }

  /// Notes that the case itself has opened the store of a location. The case must close it before it ends. The location
  /// is checked then.
  public func opened(_ store: any Store, in site: Int) {
    sites[site].schema = store.schema
    if sites[site].identifier == nil { sites[site].identifier = store.identifier }
  }

  /// Records the defects of an open store, for a store that is gone when it is closed.
  public func examine(_ store: any Store) {
    for problem in ConsistencyCheck.problems(of: store).prefix(3) { note("U3: \(problem)") }
  }

  /// Opens a store at any URL without a profile, and does not check it afterwards: for damaged and foreign files.
  public func openRaw(
    _ url: URL, _ schema: Schema, _ options: StoreOptions = StoreOptions()
  ) throws(StoreError) -> any Store {
    try backend.open(at: url, schema: schema, options: options)
  }

  /// Notes that the case leaves an unsound store on purpose.
  public func leavesDamage() { for index in sites.indices { sites[index].isDamaged = true } }

  /// Notes that a file may remain in the case's folder.
  public func leaves(_ file: String) { sites[0].extraFiles.insert(file) }

  /// Notes that files may end with a mode that lets other users read or write them.
  public func allows(mode: Int) { for index in sites.indices { sites[index].mode = mode } }

  /// Notes that the location has another store now.
  public func isReplaced() { for index in sites.indices { sites[index].identifier = nil } }

  // MARK: Expectations

  /// Records a problem where `condition` is false, and continues.
  @discardableResult
  public func expect(_ condition: Bool, _ what: @autoclosure () -> String) -> Bool {
    lock.withLock { expectations += 1 }
    if !condition { note(what()) }
    return condition
  }

  /// Records a problem where the two values differ.
  public func equal<T: Equatable>(_ found: T, _ expected: T, _ what: String = "") {
    expect(found == expected, "\(what.isEmpty ? "" : what + ": ")found \(found), expected \(expected)")
  }

  /// Records a problem where the two values differ in any bit.
  public func equal(_ found: Value, _ expected: Cell, _ what: String = "") {
    expect(
      found.isIdentical(to: expected.value),
      "\(what.isEmpty ? "" : what + ": ")found \(found.brief), expected \(expected.value.brief)")
  }

  /// Records a problem unless `body` throws an error with one of these codes and the outcome that nothing was saved.
  @discardableResult
  public func refuses(
    _ codes: StoreError.Code..., what: String = "the call", _ body: () throws -> Void
  ) throws -> StoreError? {
    do { try body() } catch let error as StoreError {
      expect(codes.isEmpty || codes.contains(error.code), "\(what) threw \(error); expected \(codes)")
      expect(error.outcome == .notSaved, "\(what) threw with an unknown outcome: \(error)")
      expect(!error.message.isEmpty, "\(what) threw an error without a sentence")
      return error
    }
    expect(false, "\(what) did not throw; expected \(codes)")
    return nil
  }

  /// Runs `body` with a label that is added to its problems.
  public func label<R>(_ label: String, _ body: () throws -> R) rethrows -> R {
    lock.withLock { labels.append(label) }
    defer { lock.withLock { _ = labels.popLast() } }
    return try body()
  }

  /// Records a problem and ends the case.
  public func fail(_ what: String) throws -> Never {
    note(what)
    throw CaseEnded()
  }

  func note(_ what: String) { lock.withLock { problems.append(.init(text: what, labels: labels)) } }

  var failure: Failure? {
    lock.withLock {
      if expectations == 0 && problems.isEmpty { return Failure("the case expected nothing") }
      return problems.isEmpty ? nil : Failure(Array(problems.prefix(20)))
    }
  }

  /// One location of a case with its state.
  struct Site {
    let location: StoreLocation
    var sessions: [Session] = []
    var schema: Schema?
    var identifier: String?
    var isDamaged = false
    var extraFiles: Set<String> = []
    var mode: Int?

    init(_ location: StoreLocation) { self.location = location }
  }
}

/// Starts processes that do a part of a case, for the runner to implement.
public protocol ProcessStarter: Sendable {
  /// Starts a process that runs the role of a case of a harness on the store at `url`. It reports its steps line by
  /// line.
  func start(_ role: String, of id: CaseID, harness: String, at url: URL, seed: UInt64) throws -> any StartedProcess
}

/// A process that a case has started.
public protocol StartedProcess: Sendable {
  /// The next line that the process writes, nil at its end.
  func line() -> String?
  /// Kills it and waits for its end.
  func kill()
  /// Stops the process wherever it is.
  func stop()
  /// Continues a stopped process.
  func resume()
  /// Waits for its end and returns its exit status, negative for a signal.
  func wait() -> Int32
}

/// The environment of a case's role in a process of its own.
public struct RoleContext: Sendable {
  /// The backend of the store, behind the check that every store is opened through.
  public let backend: any StoreBackend
  /// The URL of the store.
  public let url: URL
  /// A seed for random numbers, chosen by the case.
  public let seed: UInt64
  /// Tells the case that a step is done.
  public let say: @Sendable (String) -> Void

  /// The environment of a role. Files below the folder of `url` can be made to fail; see ``FailingFiles``.
  public init(backend: any StoreBackend, url: URL, seed: UInt64, say: @escaping @Sendable (String) -> Void) {
    self.backend = CheckedBackend(backend)
    self.url = url
    self.seed = seed
    self.say = say
    if let folder = url.isFileURL ? url.deletingLastPathComponent().resolvingSymlinksInPath().path : nil {
      FailingFiles.watch(folder)
    }
  }

  /// Opens the store of the case.
  public func open(_ schema: Schema, _ options: StoreOptions = StoreOptions()) throws(StoreError) -> Session {
    try Session(backend, url, schema, options, .plain)
  }
}

extension CaseContext {
  /// Starts a role of this case on the store of its first location.
  public func start(_ role: String, seed: UInt64 = 0) throws -> any StartedProcess {
    guard let processes else { throw HarnessProblem("there is no runner to start the process “\(role)”") }
    return try processes.start(role, of: id, harness: harness.name, at: url, seed: seed)
  }
}

/// A defect of the harness, the machine or the suite, and not of the store.
public struct HarnessProblem: Error, CustomStringConvertible {
  /// The defect, as a sentence.
  public let description: String
  /// A defect with its description, a sentence.
  public init(_ description: String) { self.description = description }
}
