import Foundation
import PropertyLists

/// A strings file: texts by key, as text (`"key" = "text";` with comments), or compiled to a property list.
///
/// The text form is that of Apple's "String Resources" (Resource Programming Guide): UTF-8, or UTF-16 with a byte order
/// mark. Quoted texts may contain `\n`, `\t`, `\r`, `\"`, `\\` and `\Uxxxx`. Keys and texts without blanks need no
/// quotes.
public enum StringsFile {
  /// The texts of the file at `url`, by key. If a key occurs twice, its last text counts.
  ///
  /// Throws `cannotRead` for a missing file, and `malformed` for one that is no strings file. The error has the URL.
  public static func read(at url: URL) throws(ModelFileError) -> [String: String] {
    do { return try read(url.contents()) } catch { throw error.located(at: url) }
  }

  static func read(_ data: Data) throws(ModelFileError) -> [String: String] {
    if data.starts(with: Data("bplist".utf8)) || data.starts(with: Data("<?xml".utf8)) {
      let list: PropertyList
      do { list = try PropertyList(contents: data) } catch { throw ModelFileError(error) }
      guard let entries = list.dictionaryValue else {
        throw ModelFileError(.malformed, "the strings file is not a dictionary")
      }
      return entries.compactMapValues(\.stringValue)
    }
    guard let text = text(data) else {
      throw ModelFileError(.malformed, "the strings file is neither UTF-8 nor UTF-16")
    }
    var scanner = StringsScanner(text)
    return try scanner.entries()
  }

  private static func text(_ data: Data) -> String? {
    if data.starts(with: [0xFF, 0xFE]) || data.starts(with: [0xFE, 0xFF]) {
      return String(data: data, encoding: .utf16)
    }
    return String(validating: data.starts(with: [0xEF, 0xBB, 0xBF]) ? data.dropFirst(3) : data, as: UTF8.self)
  }
}

/// Reads the text form, one entry after another.
private struct StringsScanner {
  private let scalars: [Unicode.Scalar]
  private var position = 0

  init(_ text: String) { scalars = Array(text.unicodeScalars) }

  mutating func entries() throws(ModelFileError) -> [String: String] {
    var result: [String: String] = [:]
    while try skipBlanks() {
      let key = try word()
      _ = try skipBlanks()
      var text = key
      if take("=") {
        _ = try skipBlanks()
        text = try word()
        _ = try skipBlanks()
      }
      guard take(";") else { throw malformed("a semicolon is missing behind \"\(key)\"") }
      result[key] = text
    }
    return result
  }

  private var next: Unicode.Scalar? { position < scalars.count ? scalars[position] : nil }

  private mutating func take(_ scalar: Unicode.Scalar) -> Bool {
    if next != scalar { return false }
    position += 1
    return true
  }

  /// Skips white space and comments. Returns false at the end.
  private mutating func skipBlanks() throws(ModelFileError) -> Bool {
    while let scalar = next {
      if scalar.properties.isWhitespace {
        position += 1
      } else if scalar == "/", position + 1 < scalars.count, "/*".unicodeScalars.contains(scalars[position + 1]) {
        try skipComment()
      } else {
        return true
      }
    }
    return false
  }

  private mutating func skipComment() throws(ModelFileError) {
    let isLine = scalars[position + 1] == "/"
    position += 2
    while let scalar = next {
      position += 1
      if isLine ? scalar == "\n" || scalar == "\r" : scalar == "*" && take("/") { return }
    }
    if !isLine { throw malformed("a comment has no end") }
  }

  private mutating func word() throws(ModelFileError) -> String {
    var result = String.UnicodeScalarView()
    if take("\"") {
      while let scalar = next {
        position += 1
        if scalar == "\"" { return String(result) }
        result.append(scalar == "\\" ? try escaped() : scalar)
      }
      throw malformed("a text has no closing quotation mark")
    }
    while let scalar = next, !scalar.properties.isWhitespace, !"=;\"".unicodeScalars.contains(scalar) {
      position += 1
      result.append(scalar)
    }
    if result.isEmpty { throw malformed("a key or text is missing") }
    return String(result)
  }

  private mutating func escaped() throws(ModelFileError) -> Unicode.Scalar {
    guard let scalar = next else { throw malformed("the file ends in an escape") }
    position += 1
    switch scalar {
    case "n": return "\n"
    case "r": return "\r"
    case "t": return "\t"
    case "U", "u":
      let high = try unit()
      // A scalar beyond the first 65 536 has two escapes.
      if UTF16.isLeadSurrogate(high), take("\\"), take("U") || take("u") {
        let low = try unit()
        if UTF16.isTrailSurrogate(low) { return UTF16.decode(UTF16.EncodedScalar([high, low])) }
      }
      guard let scalar = Unicode.Scalar(high) else { throw malformed("an escape is no character") }
      return scalar
    default: return scalar
    }
  }

  private mutating func unit() throws(ModelFileError) -> UInt16 {
    var digits = ""
    while digits.count < 4, let scalar = next, scalar.properties.isASCIIHexDigit {
      digits.unicodeScalars.append(scalar)
      position += 1
    }
    guard digits.count == 4, let unit = UInt16(digits, radix: 16) else { throw malformed("\\U needs four digits") }
    return unit
  }

  private func malformed(_ message: String) -> ModelFileError {
    let line = scalars[..<min(position, scalars.count)].count { $0 == "\n" } + 1
    return ModelFileError(.malformed, "\(message), in line \(line)")
  }
}
