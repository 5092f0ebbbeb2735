import Foundation

/// A meeting point at which workers wait for each other.
protocol RaceMeeting: AnyObject, Sendable {
  /// Waits until all workers with this number have arrived. Returns the time at which all of them continue, in
  /// nanoseconds of ``RaceRecord/now()``.
  func meet(_ number: Int) -> UInt64
}

/// Meetings of the workers of one program. A thread of this process represents each worker of another process.
final class LocalMeeting: RaceMeeting, @unchecked Sendable {
  private let condition = NSCondition()
  private var missing: [Int: Int] = [:]
  private var times: [Int: UInt64] = [:]
  private var isOver = false

  /// The time from the last arrival until all continue, in nanoseconds. It is long enough for the others to wake.
  private static let lead: UInt64 = 60_000

  init(_ program: RaceProgram) {
    for worker in program.workers {
      for number in Set(worker.operations.compactMap(\.meeting)) { missing[number, default: 0] += 1 }
    }
  }

  func meet(_ number: Int) -> UInt64 {
    condition.lock()
    defer { condition.unlock() }
    missing[number, default: 1] -= 1
    if missing[number, default: 0] <= 0 {
      times[number] = RaceRecord.now() + Self.lead
      condition.broadcast()
    }
    while true {
      if isOver { return 0 }
      if let time = times[number] { return time }
      condition.wait()
    }
  }

  /// Releases all workers permanently, because a worker will not arrive.
  func end() {
    condition.withLock {
      isOver = true
      condition.broadcast()
    }
  }

  /// Waits in a loop, because a sleeping thread would wake far too late.
  static func wait(until time: UInt64) {
    while RaceRecord.now() < time {}
  }
}
