import Foundation

extension NSPersistentStoreCoordinator {
  /// The allocating initializer that ``make(_:)`` calls, so that a subclass needs no `required` initializer.
  public convenience init(_cdMake model: NSManagedObjectModel) { self.init(managedObjectModel: model) }

  /// As for managed objects: the symbol of that initializer, which makes an object of the class that it is called on.
  @_silgen_name("$s8CoreData28NSPersistentStoreCoordinatorC7_cdMakeAcA20NSManagedObjectModelC_tcfC")
  private static func allocate(_ model: consuming NSManagedObjectModel) -> NSPersistentStoreCoordinator

  fileprivate static func make(_ model: NSManagedObjectModel) -> NSPersistentStoreCoordinator { allocate(model) }
}

/// Lets class methods and generic code make coordinators, as `self.init(managedObjectModel:)` and
/// `T(managedObjectModel:)`, without `required` initializers, which Objective-C initializers on Apple's platforms do
/// not need either. In a class method that does not return `Self`, the call makes an object of the extended class.
public protocol _CoordinatorMaking {}

extension NSPersistentStoreCoordinator: _CoordinatorMaking {}

extension _CoordinatorMaking {
  /// Makes a coordinator for `model`, which is immutable from now on.
  public init(managedObjectModel model: NSManagedObjectModel) {
    guard let type = Self.self as? NSPersistentStoreCoordinator.Type, let made = type.make(model) as? Self else {
      misuse("\(Self.self) is not a subclass of NSPersistentStoreCoordinator.")
    }
    self = made
  }
}
