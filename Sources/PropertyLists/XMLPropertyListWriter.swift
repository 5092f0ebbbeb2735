import Foundation

/// Writes XML property lists as Apple's writers do: an element a line, data between lines of its own.
public enum XMLPropertyListWriter {
  /// The lines of a `plist` element, without a prolog, each behind `indent` spaces. Recurses over nothing.
  ///
  /// What XML has no form for (``PropertyList/null``, ``PropertyList/uid(_:)``) is left out of dictionaries, and an empty string in
  /// arrays.
  public static func write(_ list: PropertyList, indent: Int = 0) -> String {
    var writer = Writing()
    writer.line(indent, "<plist version=\"1.0\">")
    var pending: [Step] = [.value(list, indent + 4)]
    while let step = pending.popLast() {
      switch step {
      case .line(let text, let depth): writer.line(depth, text)
      case .value(let value, let depth): pending += writer.begin(value, depth).reversed()
      }
    }
    writer.line(indent, "</plist>")
    return writer.text
  }

  private enum Step {
    case line(String, Int)
    case value(PropertyList, Int)
  }

  private struct Writing {
    var text = ""

    mutating func line(_ depth: Int, _ line: String) {
      text += String(repeating: " ", count: depth)
      text += line
      text += "\n"
    }

    /// Writes a value, or the beginning of a container, and gives what follows.
    mutating func begin(_ value: PropertyList, _ depth: Int) -> [Step] {
      switch value {
      case .null, .uid: line(depth, "<string></string>")
      case .bool(let x): line(depth, x ? "<true/>" : "<false/>")
      case .integer(let x): line(depth, "<integer>\(x)</integer>")
      case .unsigned(let x): line(depth, "<integer>\(x)</integer>")
      case .real(let x): line(depth, "<real>\(x)</real>")
      case .date(let x): line(depth, "<date>\(date(x))</date>")
      case .string(let x): line(depth, "<string>\(escaped(x))</string>")
      case .data(let x): data(x, depth)
      case .array(let elements):
        line(depth, "<array>")
        return elements.map { .value($0, depth + 4) } + [.line("</array>", depth)]
      case .dictionary(let entries):
        line(depth, "<dict>")
        let steps = entries.sorted { $0.key < $1.key }.flatMap { key, value -> [Step] in
          switch value {
          case .null, .uid: []
          default: [.line("<key>\(escaped(key))</key>", depth + 4), .value(value, depth + 4)]
          }
        }
        return steps + [.line("</dict>", depth)]
      }
      return []
    }

    private mutating func data(_ bytes: Data, _ depth: Int) {
      line(depth, "<data>")
      let encoded = Array(bytes.base64EncodedString().utf8)
      for start in stride(from: 0, to: encoded.count, by: 68) {
        line(0, "\t\t" + String(decoding: encoded[start..<min(start + 68, encoded.count)], as: UTF8.self))
      }
      line(0, "\t\t</data>")
    }

    /// Whole seconds, as the format has them.
    private func date(_ seconds: Double) -> String {
      Date(timeIntervalSinceReferenceDate: seconds).ISO8601Format()
    }

    private func escaped(_ text: String) -> String {
      text.replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing(">", with: "&gt;")
    }
  }
}
