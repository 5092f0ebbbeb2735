import Foundation
import TestSupport
import Testing

@testable import CoreData

/// Feature 3.16: fetched properties.
@Suite struct FetchedPropertyTests {
  /// Shops with their region. Their fetched properties return customers, which have no relationship to shops.
  private func context() throws -> NSManagedObjectContext {
    let shop = Describing.entity("Shop", [Describing.attribute("region"), Describing.attribute("limit", .integer16)])
    let customer = Describing.entity("Customer", [Describing.attribute("name"), Describing.attribute("place")])
    Describing.relate(customer, "favourite", toMany: false, shop, "fans", toManyBack: true)
    let local = Describing.fetched("local", "Customer", NSPredicate(format: "place == $FETCH_SOURCE.region"))
    local.fetchRequest?.sortDescriptors = [NSSortDescriptor(key: "name", ascending: false)]
    let others = Describing.fetched("others", "Shop", NSPredicate(format: "SELF != $FETCH_SOURCE"))
    let fans = Describing.fetched("fansFetched", "Customer", NSPredicate(format: "favourite == $FETCH_SOURCE"))
    let noted = Describing.fetched(
      "noted", "Customer", NSPredicate(format: "name == $FETCHED_PROPERTY.userInfo.name"))
    noted.userInfo = ["name": "Bea"]
    let named = Describing.fetched("Cid", "Customer", NSPredicate(format: "name == $FETCHED_PROPERTY.name"))
    let members = Describing.fetched("members", "Customer", NSPredicate(format: "SELF IN $FETCH_SOURCE.fans"))
    let ids = Describing.fetched("ids", "Customer", nil)
    ids.fetchRequest?.resultType = .managedObjectIDResultType
    let wrong = Describing.fetched("wrong", "Customer", NSPredicate(format: "nothing == 1"))
    shop.properties += [local, others, fans, noted, named, members, ids, wrong]
    return try Describing.context(Describing.model([shop, customer]))
  }

  private func insert(_ name: String, _ values: [String: Any], _ context: NSManagedObjectContext) -> NSManagedObject {
    let object = NSEntityDescription.insertNewObject(forEntityName: name, into: context)
    object.setValuesForKeys(values)
    return object
  }

  private func names(_ shop: NSManagedObject, _ key: String) -> [String]? {
    (shop.value(forKey: key) as? [NSManagedObject])?.compactMap { $0.value(forKey: "name") as? String }
  }

  @Test(arguments: [false, true]) func theRequestSeesItsObjectAndItself(_ isSaved: Bool) throws {
    let context = try context()
    try context.performAndWait {
      let (north, south) = (insert("Shop", ["region": "N"], context), insert("Shop", ["region": "S"], context))
      let people = [("Ada", "N"), ("Bea", "S"), ("Cid", "N")].map {
        insert("Customer", ["name": $0, "place": $1], context)
      }
      people[1].setValue(north, forKey: "favourite")
      if isSaved { try context.save() }
      #expect(names(north, "local") == ["Cid", "Ada"] && names(south, "local") == ["Bea"])
      #expect(north.value(forKey: "others") as? [NSManagedObject] == [south])
      #expect(names(north, "fansFetched") == ["Bea"] && names(south, "fansFetched") == [])
      #expect(names(north, "members") == ["Bea"] && names(south, "members") == [])
      #expect(names(north, "noted") == ["Bea"] && names(north, "Cid") == ["Cid"])
      #expect(Set(north.value(forKey: "ids") as? [NSManagedObjectID] ?? []) == Set(people.map(\.objectID)))
    }
  }

  /// Feature 19.7: it sees its parent's unsaved objects and its own, as objects of the child.
  @Test func aChildContextEvaluatesThem() throws {
    let parent = try context()
    let child = NSManagedObjectContext(.privateQueue)
    child.parent = parent
    let id = parent.performAndWait {
      _ = insert("Customer", ["name": "Ada", "place": "N"], parent)
      return insert("Shop", ["region": "N"], parent).objectID
    }
    child.performAndWait {
      let shop = child.object(with: id)
      _ = insert("Customer", ["name": "Bea", "place": "N"], child)
      #expect(names(shop, "local") == ["Bea", "Ada"])
      let found = shop.value(forKey: "local") as? [NSManagedObject] ?? []
      #expect(found.map(\.managedObjectContext) == [child, child])
    }
  }

  /// Clients: the `userInfo` of a property may be set while the model is in use.
  @Test func theRequestSeesWhatIsNotedLater() throws {
    let context = try context()
    try context.performAndWait {
      let shop = insert("Shop", ["region": "N"], context)
      for name in ["Ada", "Bea"] { _ = insert("Customer", ["name": name], context) }
      try context.save()
      #expect(names(shop, "noted") == ["Bea"])
      let noted = try #require(shop.entity.propertiesByName["noted"])
      noted.userInfo?["name"] = "Ada"
      shop.entity.userInfo?["seen"] = true
      context.refresh(shop, mergeChanges: true)
      #expect(names(shop, "noted") == ["Ada"] && shop.entity.userInfo?["seen"] as? Bool == true)
    }
  }

  @Test(arguments: [false, true]) func theValueStaysUntilTheObjectIsRefreshed(_ mergesChanges: Bool) throws {
    let context = try context()
    try context.performAndWait {
      let shop = insert("Shop", ["region": "N"], context)
      _ = insert("Customer", ["name": "Ada", "place": "N"], context)
      try context.save()
      #expect(names(shop, "local") == ["Ada"])
      _ = insert("Customer", ["name": "Bea", "place": "N"], context)
      #expect(names(shop, "local") == ["Ada"])
      try context.save()
      #expect(names(shop, "local") == ["Ada"])
      if mergesChanges { shop.setValue(3, forKey: "limit") }
      context.refresh(shop, mergeChanges: mergesChanges)
      #expect(names(shop, "local") == ["Bea", "Ada"])
      #expect(shop.value(forKey: "limit") as? Int16 == (mergesChanges ? 3 : nil))
    }
  }

  @Test func readingAFaultsFetchedPropertyFiresIt() throws {
    let context = try context()
    try context.performAndWait {
      let shop = insert("Shop", ["region": "N"], context)
      _ = insert("Customer", ["name": "Ada", "place": "N"], context)
      try context.save()
      context.refresh(shop, mergeChanges: false)
      #expect(shop.isFault && names(shop, "local") == ["Ada"] && !shop.isFault)
      context.refreshAllObjects()
      context.delete(try #require(try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Customer")).first))
      #expect(names(shop, "local") == [])
      #expect(!shop.hasChanges && shop.changedValues().isEmpty)
    }
  }

  @Test func aRequestThatCannotBeRunGivesNothingAndIsTriedAgain() throws {
    let context = try context()
    try context.performAndWait {
      let shop = insert("Shop", ["region": "N"], context)
      #expect(names(shop, "wrong") == [])
      try context.save()
    }
  }

  @Test func aFetchedPropertyCannotBeSet() async {
    await #expect(processExitsWith: .failure) {
      let context = try Describing.context(Describing.library())
      context.performAndWait {
        NSEntityDescription.insertNewObject(forEntityName: "Book", into: context).setValue([], forKey: "namesakes")
      }
    }
  }

  @Test func objectsThatHoldEachOtherAreFreedWithTheirContext() throws {
    weak var kept: NSManagedObject?
    do {
      let context = try context()
      context.performAndWait {
        let shops = ["N", "S"].map { insert("Shop", ["region": $0], context) }
        for shop in shops { _ = shop.value(forKey: "others") }
        kept = shops[0]
      }
    }
    #expect(kept == nil)
  }

  @Test func aLongChainOfFetchedObjectsIsFreedWithoutRecursion() throws {
    let context = try context()
    context.performAndWait {
      var last = insert("Shop", ["region": "0"], context)
      for _ in 0..<100_000 {
        let next = NSManagedObject(entity: last.entity, insertInto: nil)
        next.makeExtras().fetchedProperties["others"] = [last]
        last = next
      }
    }
  }
}
