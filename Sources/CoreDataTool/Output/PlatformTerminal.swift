import Foundation

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// What a terminal can show beyond plain text.
enum Terminal {
  enum Style: String {
    case error = "31;1"
    case strong = "1"
  }

  /// Text with a colour where `handle` is a terminal and nobody asked for none ([no-color.org](https://no-color.org)).
  static func styled(_ text: String, _ style: Style, on handle: FileHandle) -> String {
    guard isTerminal(handle), ProcessInfo.processInfo.environment["NO_COLOR"].map(\.isEmpty) ?? true else {
      return text
    }
    return "\u{1b}[\(style.rawValue)m\(text)\u{1b}[0m"
  }

  static func isTerminal(_ handle: FileHandle) -> Bool {
    #if os(Windows)
      false
    #else
      isatty(handle.fileDescriptor) == 1
    #endif
  }
}
