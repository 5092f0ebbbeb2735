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

  static func people(_ format: String? = nil) -> NSFetchRequest<Person> {
    let request = NSFetchRequest<Person>(entityName: "Person")
    request.predicate = format.map { NSPredicate(format: $0) }
    request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
    return request
  }
}
