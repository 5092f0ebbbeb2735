import CoreData
import Foundation

/// The stack of the catalogue, in memory, with the books of a text file.
public struct Catalogue {
  public let container: NSPersistentContainer

  public init() throws {
    let url = Bundle.module.url(forResource: "Catalogue", withExtension: "momd")!
    container = NSPersistentContainer(name: "Catalogue", managedObjectModel: NSManagedObjectModel(contentsOf: url)!)
    let description = NSPersistentStoreDescription()
    description.type = NSInMemoryStoreType
    container.persistentStoreDescriptions = [description]
    var failure: Error?
    container.loadPersistentStores { failure = $1 }
    if let failure { throw failure }
    let author = Author(context: container.viewContext)
    author.name = "Austen"
    let titles = Bundle.module.url(forResource: "titles", withExtension: "txt")!
    for title in try String(contentsOf: titles, encoding: .utf8).split(separator: "\n") {
      let book = Book(context: container.viewContext)
      (book.title, book.author) = (String(title), author)
    }
    try container.viewContext.save()
  }
}
