/// Order and equality of strings by their UTF-8 bytes, which is also the order of their Unicode scalars.
///
/// Swift's own `<` and `==` use canonical equivalence, which names and values must not use.
public enum UTF8Order {
  /// Whether `a` comes before `b` in the order of their UTF-8 bytes.
  public static func isLess(_ a: String, _ b: String) -> Bool { a.utf8.lexicographicallyPrecedes(b.utf8) }

  /// Whether both have the same UTF-8 bytes.
  public static func areEqual(_ a: String, _ b: String) -> Bool { a.utf8.elementsEqual(b.utf8) }
}
