import Catalogue
import CoreData

let catalogue = try Catalogue()
for book in try catalogue.container.viewContext.fetch(Book.request(author: "Austen")) {
  print("\(book.author?.name ?? "nobody"): \(book.title)")
}
