import Foundation

extension Pipe {
  /// What is written to the pipe until its other end closes, or until `isEnough` says so.
  ///
  /// Foundation's own way gives up when a signal interrupts it, as the end of a child process does.
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
