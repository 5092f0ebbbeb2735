import Foundation

/// The standard output, written in large pieces.
final class Output {
  private var buffer = Data()
  private static let size = 1 << 16
  /// The first thing that went wrong; what is written after it is lost.
  private var failure: (any Error)?

  func write(_ text: String) {
    buffer.append(contentsOf: text.utf8)
    if buffer.count >= Self.size { drain() }
  }

  func line(_ text: String) {
    write(text)
    write("\n")
  }

  private func drain() {
    if failure == nil {
      do { try FileHandle.standardOutput.write(contentsOf: buffer) } catch { failure = error }
    }
    buffer.removeAll(keepingCapacity: true)
  }

  /// Writes what is left. Throws where anything could not be written.
  func flush() throws {
    drain()
    if failure != nil { throw ToolError(message: "The output cannot be written.") }
  }
}
