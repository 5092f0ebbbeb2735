/// Texts of a diagram: what is visible of them, how wide they are, and how a format escapes them.
enum DiagramText {
  /// The text in one line. Control characters, line ends and characters that turn the direction of writing become
  /// their numbers, as in `\u{7}`.
  static func visible(_ text: String) -> String {
    if !text.unicodeScalars.contains(where: isHidden) { return text }
    var result = ""
    for scalar in text.unicodeScalars {
      if isHidden(scalar) {
        result += "\\u{\(String(scalar.value, radix: 16))}"
      } else {
        result.unicodeScalars.append(scalar)
      }
    }
    return result
  }

  private static func isHidden(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case 0..<0x20, 0x7f..<0xa0, 0x200e, 0x200f, 0x2028...0x202e, 0x2066...0x2069, 0xfeff, 0xfffe, 0xffff: true
    default: false
    }
  }

  /// The text with "…" in place of what is beyond some columns. Wide characters take two columns.
  static func shortened(_ text: String, to limit: Int = 48) -> String {
    var columns = 0
    var result = String.UnicodeScalarView()
    for scalar in text.unicodeScalars {
      columns += isWide(scalar) ? 2 : 1
      if columns > limit {
        while result.count > 1, columns > limit {
          columns -= result.popLast().map(isWide) == true ? 2 : 1
        }
        return String(result) + "…"
      }
      result.append(scalar)
    }
    return text
  }

  /// The width in pixels at a size, at most: that of DejaVu Sans, which is wider than the other fonts of the picture.
  static func width(_ text: String, size: Int, isBold: Bool = false) -> Int {
    let units = text.unicodeScalars.reduce(0) { $0 + width($1) }
    return (units * size * (isBold ? 118 : 100) + 99_999) / 100_000
  }

  /// In thousandths of the font's size.
  private static func width(_ scalar: Unicode.Scalar) -> Int {
    switch scalar {
    case " ", "i", "j", "l", ".", ",", ":", ";", "'", "|", "·", "I", "J": 340
    case "(", ")", "f", "r", "t", "-", "[", "]", "/", "!", "\"", "\\": 420
    case "a"..."l", "n"..."v", "x"..."z", "0"..."9", "_", "*", "?", "{", "}": 640
    case "A"..."L", "N"..."V", "X"..."Z": 790
    case _ where isWide(scalar): 1300
    default: scalar.isASCII ? 1000 : 1010
    }
  }

  /// Whether the character is about as wide as two others: those of East Asia, and emoji.
  private static func isWide(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case 0x1100...0x115f, 0x2e80...0xa4cf, 0xac00...0xd7a3, 0xf900...0xfaff, 0xfe30...0xfe6f, 0xff00...0xff60,
      0xffe0...0xffe6, 0x1f000...0x1faff, 0x12000...0x1254f, 0x20000...0x3fffd:
      true
    default: false
    }
  }

  /// For XML, as content and as an attribute between double quotes.
  static func xml(_ text: String) -> String {
    escaped(text) { scalar in
      switch scalar {
      case "&": "&amp;"
      case "<": "&lt;"
      case ">": "&gt;"
      case "\"": "&quot;"
      case "'": "&#39;"
      default: nil
      }
    }
  }

  /// For Mermaid: everything but letters, digits and a few harmless signs by its number. A star at the end of a line
  /// would have a meaning.
  static func mermaid(_ text: String) -> String {
    let endsWithStar = text.hasSuffix("*")
    let escaped = escaped(endsWithStar ? String(text.dropLast()) : text) { scalar in
      switch scalar {
      case "a"..."z", "A"..."Z", "0"..."9", " ", ".", ",", "/", "_", "?", "*": nil
      default: scalar.isASCII ? "#\(scalar.value);" : nil
      }
    }
    return endsWithStar ? escaped + "#42;" : escaped
  }

  private static func escaped(_ text: String, _ escape: (Unicode.Scalar) -> String?) -> String {
    var result = ""
    for scalar in text.unicodeScalars {
      if let escaped = escape(scalar) { result += escaped } else { result.unicodeScalars.append(scalar) }
    }
    return result
  }
}
