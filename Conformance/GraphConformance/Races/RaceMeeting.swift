import Foundation

/// Where workers wait for each other.
protocol RaceMeeting: AnyObject, Sendable {
  /// Waits until all workers that have this number are there. Gives the time, in nanoseconds of ``RaceRecord/now()``,
  /// at which all go on.
  func meet(_ number: Int) -> UInt64
}

/// Lets the workers of one program meet. Those of another process come through a thread of this one.
final class LocalMeeting: RaceMeeting, @unchecked Sendable {
  private let condition = NSCondition()
  private var missing: [Int: Int] = [:]
  private var times: [Int: UInt64] = [:]
  private var isOver = false

  /// How long after the last one has come all go on: long enough for the others to wake.
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

  /// Lets everybody go on for good, because somebody will not come.
  func end() {
    condition.withLock {
      isOver = true
      condition.broadcast()
    }
  }

  /// Waits actively: a thread that sleeps wakes far too late.
  static func wait(until time: UInt64) {
    while RaceRecord.now() < time {}
  }
}
