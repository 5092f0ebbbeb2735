import CoreData
import XCTest

@testable import Catalogue

final class CatalogueTests: XCTestCase {
  func testBooksHaveTheirAuthor() throws {
    let context = try Catalogue().container.viewContext
    let books = try context.fetch(Book.request(author: "Austen"))
    XCTAssertEqual(books.map(\.title), ["Emma", "Persuasion"])
    XCTAssertEqual(books.first?.author?.books?.count, 2)
  }
}
