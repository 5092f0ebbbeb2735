import Foundation

/// Classes by the names that models have.
public enum ModelClasses {
  /// The class with a name, given with its module or without; nil where there is none, or several.
  ///
  /// Rewritten sources call it in place of `NSClassFromString`, which on other platforms than Apple's finds no class by
  /// a name in Objective-C, such as `Student` for `@objc(Student)`.
  public static func named(_ name: String) -> AnyClass? { NSClassFromString(name) ?? ManagedObjectClass.only(name) }
}
