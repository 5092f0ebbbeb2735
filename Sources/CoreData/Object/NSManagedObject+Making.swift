import Foundation

extension NSManagedObject {
  /// The symbol of the allocating initializer. Called on a metatype it makes an object of that class, through the
  /// vtable, so the class need not declare a `required` initializer. ``make(_:)`` checks that the object has the class.
  @_silgen_name("$s8CoreData15NSManagedObjectC7_cdMakeAcA19NSEntityDescriptionC_tcfC")
  private static func allocate(_ entity: consuming NSEntityDescription) -> NSManagedObject

  @inline(__always)
  static func make(_ entity: NSEntityDescription) -> NSManagedObject {
    let made = allocate(entity)
    if type(of: made) != self { misuse("This version of Swift makes a \(type(of: made)) instead of a \(self).") }
    return made
  }
}

/// Lets generic code make objects of its type parameter, as `T(context:)`, without `required` initialisers.
public protocol _ManagedObjectMaking {}

extension NSManagedObject: _ManagedObjectMaking {}

extension _ManagedObjectMaking {
  /// Makes an object of `entity` and inserts it into `context`, unless that is nil.
  public init(entity: NSEntityDescription, insertInto context: NSManagedObjectContext?) {
    guard let type = Self.self as? NSManagedObject.Type,
      let made = type.make(ContextCore.info(of: entity, context).description) as? Self
    else { misuse("\(Self.self) is not a class of managed objects.") }
    if let object = made as? NSManagedObject { context?.core.insert(object) }
    self = made
  }

  /// Makes an object of the entity whose class this is, in the model of `context`, and inserts it there.
  public init(context moc: NSManagedObjectContext) {
    guard let type = Self.self as? NSManagedObject.Type else {
      misuse("\(Self.self) is not a class of managed objects.")
    }
    self.init(entity: moc.core.entity(of: type).description, insertInto: moc)
  }
}
