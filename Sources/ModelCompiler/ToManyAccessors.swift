/// The functions that Xcode generates for a to-many relationship.
struct ToManyAccessors {
  let property: String
  let destination: String
  let isOrdered: Bool
  /// `public`, with more where the edition has more.
  let modifiers: String

  private var name: String { property.prefix(1).uppercased() + property.dropFirst() }

  /// The functions with a blank line before and after each.
  var text: String { (isOrdered ? ordered : "") + plain }

  private var plain: String {
    let members = isOrdered ? "NSOrderedSet" : "NSSet"
    return """

          @objc(add\(name)Object:)
          @NSManaged \(modifiers) func addTo\(name)(_ value: \(destination))

          @objc(remove\(name)Object:)
          @NSManaged \(modifiers) func removeFrom\(name)(_ value: \(destination))

          @objc(add\(name):)
          @NSManaged \(modifiers) func addTo\(name)(_ values: \(members))

          @objc(remove\(name):)
          @NSManaged \(modifiers) func removeFrom\(name)(_ values: \(members))

      """
  }

  private var ordered: String {
    """

        @objc(insertObject:in\(name)AtIndex:)
        @NSManaged \(modifiers) func insertInto\(name)(_ value: \(destination), at idx: Int)

        @objc(removeObjectFrom\(name)AtIndex:)
        @NSManaged \(modifiers) func removeFrom\(name)(at idx: Int)

        @objc(insert\(name):atIndexes:)
        @NSManaged \(modifiers) func insertInto\(name)(_ values: [\(destination)], at indexes: NSIndexSet)

        @objc(remove\(name)AtIndexes:)
        @NSManaged \(modifiers) func removeFrom\(name)(at indexes: NSIndexSet)

        @objc(replaceObjectIn\(name)AtIndex:withObject:)
        @NSManaged \(modifiers) func replace\(name)(at idx: Int, with value: \(destination))

        @objc(replace\(name)AtIndexes:with\(name):)
        @NSManaged \(modifiers) func replace\(name)(at indexes: NSIndexSet, with values: [\(destination)])

    """
  }
}
