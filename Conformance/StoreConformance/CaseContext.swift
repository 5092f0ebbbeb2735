import Foundation
import StoreProtocol
import StoreSchema

/// The locations, stores, expectations and random numbers that a case works with.
///
/// Used by one thread at a time, but for ``expect(_:_:)``, which any thread may call.
public final class CaseContext: @unchecked Sendable {
  /// The way that the case is run.
  public let profile: Profile
  /// Where the numbers of ``random`` come from.
  public let seed: UInt64
  /// Numbers that are the same whenever the case runs with the same seed.
  public var random: SplitMix64
  /// Starts other processes, nil where the case runs without a runner.
  public let processes: (any ProcessStarter)?
  let id: CaseID
  /// The kind of store that the case runs on.
  public let harness: any StoreHarness
  /// The kinds of stores to copy to: all that the runner knows, the case's own among them.
  public let peers: [any StoreHarness]
  private(set) var places: [Place] = []
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
    for _ in 0..<max(1, conformanceCase.places) { places.append(Place(try harness.makeLocation())) }
    if conformanceCase.disturbsFiles, let folder = places[0].location.folder {
      let paths = places.compactMap { $0.location.folder?.resolvingSymlinksInPath().path }
      FailingFiles.watch(paths.reduce(folder.resolvingSymlinksInPath().path) { $0.commonPrefix(with: $1) })
    }
  }

  /// What the store declares.
  public var capabilities: Capabilities { harness.backend.capabilities }
  /// The backend of the store, behind the check that every store is opened through.
  public var backend: any StoreBackend { CheckedBackend(harness.backend) }
  /// The case's first location.
  public var location: StoreLocation { places[0].location }
  /// Where the store of the case's first place is.
  public var url: URL { location.url }
  /// The URL of one of the case's locations.
  public func url(of place: Int) -> URL { places[place].location.url }

  // MARK: Stores

  /// Opens the store of the case's first location, under the profile. It is closed when the case ends.
  public func open(_ schema: Schema, _ options: StoreOptions = StoreOptions()) throws(StoreError) -> Session {
    try open(schema, in: 0, options)
  }

  /// Opens the store of one of the case's locations.
  public func open(
    _ schema: Schema, in place: Int, _ options: StoreOptions = StoreOptions()
  ) throws(StoreError) -> Session {
    let session = try Session(backend, places[place].location.url, schema, options, profile)
    places[place].sessions.append(session)
    opened(session.store, in: place)
    return session
  }

  /// Notes that the case has opened the store of a location itself, and closes it before it ends. What is left of it is
  /// checked then.
  public func opened(_ store: any Store, in place: Int) {
    places[place].schema = store.schema
    if places[place].identifier == nil { places[place].identifier = store.identifier }
  }

  /// Records what is wrong with an open store, for one that is gone when it is closed.
  public func examine(_ store: any Store) {
    for problem in ConsistencyCheck.problems(of: store).prefix(3) { note("U3: \(problem)") }
  }

  /// Opens a store at any URL without a profile, and does not check it afterwards: for damaged and foreign files.
  public func openRaw(
    _ url: URL, _ schema: Schema, _ options: StoreOptions = StoreOptions()
  ) throws(StoreError) -> any Store {
    try backend.open(at: url, schema: schema, options: options)
  }

  /// Notes that the case leaves something that is no sound store, on purpose.
  public func leavesDamage() { for index in places.indices { places[index].isDamaged = true } }

  /// Notes that a file may be in the case's folder at its end.
  public func leaves(_ file: String) { places[0].extraFiles.insert(file) }

  /// Notes that files may have a mode at the end that lets others use them.
  public func allows(mode: Int) { for index in places.indices { places[index].mode = mode } }

  /// Notes that the location has another store now.
  public func isReplaced() { for index in places.indices { places[index].identifier = nil } }

  // MARK: Expectations

  /// Records a problem where `condition` is false, and goes on.
  @discardableResult
  public func expect(_ condition: Bool, _ what: @autoclosure () -> String) -> Bool {
    lock.withLock { expectations += 1 }
    if !condition { note(what()) }
    return condition
  }

  /// Records a problem where the two differ.
  public func equal<T: Equatable>(_ found: T, _ expected: T, _ what: String = "") {
    expect(found == expected, "\(what.isEmpty ? "" : what + ": ")found \(found), expected \(expected)")
  }

  /// Records a problem where the two values differ in any bit.
  public func equal(_ found: Value, _ expected: Cell, _ what: String = "") {
    expect(
      found.isIdentical(to: expected.value),
      "\(what.isEmpty ? "" : what + ": ")found \(found.brief), expected \(expected.value.brief)")
  }

  /// Records a problem unless `body` throws an error with one of these codes that says that nothing was saved.
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

  /// Runs `body` with a label that its problems carry.
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

  /// One place of a case with what is known of it.
  struct Place {
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
  /// Starts a process that runs the role of a case of a harness on the store at `url`. It says what it has done line by
  /// line.
  func start(_ role: String, of id: CaseID, harness: String, at url: URL, seed: UInt64) throws -> any StartedProcess
}

/// A process that a case has started.
public protocol StartedProcess: Sendable {
  /// The next line that it says, nil at its end.
  func line() -> String?
  /// Kills it and waits for its end.
  func kill()
  /// Lets it stand still wherever it is.
  func stop()
  /// Lets it go on.
  func resume()
  /// Waits for its end, and gives its exit status; negative for a signal.
  func wait() -> Int32
}

/// What the role of a case works with, in a process of its own.
public struct RoleContext: Sendable {
  /// The backend of the store, behind the check that every store is opened through.
  public let backend: any StoreBackend
  /// Where the store is.
  public let url: URL
  /// A seed for numbers, which the case has chosen.
  public let seed: UInt64
  /// Tells the case that a step is done.
  public let say: @Sendable (String) -> Void

  /// What a role works with. Files below the folder of `url` can be made to fail; see ``FailingFiles``.
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

/// What is wrong with the harness, the machine or the suite rather than with the store.
public struct HarnessProblem: Error, CustomStringConvertible {
  /// What is wrong, as a sentence.
  public let description: String
  /// A problem with a sentence that says what is wrong.
  public init(_ description: String) { self.description = description }
}
