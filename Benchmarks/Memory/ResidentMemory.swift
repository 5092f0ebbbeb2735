import Foundation
import Synchronization

/// The peak of this process's memory, by `/proc/self/status`.
final class ResidentMemory: Sendable {
  /// The bytes in use at the beginning.
  let start: Int
  private let sampled: Sampled?

  /// With `withoutMaps`, mapped files do not count. Linux reports no peak of that, so a thread samples it every 5 ms.
  init(withoutMaps: Bool) {
    start = Self.bytes(withoutMaps ? "RssAnon:" : "VmRSS:")
    sampled = withoutMaps ? Sampled() : nil
  }

  func peak() -> Int { sampled?.end() ?? Self.bytes("VmHWM:") }

  static func bytes(_ key: String) -> Int { number(key) * 1024 }

  /// A line of the status of this process.
  static func number(_ key: String) -> Int {
    guard let text = try? String(contentsOfFile: "/proc/self/status", encoding: .utf8) else { return 0 }
    for line in text.split(separator: "\n") where line.hasPrefix(key) {
      return line.dropFirst(key.count).split(whereSeparator: \.isWhitespace).first.flatMap { Int($0) } ?? 0
    }
    return 0
  }

  private final class Sampled: Sendable {
    private let state = Mutex((most: 0, isDone: false))

    init() {
      let thread = Thread { [self] in
        while look() { usleep(5_000) }
      }
      thread.start()
    }

    /// Takes a sample. Gives false after ``end()``.
    private func look() -> Bool {
      let now = ResidentMemory.bytes("RssAnon:")
      return state.withLock { state in
        state.most = max(state.most, now)
        return !state.isDone
      }
    }

    func end() -> Int {
      _ = look()
      return state.withLock { state in
        state.isDone = true
        return state.most
      }
    }
  }
}
