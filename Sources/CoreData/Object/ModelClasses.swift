import Foundation
import RuntimeAccess

/// Classes by the names that models have.
public enum ModelClasses {
  /// The class with a name, given with its module or without; nil where there is none, or several. Of a class of
  /// Foundation and one of the program with the same name it is that of the program.
  ///
  /// Rewritten sources call it in place of `NSClassFromString`, which on other platforms than Apple's finds no class by
  /// a name in Objective-C, such as `Student` for `@objc(Student)`.
  public static func named(_ name: String) -> AnyClass? {
    if name.isEmpty { return nil }
    let ofFoundation: AnyClass? = name.contains(".") ? nil : NSClassFromString(name)
    guard let all = ProcessClasses.named(name), let ofFoundation else {
      return (name.contains(".") ? ManagedObjectClass.qualified(name) : ManagedObjectClass.only(name)) ?? ofFoundation
    }
    let ofProgram = all.filter { $0 != ofFoundation }
    return ofProgram.isEmpty ? ofFoundation : ofProgram.count == 1 ? ofProgram[0] : nil
  }

  /// The name of a class for a model, by which ``named(_:)`` finds the class. It begins with the module, but for
  /// classes of Foundation.
  ///
  /// Rewritten sources call it in place of `NSStringFromClass`, which stops the program on other platforms than
  /// Apple's for a class within another type, for a private and for a generic one. Here these have their names in
  /// Swift, not the mangled ones of Objective-C. ``named(_:)`` finds no generic class.
  public static func name(of type: AnyClass) -> String {
    let name = String(reflecting: type)
    return name.split(separator: ".").count == 2 && !name.contains("<") ? NSStringFromClass(type) : name
  }
}
