import Foundation

extension Pipe {
  /// The text that is written to the pipe until its other end closes, or until `isEnough` returns true.
  ///
  /// Foundation's own function fails when a signal interrupts it, such as the end of a child process.
  package func text(until isEnough: (String) -> Bool = { _ in false }) -> String {
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 4096)
    while true {
      let count = read(fileHandleForReading.fileDescriptor, &buffer, buffer.count)
      if count < 0 && errno == EINTR { continue }
      if count <= 0 { break }
      bytes += buffer[..<count]
      if isEnough(String(decoding: bytes, as: UTF8.self)) { break }
    }
    return String(decoding: bytes, as: UTF8.self)
  }
}
