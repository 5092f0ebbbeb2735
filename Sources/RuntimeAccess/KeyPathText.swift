/// Reads the properties of a key path out of Swift's description of it.
///
/// For a key path to stored properties that is `\Person.next?.name`; a computed property is described by its address
/// and its type, as in `\Song.<computed 0x1234 (Optional<Album>)>?.<computed 0x5678 (Optional<String>)>`.
package enum KeyPathText {
  /// The names of stored properties, which Swift knows itself, joined by points. Nil where a property is computed, and
  /// where the trick does not work.
  package static func storedNames(
    _ keyPath: AnyKeyPath, trusting works: Bool = RuntimeTrick.keyPathTexts.works
  ) -> String? { works ? names(keyPath) : nil }

  /// The number of properties; nil where the trick does not work.
  package static func propertyCount(
    _ keyPath: AnyKeyPath, trusting works: Bool = RuntimeTrick.keyPathTexts.works
  ) -> Int? { works ? count(keyPath) : nil }

  /// Whether the key path unwraps by `!`. Applying it may stop the program. Nil where the trick does not work.
  package static func isForced(
    _ keyPath: AnyKeyPath, trusting works: Bool = RuntimeTrick.keyPathTexts.works
  ) -> Bool? { works ? marks(keyPath).contains("!") : nil }

  private static func names(_ keyPath: AnyKeyPath) -> String? {
    let parts = keyPath.debugDescription.split(separator: ".", maxSplits: 1)
    guard parts.count == 2, !parts[1].contains("<"), !parts[1].contains(" ") else { return nil }
    return parts[1].filter { $0 != "?" && $0 != "!" }
  }

  private static func count(_ keyPath: AnyKeyPath) -> Int { marks(keyPath).count { $0 == "." } }

  /// The characters between the properties, such as `.?.`. Types stand in parentheses.
  private static func marks(_ keyPath: AnyKeyPath) -> [Character] {
    var depth = 0
    return keyPath.debugDescription.filter { character in
      if character == "(" { depth += 1 }
      if character == ")" { depth -= 1 }
      return depth == 0 && ".?!".contains(character)
    }.map(\.self)
  }

  static func canary() -> Bool {
    let computed = \_KeyPathCanary.after?.text
    return names(\_KeyPathCanary.next?.name) == "next.name" && names(\_KeyPathCanary.name) == "name"
      && names(computed) == nil && String(marks(computed)) == ".?."
      && String(marks(\_KeyPathCanary.next!.name)) == ".!."
      && String(marks(\_KeyPathCanary.after!.next?.text)) == ".!.?."
  }
}

// Open, so that the compiler does not describe its computed properties otherwise than those of clients.

/// The class of the canary's key paths.
open class _KeyPathCanary {
  final var name = ""
  final var next: _KeyPathCanary?
  open var after: _KeyPathCanary? { next }
  open var text: String? { name }
  init() {}
}
