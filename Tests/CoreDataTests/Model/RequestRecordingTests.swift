import Foundation
import TestSupport
import Testing

@testable import CoreData

/// Features 1.8, 1.15, 3.16: the parts of a fetch request that model files, archives and stores keep.
@Suite struct RequestRecordingTests {
  typealias Request = NSFetchRequest<any NSFetchRequestResult>

  /// One part of a request each. Two requests may differ in only this part.
  static let parts: [@Sendable (Request) -> Void] = [
    { $0.propertiesToFetch = ["title"] }, { $0.propertiesToFetch = [] }, { $0.propertiesToGroupBy = ["title"] },
    { $0.havingPredicate = NSPredicate(format: "$n > 1") },
    { $0.relationshipKeyPathsForPrefetching = ["author.books"] }, { $0.shouldRefreshRefetchedObjects = true },
    { $0.fetchLimit = .max }, { $0.fetchOffset = 1 << 40 }, { $0.fetchBatchSize = 7 },
    { $0.includesPropertyValues = false }, { $0.includesPendingChanges = false }, { $0.includesSubentities = false },
    { $0.returnsObjectsAsFaults = false }, { $0.returnsDistinctResults = true },
    { $0.sortDescriptors = [NSSortDescriptor(key: "title", ascending: false)] },
  ]

  /// Parts without a record, and the text of the error.
  static let obstacles: [(words: String, part: @Sendable (Request) -> Void)] = [
    ("fetches by a block", { $0.predicate = NSPredicate { _, _ in true } }),
    ("fetches by a block", { $0.havingPredicate = NSPredicate { _, _ in true } }),
    (
      "sorts by a comparator",
      { $0.sortDescriptors = [NSSortDescriptor(key: "title", ascending: true) { _, _ in .orderedSame }] }
    ),
    (
      "fetches the expression n",
      { request in
        let expression = NSExpressionDescription()
        (expression.name, expression.expression) = ("n", NSExpression(format: "count:(title)"))
        request.propertiesToFetch = ["title", expression]
      }
    ),
    ("names a property by a Int", { $0.propertiesToGroupBy = [42] }),
  ]

  static func request(_ part: (Request) -> Void) -> Request {
    let request = Request(entityName: "Book")
    part(request)
    return request
  }

  static func model(template part: (Request) -> Void) -> NSManagedObjectModel {
    let model = Describing.library()
    model.localizationDictionary = nil
    model.setFetchRequestTemplate(request(part), forName: "t")
    return model
  }

  static func model(fetchedProperty part: (Request) -> Void) -> NSManagedObjectModel {
    let model = Describing.library()
    model.localizationDictionary = nil
    (model.entitiesByName["Book"]?.propertiesByName["namesakes"] as? NSFetchedPropertyDescription)?.fetchRequest =
      request(part)
    return model
  }

  @Test(arguments: parts.indices) func everyPartOfATemplateComesBack(_ part: Int) throws {
    for make in [Self.model(template:), Self.model(fetchedProperty:)] {
      let model = make(Self.parts[part])
      let read = try ModelArchive.model(try ModelArchive.write(model))
      #expect(read == model)
      #expect(read != make { _ in })
      #expect(make { _ in } != model && make(Self.parts[part]) == model)
    }
  }

  @Test func groupsComeBackThroughACoderAndThroughAStore() throws {
    let model = Self.model(template: {
      ($0.propertiesToFetch, $0.propertiesToGroupBy) = (["title", "author.name"], ["title", "author.name"])
      ($0.resultType, $0.havingPredicate) = (.dictionaryResultType, NSPredicate(format: "$title != 'x'"))
      $0.relationshipKeyPathsForPrefetching = ["author"]
    })
    let coded = try NSKeyedArchiver.archivedData(withRootObject: model, requiringSecureCoding: true)
    let decoded = try NSKeyedUnarchiver.unarchivedObject(ofClass: NSManagedObjectModel.self, from: coded)
    let url = FileManager.default.temporaryDirectory.appending(path: "\(UUID()).sqlite")
    let file = url.appendingPathExtension("mom")
    defer { for end in ["", "-wal", "-shm", ".mom"] { try? FileManager.default.removeItem(atPath: url.path + end) } }
    try ModelArchive.write(model).write(to: file)
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    try coordinator.addPersistentStore(type: .sqlite, at: url)
    let carried = try NSPersistentStoreCoordinator.cachedModel(forPersistentStoreAt: url)
    for read in [try #require(decoded), try #require(carried), try #require(NSManagedObjectModel(contentsOf: file))] {
      let request = try #require(read.fetchRequestTemplate(forName: "t"))
      #expect(request.propertiesToFetch as? [String] == ["title", "author.name"])
      #expect(request.propertiesToGroupBy as? [String] == ["title", "author.name"])
      #expect(request.havingPredicate?.predicateFormat == "$title != \"x\"")
      #expect(request.relationshipKeyPathsForPrefetching == ["author"])
    }
  }

  @Test func descriptionsOfFetchedPropertiesKeepTheirRequestInCoders() throws {
    let model = Self.model(fetchedProperty: {
      ($0.propertiesToFetch, $0.propertiesToGroupBy) = (["title"], ["title"])
      $0.havingPredicate = NSPredicate(format: "$title != 'x'")
    })
    let book = try #require(model.entitiesByName["Book"])
    let property = try #require(book.propertiesByName["namesakes"] as? NSFetchedPropertyDescription)
    let archives = try [book, property].map {
      try NSKeyedArchiver.archivedData(withRootObject: $0, requiringSecureCoding: true)
    }
    let entity = try NSKeyedUnarchiver.unarchivedObject(ofClass: NSEntityDescription.self, from: archives[0])
    let read = try NSKeyedUnarchiver.unarchivedObject(ofClass: NSFetchedPropertyDescription.self, from: archives[1])
    #expect(read == property && entity?.propertiesByName["namesakes"] == property)
    #expect(read?.fetchRequest?.propertiesToGroupBy as? [String] == ["title"])
    #expect(read?.fetchRequest?.havingPredicate == property.fetchRequest?.havingPredicate)
  }

  @Test func descriptionsOfPropertiesAreKeptByName() throws {
    let model = Describing.library()
    let title = try #require(model.entitiesByName["Book"]?.propertiesByName["title"])
    model.setFetchRequestTemplate(Self.request { $0.propertiesToFetch = [title, "author"] }, forName: "t")
    let read = try ModelArchive.model(try ModelArchive.write(model))
    #expect(read.fetchRequestTemplate(forName: "t")?.propertiesToFetch as? [String] == ["title", "author"])
  }

  @Test(arguments: obstacles.indices) func whatCannotBeKeptIsAnError(_ index: Int) throws {
    let (words, part) = Self.obstacles[index]
    for model in [Self.model(template: part), Self.model(fetchedProperty: part)] {
      let error = try #require(throws: (any Error).self) { try ModelArchive.write(model) }
      #expect("\(error)".contains(words), "\(error)")
      #expect(ModelArchive.data(of: model) == nil)
    }
  }

  @Test(arguments: obstacles.indices) func whatCannotBeKeptCountsInComparisons(_ index: Int) throws {
    for make in [Self.model(template:), Self.model(fetchedProperty:)] {
      let model = make(Self.obstacles[index].part)
      #expect(model.copy() as? NSManagedObjectModel == model)
      if index < 4 { #expect(model != make { _ in }) }
    }
    #expect(Self.model(template: Self.obstacles[0].part) != Self.model(template: Self.obstacles[0].part))
    #expect(Self.model(template: Self.obstacles[3].part) == Self.model(template: Self.obstacles[3].part))
  }

  @Test func templatesOfForeignEntitiesAndOfNoneComeBack() throws {
    let model = Describing.library()
    model.setFetchRequestTemplate(Request(entityName: "Elsewhere"), forName: "a")
    model.setFetchRequestTemplate(Request(), forName: "b")
    let read = try ModelArchive.model(try ModelArchive.write(model))
    #expect(read.fetchRequestTemplate(forName: "a")?.entityName == "Elsewhere")
    #expect(read.fetchRequestTemplate(forName: "b") != nil)
    #expect(read.fetchRequestTemplate(forName: "b")?.entityName == nil)
  }
}
