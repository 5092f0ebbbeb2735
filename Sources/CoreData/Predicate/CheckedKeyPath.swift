/// A text in place of `#keyPath`, which needs Objective-C. The compiler checks the properties. Rewritten sources
/// contain it: `#keyPath(Student.school.name)` becomes
///
/// ```swift
/// checkedKeyPath("school.name", CheckedKeyPath(\Student.school).then(\.name))
/// ```
///
/// The text is a literal, so that its type may be any that a literal of a string can have. The properties are checked
/// when the program is compiled, and cost nothing when it runs.
public func checkedKeyPath<Text: ExpressibleByStringLiteral>(
  _ text: Text, _ properties: @autoclosure () -> Any
) -> Text { text }

/// The properties of a key path, for ``checkedKeyPath(_:_:)``.
///
/// Each step may begin at a value, at an optional one, or at an element of a collection of Swift, as in `#keyPath`.
/// What is behind a collection of Foundation, a dictionary or any object has no type here, and is not checked.
public struct CheckedKeyPath<Value> {
  /// The property that is the first key.
  public init<Root>(_ first: KeyPath<Root, Value>) {}

  private init() {}

  /// The key path with the property that is its next key. Of a collection that is a property of the elements, where
  /// they have one.
  @_disfavoredOverload
  public func then<Next>(_ next: KeyPath<Value, Next>) -> CheckedKeyPath<Next> { CheckedKeyPath<Next>() }

  /// The key path with a property of the value where there is one.
  public func then<Wrapped, Next>(_ next: KeyPath<Wrapped, Next>) -> CheckedKeyPath<Next> where Value == Wrapped? {
    CheckedKeyPath<Next>()
  }

  /// The key path with a property of each element.
  public func then<Next>(_ next: KeyPath<Value.Element, Next>) -> CheckedKeyPath<Next> where Value: Sequence {
    CheckedKeyPath<Next>()
  }

  /// The key path with a property of each element.
  public func then<Elements: Sequence, Next>(
    _ next: KeyPath<Elements.Element, Next>
  ) -> CheckedKeyPath<Next> where Value == Elements? {
    CheckedKeyPath<Next>()
  }
}

/// The same where the form of the value is known. The compiler's messages are about one form then.
extension CheckedKeyPath {
  /// The key path with a property of the value.
  public func then<Next>(exactly next: KeyPath<Value, Next>) -> CheckedKeyPath<Next> { CheckedKeyPath<Next>() }

  /// The key path with a property of the value where there is one.
  public func then<Wrapped, Next>(optional next: KeyPath<Wrapped, Next>) -> CheckedKeyPath<Next>
  where Value == Wrapped? {
    CheckedKeyPath<Next>()
  }
}

extension Selector {
  /// The selector of the setter of a property: `setName:` for `name`.
  public init(setterOf property: String) {
    self.init("set" + property.prefix(1).uppercased() + property.dropFirst() + ":")
  }
}
