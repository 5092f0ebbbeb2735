import CoreData
import Foundation
import TestSupport
import Testing

/// Key paths over relationships.
/// https://developer.apple.com/library/archive/documentation/Cocoa/Conceptual/KeyValueCoding/CollectionOperators.html
@Suite struct KeyPathTests {
  /// A shelf with books in an unordered and in an ordered relationship: two with equal titles and prices, and one
  /// without a price.
  private func shelf(_ body: (NSManagedObject, [NSManagedObject]) throws -> Void) throws {
    let attributes: [(String, NSAttributeDescription.AttributeType)] = [
      ("title", .string), ("price", .decimal), ("pages", .integer32),
    ]
    let book = Describing.entity("Book", attributes.map { Describing.attribute($0.0, $0.1) })
    let shelf = Describing.entity("Shelf")
    Describing.relate(book, "shelf", toMany: false, shelf, "books", toManyBack: true)
    Describing.relate(book, "row", toMany: false, shelf, "ordered", toManyBack: true)
    shelf.relationshipsByName["ordered"]?.isOrdered = true
    let context = try Describing.context(Describing.model([book, shelf]))
    try context.performAndWait {
      let shelf = NSEntityDescription.insertNewObject(forEntityName: "Shelf", into: context)
      let values: [(String, Decimal?, Int?)] = [("b", 1.5, 10), ("a", 2, nil), ("b", 1.5, 20), ("c", nil, nil)]
      let books = values.map { title, price, pages in
        let book = NSEntityDescription.insertNewObject(forEntityName: "Book", into: context)
        book.setValue(title, forKey: "title")
        book.setValue(price, forKey: "price")
        book.setValue(pages, forKey: "pages")
        book.setValue(shelf, forKey: "shelf")
        return book
      }
      shelf.setValue(NSOrderedSet(array: books), forKey: "ordered")
      try body(shelf, books)
    }
  }

  /// The hash function of Foundation's decimal numbers recurses without end.
  @Test func decimalsAreCollectedInSets() throws {
    try shelf { shelf, _ in
      let prices = try #require(shelf.value(forKeyPath: "books.price") as? NSSet)
      #expect(Set(prices.allObjects.compactMap { ($0 as? NSDecimalNumber)?.decimalValue }) == [1.5, 2])
      #expect(prices.count == 2)
      #expect((shelf.value(forKeyPath: "ordered.price") as? NSOrderedSet)?.array as? [NSDecimalNumber] == [1.5, 2])
    }
  }

  /// As `NSOrderedSet.value(forKey:)`.
  @Test func aPathOverAnOrderedRelationshipIsAnOrderedSet() throws {
    try shelf { shelf, _ in
      #expect((shelf.value(forKeyPath: "ordered.title") as? NSOrderedSet)?.array as? [String] == ["b", "a", "c"])
      #expect(shelf.value(forKeyPath: "books.title") as? NSSet == NSSet(array: ["a", "b", "c"]))
    }
  }

  /// `NSArray.value(forKey:)`: "The returned array contains NSNull elements for each object that returns nil." The
  /// operators for numbers and extremes leave them out.
  @Test func aPathOverAnArrayKeepsNil() throws {
    let rows: [[String: Any]] = [["a": 2], [:], ["a": 1, "b": ["c": "x"]]]
    let given = ["list": rows] as NSDictionary
    let values = try #require(given.value(forKeyPath: "list.a") as? [Any])
    #expect(values.map { $0 as? Int } == [2, nil, 1] && values[1] is NSNull)
    let nested = try #require(given.value(forKeyPath: "list.b.c") as? [Any])
    #expect(nested.map { $0 as? String } == [nil, nil, "x"] && nested.allSatisfy { $0 is NSNull || $0 is String })
    #expect(given.value(forKeyPath: "list.a.@count") as? Int == 3)
    #expect(given.value(forKeyPath: "list.a.@min.self") as? Int == 1)
    #expect(given.value(forKeyPath: "list.a.@max.self") as? Int == 2)
    #expect(given.value(forKeyPath: "list.a.@sum.self") as? Int == 3)
    #expect(given.value(forKeyPath: "list.a.@avg.self") as? Double == 1)
    #expect(given.value(forKeyPath: "list.@unionOfObjects.a") as? [Int] == [2, 1])
    let none = ["list": [[:], [:]] as [[String: Any]]] as NSDictionary
    #expect(none.value(forKeyPath: "list.a.@max.self") == nil)
  }

  @Test func distinctUnionsHaveEachValueOnce() throws {
    try shelf { shelf, _ in
      #expect(shelf.value(forKeyPath: "ordered.@distinctUnionOfObjects.title") as? [String] == ["b", "a", "c"])
      #expect(shelf.value(forKeyPath: "ordered.@distinctUnionOfObjects.price") as? [NSDecimalNumber] == [1.5, 2])
      #expect(shelf.value(forKeyPath: "ordered.@unionOfObjects.title") as? [String] == ["b", "a", "b", "c"])
    }
  }

  /// `@avg`: "substituting 0 for nil values"; `@sum` does the same.
  @Test func anAverageTakesNilForZero() throws {
    try shelf { shelf, books in
      #expect(shelf.value(forKeyPath: "books.@avg.pages") as? Double == 7.5)
      #expect(shelf.value(forKeyPath: "books.@sum.pages") as? Double == 30)
      for book in books { book.setValue(nil, forKey: "pages") }
      #expect(shelf.value(forKeyPath: "books.@avg.pages") as? Double == 0)
      shelf.setValue(NSSet(), forKey: "books")
      #expect(shelf.value(forKeyPath: "books.@avg.pages") == nil)
    }
  }

  /// As `NSSet.setValue(_:forKey:)`, which sets the value of each member.
  @Test(arguments: ["books", "ordered"]) func aPathOverARelationshipSetsEachMember(_ key: String) throws {
    try shelf { shelf, books in
      shelf.setValue("all", forKeyPath: "\(key).title")
      #expect(books.allSatisfy { $0.value(forKey: "title") as? String == "all" })
      books[0].setValue("one", forKeyPath: "shelf.\(key).title")
      #expect(books.allSatisfy { $0.value(forKey: "title") as? String == "one" })
      shelf.setValue(NSSet(), forKey: "books")
      shelf.setValue("none", forKeyPath: "books.title")
      #expect(books.allSatisfy { $0.value(forKey: "title") as? String == "one" })
    }
  }

  /// `delete(_:)` of an object that was never saved: "is simply removed from the receiver".
  @Test(arguments: [true, false]) func whatWasNeverSavedIsGoneAfterTheSave(_ hasPermanentID: Bool) throws {
    let context = try Describing.context(Describing.model([Describing.entity("Thing")]))
    try context.performAndWait {
      let thing = NSEntityDescription.insertNewObject(forEntityName: "Thing", into: context)
      if hasPermanentID { try context.obtainPermanentIDs(for: [thing]) }
      let id = thing.objectID
      context.delete(thing)
      try context.save()
      #expect(throws: CocoaError.self) { try context.existingObject(with: id) }
      #expect(context.registeredObject(for: id) == nil && context.registeredObjects.isEmpty)
      #expect(thing.managedObjectContext == nil)
    }
  }

  /// Each key is applied to the value of the key before it, so an operator applies to the whole collection.
  /// https://developer.apple.com/documentation/foundation/nskeyvaluecoding
  @Test func anOperatorBehindAPathAppliesToAllValues() throws {
    try shelf { shelf, _ in
      #expect(shelf.value(forKeyPath: "books.price.@max.self") as? Decimal == 2)
      #expect(shelf.value(forKeyPath: "books.price.@count") as? Int == 2)
      #expect(shelf.value(forKeyPath: "ordered.title.@count") as? Int == 3)
    }
  }

  /// "The search is conducted using the compare: method, as defined by many Foundation classes", which is exact.
  @Test func theExtremesOfNumbersAreExact() throws {
    let big: Int64 = 9_007_199_254_740_992
    let number = Describing.entity("Number", [("n", .integer64), ("d", .decimal)].map { Describing.attribute($0, $1) })
    let list = Describing.entity("List")
    Describing.relate(number, "list", toMany: false, list, "numbers", toManyBack: true)
    let context = try Describing.context(Describing.model([number, list]))
    context.performAndWait {
      let list = NSEntityDescription.insertNewObject(forEntityName: "List", into: context)
      for offset: Int64 in [0, 1, 2, 3] {
        let number = NSEntityDescription.insertNewObject(forEntityName: "Number", into: context)
        number.setValue(big + offset, forKey: "n")
        number.setValue(Decimal(1) + Decimal(offset) / 1_000_000_000_000_000_000, forKey: "d")
        number.setValue(list, forKey: "list")
      }
      #expect(list.value(forKeyPath: "numbers.@max.n") as? Int64 == big + 3)
      #expect(list.value(forKeyPath: "numbers.@min.n") as? Int64 == big)
      #expect(list.value(forKeyPath: "numbers.@max.d") as? Decimal == Decimal(1) + 3 / 1_000_000_000_000_000_000)
      #expect(list.value(forKeyPath: "numbers.@min.d") as? Decimal == 1)
    }
  }

  /// What rewritten sources read where they cast a value to a set that can be changed.
  @Test func valuesOfRelationshipsThatCanBeChanged() throws {
    try Errand.inContext { context in
      let (errand, owner, other) = (Errand(context: context), Owner(context: context), Errand(context: context))
      errand.setValue(owner, of: Errand.owner)
      owner.setValue("Ada", forKey: "name")
      (errand.mutableValue(forKeyPath: "owner.errands") as? NSMutableSet)?.add(other)
      (owner.mutableValue(forKey: "queue") as? NSMutableOrderedSet)?.add(other)
      #expect(owner.value(of: Owner.errands) == [errand, other] && owner.value(of: Owner.queue) == [other])
      #expect(owner.mutableValue(forKey: "name") as? String == "Ada")
      #expect(errand.mutableValue(forKeyPath: "owner.name") as? String == "Ada")
      #expect(errand.mutableValue(forKey: "owner") as? Owner === owner)
      errand.setValue(nil, forKey: "owner")
      #expect(errand.mutableValue(forKeyPath: "owner.errands") == nil)
      (owner.mutableValue(forKeyPath: "errands") as? NSMutableSet)?.removeAllObjects()
      #expect(other.value(forKey: "owner") == nil && owner.value(of: Owner.errands)?.isEmpty == true)
    }
  }
}
