import Foundation

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// Styles of text on a terminal.
enum Terminal {
  enum Style: String {
    case error = "31;1"
    case strong = "1"
  }

  /// Text with a style where `handle` is a terminal and colours are not switched off
  /// ([no-color.org](https://no-color.org)).
  static func styled(_ text: String, _ style: Style, on handle: FileHandle) -> String {
    guard isTerminal(handle), ProcessInfo.processInfo.environment["NO_COLOR"].map(\.isEmpty) ?? true else {
      return text
    }
    return "\u{1b}[\(style.rawValue)m\(text)\u{1b}[0m"
  }

  /// Text of a file for people. Control characters, which could take over a terminal, are escaped.
  static func harmless(_ text: String) -> String {
    if text.unicodeScalars.allSatisfy({ $0.properties.generalCategory != .control }) { return text }
    return text.unicodeScalars.map { scalar in
      scalar.properties.generalCategory == .control ? "\\u{\(String(scalar.value, radix: 16))}" : String(scalar)
    }.joined()
  }

  static func isTerminal(_ handle: FileHandle) -> Bool {
    #if os(Windows)
      false
    #else
      isatty(handle.fileDescriptor) == 1
    #endif
  }
}
