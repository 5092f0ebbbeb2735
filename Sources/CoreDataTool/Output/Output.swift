import Foundation

/// The standard output, written in large pieces.
final class Output {
  private var buffer: [UInt8] = []
  private static let size = 1 << 16
  /// The first error. Output after it is lost.
  private var failure: (any Error)?

  func write(_ text: String) {
    var text = text
    text.withUTF8 { bytes in
      if buffer.count + bytes.count > Self.size { drain() }
      if bytes.count < Self.size { buffer.append(contentsOf: bytes) } else { put(bytes) }
    }
  }

  func line(_ text: String) {
    write(text)
    write("\n")
  }

  private func drain() {
    buffer.withUnsafeBufferPointer(put)
    buffer.removeAll(keepingCapacity: true)
  }

  private func put(_ bytes: UnsafeBufferPointer<UInt8>) {
    guard failure == nil, let start = bytes.baseAddress, !bytes.isEmpty else { return }
    let data = Data(bytesNoCopy: UnsafeMutableRawPointer(mutating: start), count: bytes.count, deallocator: .none)
    do { try FileHandle.standardOutput.write(contentsOf: data) } catch { failure = error }
  }

  /// Writes the rest of the buffer. Throws where any output could not be written.
  func flush() throws {
    drain()
    if failure != nil { throw ToolError(message: "The output cannot be written.") }
  }
}
