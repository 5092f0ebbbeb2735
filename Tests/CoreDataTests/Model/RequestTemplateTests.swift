import Foundation
import TestSupport
import Testing

@testable import CoreData

/// Features 1.8 and 1.9: fetch request templates.
@Suite struct RequestTemplateTests {
  @Test func variablesAreReplacedInACopy() throws {
    let model = Describing.library()
    let context = try Describing.context(model)
    try context.performAndWait { () throws in
      for title in ["A", "B"] {
        let book = NSEntityDescription.insertNewObject(forEntityName: "Book", into: context)
        book.setValue(title, forKey: "title")
        if title == "A" {
          let author = NSEntityDescription.insertNewObject(forEntityName: "Author", into: context)
          author.setValue("N", forKey: "name")
          book.setValue(author, forKey: "author")
        }
      }
      func titles(_ variables: [String: Any]) throws -> [String?] {
        let request = try #require(
          model.fetchRequestFromTemplate(withName: "books", substitutionVariables: variables))
        return try context.fetch(request).map { ($0 as? NSManagedObject)?.value(forKey: "title") as? String }
      }
      #expect(try titles(["TITLE": "A", "NAME": "N"]) == ["A"])
      #expect(try titles(["TITLE": "B", "NAME": NSNull()]) == ["B"])
      #expect(try titles(["TITLE": "B", "NAME": "N", "UNUSED": 1]) == [])
    }
    #expect(model.fetchRequestTemplate(forName: "books")?.predicate?.predicateFormat.contains("$TITLE") == true)
    #expect(model.fetchRequestFromTemplate(withName: "none", substitutionVariables: [:]) == nil)
  }

  @Test func aCopyOfATemplateInUseCanBeChanged() throws {
    let model = Describing.library()
    _ = try model.freeze()
    let template = try #require(model.fetchRequestTemplate(forName: "books"))
    let copy = try #require(template.copy() as? NSFetchRequest<any NSFetchRequestResult>)
    copy.fetchLimit = 3
    #expect(template.fetchLimit == 0 && copy.entityName == "Book")
    let made = model.fetchRequestFromTemplate(withName: "books", substitutionVariables: ["TITLE": 1, "NAME": 2])
    made?.fetchLimit = 5
    #expect(made?.fetchLimit == 5 && template.fetchLimit == 0)
  }

  @Test func everyVariableNeedsAValue() async throws {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      _ = Describing.library().fetchRequestFromTemplate(withName: "books", substitutionVariables: ["TITLE": "A"])
    }
    let text = String(decoding: try #require(result).standardErrorContent, as: UTF8.self)
    #expect(text.contains("variable $NAME"))
  }

  @Test func variablesOfSubqueriesAreTheirOwn() throws {
    let model = Describing.library()
    let request = NSFetchRequest<any NSFetchRequestResult>(entityName: "Author")
    request.predicate = NSPredicate(format: "SUBQUERY(books, $b, $b.title == $TITLE).@count > 0")
    model.setFetchRequestTemplate(request, forName: "authors")
    let made = model.fetchRequestFromTemplate(withName: "authors", substitutionVariables: ["TITLE": "A"])
    let format = try #require(made?.predicate?.predicateFormat)
    #expect(format.contains("$b.title == \"A\""))
  }

  @Test func aTemplateIsTakenOutByNil() {
    let model = Describing.library()
    #expect(model.fetchRequestTemplatesByName.keys.sorted() == ["books"])
    model.setFetchRequestTemplate(nil, forName: "books")
    #expect(model.fetchRequestTemplate(forName: "books") == nil)
  }
}
