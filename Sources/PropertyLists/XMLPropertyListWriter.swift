import Foundation

/// Writes XML property lists in the layout of Apple's writers: one element per line, and data between lines of its own.
public enum XMLPropertyListWriter {
  /// The lines of a `plist` element, without a prolog, indented by `indent` spaces. Does not recurse.
  ///
  /// Throws where the list has values that XML property lists do not support: nulls, references of keyed archives,
  /// characters that XML does not allow, dates out of range. Dates lose their fractions of a second.
  public static func write(_ list: PropertyList, indent: Int = 0) throws(PropertyListError) -> String {
    var writer = Writing()
    writer.line(indent, "<plist version=\"1.0\">")
    var pending: [Step] = [.value(list, indent + 4)]
    while let step = pending.popLast() {
      switch step {
      case .line(let text, let depth): writer.line(depth, text)
      case .value(let value, let depth): pending += try writer.begin(value, depth).reversed()
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

    /// Writes a value, or the beginning of a container. Returns the remaining steps.
    mutating func begin(_ value: PropertyList, _ depth: Int) throws(PropertyListError) -> [Step] {
      switch value {
      case .null, .uid: throw PropertyListError(.unsupported, "a null or a reference is in no XML property list")
      case .bool(let x): line(depth, x ? "<true/>" : "<false/>")
      case .integer(let x): line(depth, "<integer>\(x)</integer>")
      case .unsigned(let x): line(depth, "<integer>\(x)</integer>")
      case .real(let x): line(depth, "<real>\(x)</real>")
      case .date(let x): line(depth, "<date>\(try date(x))</date>")
      case .string(let x): line(depth, "<string>\(try escaped(x))</string>")
      case .data(let x): data(x, depth)
      case .array(let elements):
        line(depth, "<array>")
        return elements.map { .value($0, depth + 4) } + [.line("</array>", depth)]
      case .dictionary(let entries):
        line(depth, "<dict>")
        var steps: [Step] = []
        for (key, value) in entries.sorted(by: { $0.key < $1.key }) {
          steps += [.line("<key>\(try escaped(key))</key>", depth + 4), .value(value, depth + 4)]
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

    /// Whole seconds, and only years that the format can express.
    private func date(_ seconds: Double) throws(PropertyListError) -> String {
      guard seconds > -6.3e10, seconds < 2.5e11 else {
        throw PropertyListError(.unsupported, "the date \(seconds) is out of the range of an XML property list")
      }
      return Date(timeIntervalSinceReferenceDate: seconds).ISO8601Format()
    }

    private func escaped(_ text: String) throws(PropertyListError) -> String {
      // Compares code points: a sign after some scalars is part of a Character that is not the sign.
      var result = String.UnicodeScalarView()
      for scalar in text.unicodeScalars {
        switch scalar {
        case "\u{0}"..."\u{8}", "\u{b}"..."\u{1f}", "\u{fffe}", "\u{ffff}":
          throw PropertyListError(.unsupported, "a text has a character that XML does not allow")
        case "&": result.append(contentsOf: "&amp;".unicodeScalars)
        case "<": result.append(contentsOf: "&lt;".unicodeScalars)
        case ">": result.append(contentsOf: "&gt;".unicodeScalars)
        default: result.append(scalar)
        }
      }
      return String(result)
    }
  }
}
