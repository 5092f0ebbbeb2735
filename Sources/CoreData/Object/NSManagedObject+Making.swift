import Foundation

extension NSManagedObject {
  /// The allocating initialiser's own symbol. Called on a metatype it makes an object of that very class, through the
  /// vtable, without the class having to declare a `required` initialiser (a test fails when a toolchain changes this).
  @_silgen_name("$s8CoreData15NSManagedObjectC7_cdMakeAcA19NSEntityDescriptionC_tcfC")
  private static func allocate(_ entity: consuming NSEntityDescription) -> NSManagedObject

  static func make(_ entity: NSEntityDescription) -> NSManagedObject { allocate(entity) }
}
