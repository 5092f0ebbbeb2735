import CFailingFiles
import Foundation

/// A fault of calls by which this process reads or writes files: of one call, or of all calls from one on.
public struct FileFault: Sendable {
  /// The calls that are counted. A call may be of several kinds: making a file also opens it to write.
  public struct Calls: OptionSet, Sendable {
    /// One bit for each kind.
    public let rawValue: Int32
    /// The kinds of the bits.
    public init(rawValue: Int32) { self.rawValue = rawValue }

    private init(_ kind: Int) { rawValue = Int32(kind) }

    /// Opening a file.
    public static let open = Calls(FF_OPEN)
    /// Opening a file that the call can write or make.
    public static let openToWrite = Calls(FF_OPEN_WRITE)
    /// Opening a file that the call makes where it is missing.
    public static let create = Calls(FF_CREATE)
    /// Writing bytes.
    public static let write = Calls(FF_WRITE)
    /// Waiting until written bytes are on the disk.
    public static let sync = Calls(FF_SYNC)
    /// Changing the length of a file.
    public static let truncate = Calls(FF_TRUNCATE)
    /// Removing a file or folder.
    public static let remove = Calls(FF_UNLINK)
    /// Giving a file or folder another name.
    public static let rename = Calls(FF_RENAME)
    /// Making folders and hard links.
    public static let make = Calls(FF_MAKE)
    /// Reading bytes.
    public static let read = Calls(FF_READ)
    /// Mapping a file into memory.
    public static let map = Calls(FF_MAP)
    /// Locking a file.
    public static let lock = Calls(FF_LOCK)
    /// All calls that can change a file, and all calls that open one.
    public static let changes: Calls = [.open, .write, .sync, .truncate, .remove, .rename, .make]
    /// The calls that a read-only file system refuses.
    public static let writing: Calls = [.openToWrite, .write, .truncate, .remove, .rename, .make]
  }

  /// The effect on the calls.
  public enum Effect: Sendable {
    /// The calls are only counted.
    case nothing
    /// The call does nothing and fails with an `errno`.
    case error(Int32)
    /// The call does its work and fails nevertheless.
    case late(Int32)
    /// Reads and writes do half of their work.
    case short
    /// Writes fail after `room` bytes have been written.
    case full(room: Int)
    /// The process dies before the call, or after it.
    case dieBefore, dieAfter
    /// The process dies when a write has done half of its work, and before any other call.
    case dieTorn
  }

  /// Which calls are counted.
  public var calls: Calls
  /// The effect on the calls.
  public var effect: Effect
  /// The first of the counted calls with the effect, from 1 on.
  public var first: Int
  /// The number of consecutive calls with the effect.
  public var count: Int

  /// A fault of the counted calls, from the `first` on.
  public init(_ effect: Effect, _ calls: Calls, at first: Int = 1, count: Int = 1) {
    (self.effect, self.calls, self.first, self.count) = (effect, calls, first, count)
  }

  /// A fault of all the counted calls.
  public static func every(_ effect: Effect, _ calls: Calls) -> FileFault {
    FileFault(effect, calls, count: .max)
  }
}

/// Makes files of this process fail on purpose: one fault at a time, in one folder.
public enum FailingFiles {
  /// Whether faults are possible: they need ELF and glibc, and no sanitizer.
  public static var isPossible: Bool { ff_works() }

  /// Sets the path prefix of files that can fail. Only descriptors opened after this call are known.
  public static func watch(_ prefix: String) { ff_watch(prefix) }

  /// Runs `body` under the fault. Returns the number of counted calls, and the number of calls with the effect. Within
  /// an inner fault an outer one has no effect.
  @discardableResult
  public static func disturb<R>(
    _ fault: FileFault, log: URL? = nil, _ body: () throws -> R
  ) rethrows -> (result: R, calls: Int, hits: Int) {
    begin(fault, log?.path)
    var report = ff_report()
    let result: R
    do { result = try body() } catch {
      _ = ff_end()
      throw error
    }
    report = ff_end()
    return (result, report.calls, report.hits)
  }

  /// The calls of some kinds that `body` makes, in order: a word for the call, and the file's path.
  public static func calls(
    _ kinds: FileFault.Calls, _ body: () throws -> Void
  ) throws -> [(call: String, path: String)] {
    let log = FileManager.default.temporaryDirectory.appending(path: "calls-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: log) }
    _ = try disturb(FileFault(.nothing, kinds), log: log, body)
    guard let text = try? String(contentsOf: log, encoding: .utf8) else { return [] }
    return text.split(separator: "\n").compactMap { line in
      let parts = line.split(separator: " ", maxSplits: 2, omittingEmptySubsequences: false)
      return parts.count == 3 ? (String(parts[1]), String(parts[2])) : nil
    }
  }

  /// Runs `body` while all changes of files are recorded in a file, which must not be one of them. Files that are open
  /// already are not recorded.
  public static func trace<R>(to file: URL, _ body: () throws -> R) throws -> R {
    guard ff_trace(file.path) else { throw HarnessProblem("\(file.path) cannot be written") }
    defer { _ = ff_trace(nil) }
    return try body()
  }

  /// Runs `body` with a clock that is `seconds` seconds off.
  public static func withClock<R>(off seconds: Int, _ body: () throws -> R) rethrows -> R {
    ff_set_clock(seconds)
    defer { ff_set_clock(0) }
    return try body()
  }

  /// The text that `body` returns in a copy of this process, which then ends; nil where the copy ends otherwise.
  public static func inFork(_ body: () -> String) -> String? {
    var ends: [Int32] = [0, 0]
    guard pipe(&ends) == 0 else { return nil }
    let child = ff_fork()
    if child == 0 {
      let text = Array(body().utf8)
      _ = text.withUnsafeBytes { Foundation.write(ends[1], $0.baseAddress, $0.count) }
      _exit(0)
    }
    close(ends[1])
    defer { close(ends[0]) }
    guard child > 0 else { return nil }
    var (bytes, buffer) = ([UInt8](), [UInt8](repeating: 0, count: 4096))
    while case let count = Foundation.read(ends[0], &buffer, buffer.count), count > 0 { bytes += buffer[..<count] }
    var status: Int32 = 0
    waitpid(child, &status, 0)
    return status == 0 ? String(decoding: bytes, as: UTF8.self) : nil
  }

  private static func begin(_ fault: FileFault, _ log: String?) {
    var required = ff_fault()
    required.kinds = fault.calls.rawValue
    (required.first, required.count) = (fault.first, fault.count)
    switch fault.effect {
    case .nothing: required.effect = Int32(FF_NOTHING)
    case .error(let number): (required.effect, required.error) = (Int32(FF_FAIL), number)
    case .late(let number): (required.effect, required.error) = (Int32(FF_LATE), number)
    case .short: required.effect = Int32(FF_SHORT)
    case .full(let room): (required.effect, required.error, required.room) = (Int32(FF_FULL), ENOSPC, room)
    case .dieBefore: required.effect = Int32(FF_BEFORE)
    case .dieAfter: required.effect = Int32(FF_AFTER)
    case .dieTorn: required.effect = Int32(FF_TORN)
    }
    guard let log else { return ff_begin(&required) }
    log.withCString { path in
      required.log = path
      ff_begin(&required)
    }
  }
}
