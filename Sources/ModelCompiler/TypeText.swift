/// A reader of Swift types, which decides whether a text is one.
///
/// A model's author writes any text as the class of an attribute, and the text becomes a part of generated code. So
/// only names, with their generic arguments, and arrays, dictionaries and groups of these are taken.
struct TypeText {
  private var rest: Substring

  /// The nesting of brackets that is followed. Types in models have two or three levels.
  private static let depthLimit = 16

  /// Whether the text is a type to which `?` can be added.
  static func isType(_ text: String) -> Bool {
    var reader = TypeText(rest: text[...])
    return reader.type(depth: 0) && reader.rest.allSatisfy { $0 == " " }
  }

  /// Recurses into brackets, up to the limit.
  private mutating func type(depth: Int) -> Bool {
    guard depth < Self.depthLimit else { return false }
    if take("[") {
      guard part(depth: depth + 1) else { return false }
      if take(":"), !part(depth: depth + 1) { return false }
      guard take("]") else { return false }
    } else if take("(") {
      // `(any P & Q)`, or a tuple.
      guard group(depth: depth + 1), take(")") else { return false }
    } else {
      guard name(depth: depth) else { return false }
    }
    while take("?") {}
    return true
  }

  private mutating func group(depth: Int) -> Bool {
    repeat {
      guard part(depth: depth) else { return false }
    } while take(",")
    return true
  }

  /// A type within brackets, which may be that of any value with some protocols: `?` is not added to it.
  private mutating func part(depth: Int) -> Bool {
    if rest.drop(while: { $0 == " " }).hasPrefix("any ") { _ = word() }
    repeat {
      guard type(depth: depth) else { return false }
    } while take("&")
    return true
  }

  private mutating func name(depth: Int) -> Bool {
    repeat {
      let name = word()
      guard Keywords.isIdentifier(name), name == "Any" || !Keywords.isReservedType(name) else { return false }
      if take("<") { guard group(depth: depth + 1), take(">") else { return false } }
    } while take(".")
    return true
  }

  private mutating func word() -> String {
    rest = rest.drop { $0 == " " }
    let word = rest.prefix { $0.isLetter || $0.isNumber || $0 == "_" }
    rest = rest.dropFirst(word.count)
    return String(word)
  }

  private mutating func take(_ character: Character) -> Bool {
    rest = rest.drop { $0 == " " }
    guard rest.first == character else { return false }
    rest.removeFirst()
    return true
  }
}
