/// The differences between two records of one type, in the names of their fields.
enum RecordChanges {
  /// A sentence part for each field that differs: `isOptional was true and is false`, or the name of the field where
  /// its values are long.
  static func list(_ one: Any, _ other: Any) -> [String] {
    // The payload of a property's kind is looked into, and no other value is: the recursion has two levels.
    zip(Mirror(reflecting: one).children, Mirror(reflecting: other).children).flatMap { field, counterpart in
      let name = field.label ?? ""
      if let value = field.value as? AnyHashable, value == counterpart.value as? AnyHashable { return [String]() }
      if let kinds = payloads(field.value, counterpart.value) { return list(kinds.0, kinds.1) }
      let (was, became) = (text(field.value), text(counterpart.value))
      guard let was, let became else { return [name] }
      return ["\(name) was \(was) and is \(became)"]
    }
  }

  /// The payloads of two properties of one kind.
  private static func payloads(_ one: Any, _ other: Any) -> (Any, Any)? {
    switch (one as? PropertyRecord.Kind, other as? PropertyRecord.Kind) {
    case (.attribute(let one), .attribute(let other)): (one, other)
    case (.relationship(let one), .relationship(let other)): (one, other)
    case (.fetchedProperty(let one), .fetchedProperty(let other)): (one, other)
    default: nil
    }
  }

  /// The text of a short value; nil for records and lists.
  private static func text(_ value: Any) -> String? {
    switch value {
    case let text as String: text.count > 40 ? nil : "\"\(text)\""
    case let number as Int: "\(number)"
    case let flag as Bool: "\(flag)"
    case let text as String?: text.map { "\"\($0)\"" } ?? "none"
    default: nil
    }
  }
}
