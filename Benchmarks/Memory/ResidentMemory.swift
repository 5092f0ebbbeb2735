import Foundation
import Synchronization

/// How much of this process is in memory at the highest, as Linux says.
final class ResidentMemory: Sendable {
  /// What was in memory at the beginning.
  let start: Int
  private let sampled: Sampled?

  /// Without the maps of files where these are of a store, and the kernel may take them back at any time: Linux tells no peak
  /// of that, so a thread looks every few milliseconds.
  init(withoutMaps: Bool) {
    start = Self.bytes(withoutMaps ? "RssAnon:" : "VmRSS:")
    sampled = withoutMaps ? Sampled() : nil
  }

  func peak() -> Int { sampled?.end() ?? Self.bytes("VmHWM:") }

  static func bytes(_ key: String) -> Int {
    guard let text = try? String(contentsOfFile: "/proc/self/status", encoding: .utf8) else { return 0 }
    for line in text.split(separator: "\n") where line.hasPrefix(key) {
      return (line.dropFirst(key.count).split(whereSeparator: \.isWhitespace).first.flatMap { Int($0) } ?? 0) * 1024
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

    /// Whether to go on.
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
