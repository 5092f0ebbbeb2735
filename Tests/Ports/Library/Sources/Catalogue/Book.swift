import CoreData

@objc(Book)
public final class Book: NSManagedObject {
  @NSManaged public var title: String
  @NSManaged public var author: Author?

  /// A request for the books of an author, by title.
  public static func request(author: String) -> NSFetchRequest<Book> {
    let request = NSFetchRequest<Book>(entityName: "Book")
    request.predicate = NSPredicate(format: "%K == %@", #keyPath(Book.author.name), author)
    request.sortDescriptors = [NSSortDescriptor(key: #keyPath(Book.title), ascending: true)]
    return request
  }
}
