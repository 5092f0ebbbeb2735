import CoreData
import Foundation
import Testing

/// A class as the plugin rewrites one.
final class TransientSheet: NSManagedObject {
  var page: Int64 {
    get { value(of: Self._key_page) }
    set { setValue(newValue, of: Self._key_page) }
  }
  nonisolated private static let _key_page = ManagedProperty<Int64>("page")
  var title: String? {
    get { value(of: Self._key_title) }
    set { setValue(newValue, of: Self._key_title) }
  }
  nonisolated private static let _key_title = ManagedProperty<String?>("title")
  var picture: Data? {
    get { value(of: Self._key_picture) }
    set { setValue(newValue, of: Self._key_picture) }
  }
  nonisolated private static let _key_picture = ManagedProperty<Data?>("picture")
}

/// Key paths of attributes that have no slot of their own type: their accessors read by key-value coding.
@Suite struct KeyPathOfTransientTests {
  @Test func `a name stands once`() throws {
    let kinds: [(String, NSAttributeDescription.AttributeType)] = [
      ("page", .integer64), ("title", .string), ("picture", .transformable),
    ]
    let entity = NSEntityDescription()
    entity.name = "Sheet"
    entity.managedObjectClassName = NSStringFromClass(TransientSheet.self)
    entity.properties = kinds.map { name, type in
      let attribute = NSAttributeDescription()
      (attribute.name, attribute.type, attribute.isTransient) = (name, type, type != .transformable)
      return attribute
    }
    let model = NSManagedObjectModel()
    model.entities = [entity]
    // A class is known once its model is in use.
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    #expect(NSExpression(forKeyPath: \TransientSheet.page).keyPath == "page")
    #expect(NSExpression(forKeyPath: \TransientSheet.title).keyPath == "title")
    #expect(NSExpression(forKeyPath: \TransientSheet.picture).keyPath == "picture")
    #expect(NSSortDescriptor(keyPath: \TransientSheet.title, ascending: true).key == "title")
    withExtendedLifetime(coordinator) {}
  }
}
