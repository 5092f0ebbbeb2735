import CFailingFiles
import Foundation

/// Something that happens to calls by which this process reads or writes files: one call after so many, or all from
/// there on.
public struct FileFault: Sendable {
  /// Which calls are counted. A call can be of several kinds: who makes a file also opens it, to write.
  public struct Calls: OptionSet, Sendable {
    /// One bit for each kind.
    public let rawValue: Int32
    /// The kinds of the bits.
    public init(rawValue: Int32) { self.rawValue = rawValue }

    private init(_ kind: Int) { rawValue = Int32(kind) }

    /// Opening a file.
    public static let open = Calls(FF_OPEN)
    /// Opening a file that can be written or made by it.
    public static let openToWrite = Calls(FF_OPEN_WRITE)
    /// Opening a file that is made where it is not there.
    public static let create = Calls(FF_CREATE)
    /// Writing bytes.
    public static let write = Calls(FF_WRITE)
    /// Waiting until what was written is on the disk.
    public static let sync = Calls(FF_SYNC)
    /// Changing the length of a file.
    public static let truncate = Calls(FF_TRUNCATE)
    /// Removing a file or folder.
    public static let remove = Calls(FF_UNLINK)
    /// Giving a file or folder another name.
    public static let rename = Calls(FF_RENAME)
    /// Making folders and further names.
    public static let make = Calls(FF_MAKE)
    /// Reading bytes.
    public static let read = Calls(FF_READ)
    /// Mapping a file into memory.
    public static let map = Calls(FF_MAP)
    /// Locking a file.
    public static let lock = Calls(FF_LOCK)
    /// All that can change a file, and all opening.
    public static let changes: Calls = [.open, .write, .sync, .truncate, .remove, .rename, .make]
    /// What a file system refuses that cannot be written.
    public static let writing: Calls = [.openToWrite, .write, .truncate, .remove, .rename, .make]
  }

  /// What happens to them.
  public enum Effect: Sendable {
    /// The calls are only counted.
    case nothing
    /// The call does nothing and fails with an `errno`.
    case error(Int32)
    /// It does its work and fails all the same.
    case late(Int32)
    /// Reads and writes do half of it.
    case short
    /// Writes fail once so many bytes have been written.
    case full(room: Int)
    /// The process dies before the call, or after it.
    case dieBefore, dieAfter
    /// It dies when a write has done half of its work, and before any other call.
    case dieTorn
  }

  /// Which calls are counted.
  public var calls: Calls
  /// What happens to them.
  public var effect: Effect
  /// The first of the counted calls that it happens to, from 1 on.
  public var first: Int
  /// To how many calls it happens, one after the other.
  public var count: Int

  /// A fault of the counted calls, from the `first` on.
  public init(_ effect: Effect, _ calls: Calls, at first: Int = 1, count: Int = 1) {
    (self.effect, self.calls, self.first, self.count) = (effect, calls, first, count)
  }

  /// To all of them.
  public static func every(_ effect: Effect, _ calls: Calls) -> FileFault {
    FileFault(effect, calls, count: .max)
  }
}

/// Files of this process that fail on purpose: one fault at a time, in one folder.
public enum FailingFiles {
  /// Whether there can be any: that needs ELF and glibc, and no sanitizer beside.
  public static var isPossible: Bool { ff_works() }

  /// Says where files can be made to fail. Descriptors are known that were opened there since then.
  public static func watch(_ prefix: String) { ff_watch(prefix) }

  /// Runs `body` while the fault is at work, and gives how many calls were counted and how many of them it happened to.
  /// One fault does not go on within another.
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

  /// Runs `body` while all changes of files are written down in a file, which must not lie among them. Files that are
  /// open already are not known there.
  public static func trace<R>(to file: URL, _ body: () throws -> R) throws -> R {
    guard ff_trace(file.path) else { throw HarnessProblem("\(file.path) cannot be written") }
    defer { _ = ff_trace(nil) }
    return try body()
  }

  /// Runs `body` while the clock tells a date that is so many seconds off.
  public static func withClock<R>(off seconds: Int, _ body: () throws -> R) rethrows -> R {
    ff_set_clock(seconds)
    defer { ff_set_clock(0) }
    return try body()
  }

  /// What `body` says in a copy of this process, which ends with it; nil where it ends otherwise.
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
    var wanted = ff_fault()
    wanted.kinds = fault.calls.rawValue
    (wanted.first, wanted.count) = (fault.first, fault.count)
    switch fault.effect {
    case .nothing: wanted.effect = Int32(FF_NOTHING)
    case .error(let number): (wanted.effect, wanted.error) = (Int32(FF_FAIL), number)
    case .late(let number): (wanted.effect, wanted.error) = (Int32(FF_LATE), number)
    case .short: wanted.effect = Int32(FF_SHORT)
    case .full(let room): (wanted.effect, wanted.error, wanted.room) = (Int32(FF_FULL), ENOSPC, room)
    case .dieBefore: wanted.effect = Int32(FF_BEFORE)
    case .dieAfter: wanted.effect = Int32(FF_AFTER)
    case .dieTorn: wanted.effect = Int32(FF_TORN)
    }
    guard let log else { return ff_begin(&wanted) }
    log.withCString { path in
      wanted.log = path
      ff_begin(&wanted)
    }
  }
}
