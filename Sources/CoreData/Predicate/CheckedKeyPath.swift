/// The text of a key path whose properties the compiler checks, in place of `#keyPath`, which needs Objective-C.
/// Rewritten sources contain it: `#keyPath(Student.school.name)` becomes
/// `CheckedKeyPath("school.name", \Student.school).then(\.name).text`.
///
/// Each step may begin at a value, at an optional one, or at an element of a collection of Swift, as in `#keyPath`.
/// What is behind a collection of Foundation, a dictionary or any object has no type here, and is not checked.
public struct CheckedKeyPath<Value> {
  /// The keys, separated by points.
  public let text: String

  /// The text, with the property that is its first key.
  public init<Root>(_ text: String, _ first: KeyPath<Root, Value>) { self.text = text }

  private init(_ text: String) { self.text = text }

  /// The same text, with the property that is its next key. Of a collection that is a property of the elements, where
  /// they have one.
  @_disfavoredOverload
  public func then<Next>(_ next: KeyPath<Value, Next>) -> CheckedKeyPath<Next> { CheckedKeyPath<Next>(text) }

  /// The same text, with a property of the value where there is one.
  public func then<Wrapped, Next>(_ next: KeyPath<Wrapped, Next>) -> CheckedKeyPath<Next> where Value == Wrapped? {
    CheckedKeyPath<Next>(text)
  }

  /// The same text, with a property of each element.
  public func then<Next>(_ next: KeyPath<Value.Element, Next>) -> CheckedKeyPath<Next> where Value: Sequence {
    CheckedKeyPath<Next>(text)
  }

  /// The same text, with a property of each element.
  public func then<Elements: Sequence, Next>(
    _ next: KeyPath<Elements.Element, Next>
  ) -> CheckedKeyPath<Next> where Value == Elements? {
    CheckedKeyPath<Next>(text)
  }
}

extension Selector {
  /// The selector of the setter of a property: `setName:` for `name`.
  public init(setterOf property: String) {
    self.init("set" + property.prefix(1).uppercased() + property.dropFirst() + ":")
  }
}

extension AnyKeyPath {
  /// The names of the key path's properties, separated by points, for key-value coding; nil where they have none.
  /// Rewritten sources contain it in place of `_kvcKeyPathString`, which is nil where there is no Objective-C.
  public var keyValuePath: String? { KeyPathName.name(of: self) }
}
