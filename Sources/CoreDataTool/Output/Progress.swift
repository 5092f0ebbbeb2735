import Foundation

/// Shows the progress of long work on a terminal: nothing for the first second, then five times a second.
final class Progress {
  private let what: String
  private let isShown = Terminal.isTerminal(.standardError)
  private var count = 0
  private var next = Date(timeIntervalSinceNow: 1)
  private var hasWritten = false

  init(_ what: String) { self.what = what }

  func step() {
    count += 1
    // The clock is not read for every object.
    guard isShown, count & 0xF == 0, Date() >= next else { return }
    next = Date(timeIntervalSinceNow: 0.2)
    hasWritten = true
    write("\r\(count) \(what)")
  }

  /// Removes the line again.
  func end() {
    if hasWritten { write("\r\u{1b}[K") }
  }

  private func write(_ text: String) { try? FileHandle.standardError.write(contentsOf: Data(text.utf8)) }
}
