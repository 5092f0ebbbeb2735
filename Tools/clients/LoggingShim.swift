// Stands in for Apple's logging modules in builds of client libraries.
import Foundation

public struct OSLogPrivacy: Sendable {
  public static let `public` = OSLogPrivacy()
  public static let `private` = OSLogPrivacy()
  public static let auto = OSLogPrivacy()
}

public struct OSLogFormat: Sendable {
  public static func fixed(precision: Int) -> OSLogFormat { OSLogFormat() }
}

public struct OSLogMessage: ExpressibleByStringInterpolation, Sendable {
  public struct StringInterpolation: StringInterpolationProtocol, Sendable {
    public init(literalCapacity: Int, interpolationCount: Int) {}
    public mutating func appendLiteral(_ literal: String) {}
    public mutating func appendInterpolation<T>(_ value: @autoclosure () -> T, privacy: OSLogPrivacy = .auto) {}
    public mutating func appendInterpolation<T>(
      _ value: @autoclosure () -> T, format: OSLogFormat, privacy: OSLogPrivacy = .auto
    ) {}
  }
  public init(stringLiteral value: String) {}
  public init(stringInterpolation: StringInterpolation) {}
}

public struct Logger: Sendable {
  public init() {}
  public init(_ log: OSLog) {}
  public init(subsystem: String, category: String) {}
  public func log(_ message: OSLogMessage) {}
  public func debug(_ message: OSLogMessage) {}
  public func info(_ message: OSLogMessage) {}
  public func notice(_ message: OSLogMessage) {}
  public func warning(_ message: OSLogMessage) {}
  public func error(_ message: OSLogMessage) {}
  public func fault(_ message: OSLogMessage) {}
}

public final class OSLog: Sendable {
  public static let `default` = OSLog()
  public static let disabled = OSLog()
  public init(subsystem: String = "", category: String = "") {}
}

public struct OSLogType: Sendable {
  public static let `default` = OSLogType()
  public static let debug = OSLogType()
  public static let info = OSLogType()
  public static let error = OSLogType()
  public static let fault = OSLogType()
}

public func os_log(_ message: StaticString, log: OSLog = .default, type: OSLogType = .default, _ args: any CVarArg...) {
}
public func os_log(_ type: OSLogType = .default, log: OSLog = .default, _ message: String) {}

public final class OSAllocatedUnfairLock<State>: @unchecked Sendable {
  private let inner = NSLock()
  private var state: State
  public init(uncheckedState: State) { state = uncheckedState }
  public init(initialState: State) { state = initialState }
  public convenience init() where State == Void { self.init(uncheckedState: ()) }
  public func withLock<R>(_ body: (inout State) throws -> R) rethrows -> R {
    inner.lock()
    defer { inner.unlock() }
    return try body(&state)
  }
}

extension OSAllocatedUnfairLock where State == Void {
  public func lock() {}
  public func unlock() {}
}

public struct os_unfair_lock {
  public init() {}
}
public typealias os_unfair_lock_s = os_unfair_lock
public typealias os_unfair_lock_t = UnsafeMutablePointer<os_unfair_lock>
public func os_unfair_lock_lock(_ lock: os_unfair_lock_t) {}
public func os_unfair_lock_unlock(_ lock: os_unfair_lock_t) {}
