import CoreData
import Foundation

/// A root context, and contexts below it, each the child of the one before.
struct ContextChain {
  let company: CompanyStore
  let contexts: [NSManagedObjectContext]
  var root: NSManagedObjectContext { contexts[0] }
  var child: NSManagedObjectContext { contexts[1] }

  init(_ company: CompanyStore? = nil, levels: Int = 2) throws {
    self.company = try company ?? CompanyStore()
    var contexts = [self.company.context()]
    while contexts.count < levels {
      let next = NSManagedObjectContext(.privateQueue)
      next.parent = contexts.last
      contexts.append(next)
    }
    self.contexts = contexts
  }

  /// The names of the people in the store.
  func stored() throws -> [String] {
    try company.run { try $0.fetch(NSFetchRequest<Person>(entityName: "Person")).compactMap(\.name).sorted() }
  }

  /// Saves a person to the store, through the root. Returns its ID.
  func savePerson() throws -> NSManagedObjectID {
    try root.performAndWait {
      let person = Person(context: root)
      person.name = "Ada"
      try root.save()
      return person.objectID
    }
  }

  /// Changes a saved person in the child and saves that, after a context outside of the family has set the age to 9.
  /// The root has dropped the person meanwhile.
  func changeWhatOthersHaveSaved(_ change: (Person) -> Void) throws {
    let id = try savePerson()
    root.performAndWait { root.reset() }
    try child.performAndWait {
      guard let person = try child.existingObject(with: id) as? Person else { throw CocoaError(.coreData) }
      try company.run { other in
        (try other.existingObject(with: id) as? Person)?.age = 9
        try other.save()
      }
      change(person)
      try child.save()
    }
  }

  static func people(_ format: String? = nil) -> NSFetchRequest<Person> {
    let request = NSFetchRequest<Person>(entityName: "Person")
    request.predicate = format.map { NSPredicate(format: $0) }
    request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
    return request
  }
}
