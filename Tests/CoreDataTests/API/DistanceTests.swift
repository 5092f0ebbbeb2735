import CoreData
import Foundation
import TestSupport
import Testing

/// `distanceToLocation(a, b)`: metres between two locations.
///
/// Apple compares locations by distance with it in CloudKit queries:
/// https://developer.apple.com/documentation/cloudkit/ckquery. Clients' suites evaluate it in memory and in fetches.
@Suite struct DistanceTests {
  private let context: NSManagedObjectContext

  init() throws {
    func numbers() -> [NSAttributeDescription] {
      ["latitude", "longitude"].map { name in
        let attribute = Describing.attribute(name, .double)
        attribute.isOptional = true
        return attribute
      }
    }
    let city = Describing.entity("City", [Describing.attribute("name")] + numbers())
    let shop = Describing.entity("Shop", [Describing.attribute("name"), Describing.composite("spot", numbers())])
    Describing.relate(city, "shops", toMany: true, shop, "city", toManyBack: false)
    context = try Describing.context(Describing.model([city, shop]))
    try context.performAndWait { [context] in
      for (name, latitude, longitude) in [("Berlin", 52.52, 13.405), ("Paris", 48.8566, 2.3522)] {
        let city = NSEntityDescription.insertNewObject(forEntityName: "City", into: context)
        city.setValuesForKeys(["name": name, "latitude": latitude, "longitude": longitude])
        let shop = NSEntityDescription.insertNewObject(forEntityName: "Shop", into: context)
        shop.setValue(name + " shop", forKey: "name")
        shop.setValue(["latitude": 52.4009, "longitude": 13.0591], forKey: "spot")
        shop.setValue(city, forKey: "city")
      }
      NSEntityDescription.insertNewObject(forEntityName: "City", into: context).setValue("Nowhere", forKey: "name")
      NSEntityDescription.insertNewObject(forEntityName: "Shop", into: context).setValue("Stall", forKey: "name")
      try context.save()
    }
  }

  /// The names of the objects that a fetch finds. The predicate must be true for exactly these objects.
  private func names(_ entity: String, _ format: String, _ arguments: Any?...) throws -> [String] {
    let predicate = NSPredicate(format: format, argumentArray: arguments)
    return try context.performAndWait { [context] in
      let request = NSFetchRequest<NSManagedObject>(entityName: entity)
      request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
      func names(_ objects: [NSManagedObject]) -> [String] {
        objects.compactMap { $0.value(forKey: "name") as? String }
      }
      let all = try context.fetch(request)
      request.predicate = predicate
      let found = names(try context.fetch(request))
      #expect(names(all.filter { predicate.evaluate(with: $0) }) == found, "\(predicate)")
      // The same for an unsaved object.
      let unsaved = NSEntityDescription.insertNewObject(forEntityName: entity, into: context)
      defer { context.delete(unsaved) }
      #expect(predicate.evaluate(with: unsaved) == (try context.fetch(request).contains(unsaved)))
      return found
    }
  }

  private let berlin = ["latitude": 52.52, "longitude": 13.405]
  private let paris = ["latitude": 48.8566, "longitude": 2.3522]

  private func distance(_ a: Any?, _ b: Any?) -> Double? {
    let row = NSMutableDictionary()
    row["a"] = a
    row["b"] = b
    return NSExpression(format: "distanceToLocation(a, b)").expressionValue(with: row, context: nil) as? Double
  }

  @Test func itIsInMetres() throws {
    #expect(abs(try #require(distance(berlin, paris)) - 877_464.57) < 1)
    #expect(
      abs(try #require(distance(["latitude": 0, "longitude": 0], ["latitude": 0, "longitude": 1])) - 111_195.08) < 0.1)
    #expect(abs(try #require(distance([90, 0], NSArray(array: [-90, 0]))) - 20_015_115) < 2)
    #expect(distance(berlin, berlin) == 0)
  }

  @Test func nilAndWhatIsNoLocationGiveNil() {
    #expect(distance(nil, paris) == nil && distance(berlin, nil) == nil && distance(NSNull(), berlin) == nil)
    #expect(distance("Berlin", paris) == nil && distance(5, paris) == nil && distance([1, 2, 3], paris) == nil)
    #expect(distance(["latitude": 91, "longitude": 0], paris) == nil)
    #expect(distance(["latitude": Double.nan, "longitude": 0], paris) == nil)
    #expect(distance(["latitude": 1], paris) == nil && distance(Set([1, 2]), paris) == nil)
  }

  @Test func constantsAreLocationsToo() {
    let constant = NSExpression(
      forFunction: "distanceToLocation:fromLocation:",
      arguments: [NSExpression(forConstantValue: berlin), NSExpression.expressionForEvaluatedObject()])
    let meters = constant.expressionValue(with: paris, context: nil) as? Double
    #expect(meters.map { abs($0 - 877_464.57) < 1 } == true)
    #expect(NSPredicate(format: "distanceToLocation(%@, %@) < 880000", berlin, paris).evaluate(with: nil))
    #expect(NSPredicate(format: "distanceToLocation(%@, {48.8566, 2.3522}) > 870000", berlin).evaluate(with: nil))
    let format = NSPredicate(format: "distanceToLocation(a, {1, 2}) < 5")
    #expect(NSPredicate(format: format.predicateFormat) == format)
  }

  @Test func fetchesKnowIt() throws {
    #expect(try names("City", "distanceToLocation(SELF, %@) < 1000", berlin) == ["Berlin"])
    #expect(try names("City", "distanceToLocation(SELF, {52, 13}) < 100000") == ["Berlin"])
    #expect(try names("City", "distanceToLocation(SELF, %@) > 1000", berlin) == ["Paris"])
    #expect(try names("City", "distanceToLocation(SELF, %@) == nil", berlin) == ["Nowhere"])
    #expect(try names("Shop", "distanceToLocation(spot, city) < 30000") == ["Berlin shop"])
    #expect(try names("Shop", "distanceToLocation(spot, %@) < 30000", berlin) == ["Berlin shop", "Paris shop"])
    #expect(try names("Shop", "distanceToLocation(city, spot) == nil") == ["Stall"])
    let near = "SUBQUERY(shops, $shop, distanceToLocation($shop.spot, SELF) < 30000).@count > 0"
    #expect(try names("City", near) == ["Berlin"])
    #expect(try names("City", "distanceToLocation(SELF, nil) == nil") == ["Berlin", "Nowhere", "Paris"])
  }

  /// A column of a dictionary fetch.
  @Test func itCanBeFetched() throws {
    let column = NSExpressionDescription()
    column.name = "metres"
    column.expression = NSExpression(format: "distanceToLocation(SELF, %@)", berlin)
    column.resultType = .double
    let request = NSFetchRequest<NSDictionary>(entityName: "City")
    request.resultType = .dictionaryResultType
    request.propertiesToFetch = [column]
    request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
    let metres = try context.performAndWait { [context] in
      try context.fetch(request).map { ($0["metres"] as? Double)?.rounded() }
    }
    #expect(metres == [0, nil, 877_465])
  }

  @Test func aFetchRefusesWhatIsNoLocation() throws {
    for format in [
      "distanceToLocation(name, {1, 2}) < 5", "distanceToLocation(SELF, 'Berlin') < 5",
      "distanceToLocation(SELF, {1, 2, 3}) < 5", "distanceToLocation(shops, {1, 2}) < 5",
      "distanceToLocation({name, name}, SELF) < 5",
    ] {
      let request = NSFetchRequest<NSManagedObject>(entityName: "City")
      request.predicate = NSPredicate(format: format)
      let error = context.performAndWait { [context] in
        #expect(throws: CocoaError.self, "\(format)") { _ = try context.fetch(request) }
      }
      #expect(error?.localizedDescription.contains("latitude") == true, "\(format)")
    }
  }

  @Test func aConstantThatIsNoLocationIsNamed() async {
    #expect(NSPredicate(format: "distanceToLocation(SELF, 'Berlin') < 5").unevaluablePart != nil)
    #expect(NSPredicate(format: "distanceToLocation(SELF, {1, 2}) < 5").unevaluablePart == nil)
    await #expect(processExitsWith: .failure) {
      _ = NSPredicate(format: "distanceToLocation(SELF, 'Berlin') < 5").evaluate(with: ["latitude": 1, "longitude": 2])
    }
  }
}
