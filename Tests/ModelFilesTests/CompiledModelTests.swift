import Foundation
import ModelFiles
import PropertyLists
import StoreQuery
import StoreSchema
import TestSupport
import Testing

@Suite struct CompiledModelTests {
  static func model(_ requests: [FetchRequestRecord] = [], _ attributes: [PropertyRecord] = []) -> ModelRecord {
    ModelRecord(
      versionIdentifiers: ["1"], entities: [EntityRecord(name: "E", properties: attributes)],
      fetchRequestTemplates: requests)
  }

  @Test(Corpus.condition)
  func `every predicate of the corpus survives archiving`() throws {
    let text = try String(contentsOf: Corpus.root.appending(path: "predicates.txt"), encoding: .utf8)
    var count = 0
    for line in text.split(separator: "\n") {
      let format = (line.split(separator: "\t").last.map(String.init) ?? "")
        .replacing("%K", with: "key").replacing("%@", with: "$value").replacing("%d", with: "1")
      guard !format.hasPrefix("#"), let predicate = try? Predicate(format: format) else { continue }
      let model = Self.model([FetchRequestRecord(name: "f", entityName: "E", predicate: predicate)])
      // A variable instead of a predicate cannot be archived.
      guard let data = try? CompiledModelWriter.write(model) else { continue }
      #expect(try CompiledModelReader.read(data) == model, "\(format)")
      count += 1
    }
    #expect(count > 850)
  }

  @Test(arguments: [
    "TRUEPREDICATE", "NOT FALSEPREDICATE", "a BEGINSWITH[cd] 'x' AND b ENDSWITH 'y' AND c LIKE '*' AND d MATCHES 'e'",
    "a IN {1, 2.5, 'x', nil}", "a BETWEEN {1, 2}", "ANY a.b != nil OR ALL a.c == $x",
    "SUBQUERY(a, $x, $x.b == 1).@count > 0",
    "TERNARY(a == 1, b, c) == SELF", "a UNION b == c MINUS d", "CAST(a, 'NSDate') < now()",
    "$x.b CONTAINS[c] a", "FUNCTION(a, 'b:', c) == sum(d) + 2 * e",
    "a[FIRST] == b[LAST]", "a == CAST('1.5', 'NSDecimalNumber')",
    "a == CAST(5, 'NSDate')", "a == FETCH($r, $c, YES)",
  ])
  func `all kinds of predicates survive archiving`(_ format: String) throws {
    let predicate = try Predicate(format: format)
    let model = Self.model([FetchRequestRecord(name: "f", entityName: "E", predicate: predicate)])
    #expect(try CompiledModelReader.read(CompiledModelWriter.write(model)) == model)
  }

  @Test func `all parts of a fetch request survive`() throws {
    var request = FetchRequestRecord(name: "f", entityName: "E", resultType: 2)
    request.sortDescriptors = [SortRecord(key: "a"), SortRecord(key: "b", isAscending: false, selector: nil)]
    (request.fetchLimit, request.fetchOffset, request.fetchBatchSize) = (1, 2, 3)
    (request.includesSubentities, request.returnsObjectsAsFaults) = (false, false)
    (request.returnsDistinctResults, request.includesPropertyValues) = (true, false)
    (request.propertiesToFetch, request.propertiesToGroupBy) = (["a"], ["b"])
    request.havingPredicate = .value(true)
    request.relationshipKeyPathsForPrefetching = ["r"]
    let model = Self.model([request])
    #expect(try CompiledModelReader.read(CompiledModelWriter.write(model)) == model)
  }

  @Test(arguments: [
    (700, Value.string("")), (300, .int(.min)), (500, .double(-0.25)), (400, .decimal(Decimal(string: "1e-20") ?? 0)),
    (800, .bool(false)), (900, .date(1.25)), (1000, .data(Data([0, 1]))), (1100, .uuid(UUID())), (1200, .uri("a:b")),
    (0, .null),
  ])
  func `default values survive`(_ type: Int, _ value: Value) throws {
    let attribute = AttributeRecord(type: type, defaultValue: value, allowsExternalBinaryDataStorage: true)
    let model = Self.model([], [PropertyRecord(name: "a", kind: .attribute(attribute))])
    #expect(try CompiledModelReader.read(CompiledModelWriter.write(model)) == model)
  }

  @Test func `the default object of a transformable attribute is kept as an archive of its own`() throws {
    var writer = KeyedArchiveWriter()
    let (cover, back) = (writer.reserve(), writer.add(.string("text")))
    writer.fill(cover, classes: ["App.Cover", "NSObject"], values: ["self": cover.value, "text": back.value])
    let value = Value.data(writer.archive(root: cover))
    let attribute = AttributeRecord(type: 1800, defaultValue: value, valueTransformerName: "T")
    let model = Self.model([], [PropertyRecord(name: "a", kind: .attribute(attribute))])
    let read = try CompiledModelReader.read(CompiledModelWriter.write(model))
    guard case .attribute(let again)? = read.entities.first?.properties.first?.kind,
      case .data(let archive) = again.defaultValue
    else {
      Issue.record("the default value is lost")
      return
    }
    let object = try KeyedArchiveReader(archive).root()
    #expect(object?.className == "App.Cover")
    #expect(object?["self"]?["text"]?.string == "text")
    #expect(try CompiledModelReader.read(CompiledModelWriter.write(read)) == read)
  }

  @Test func `validations and their warnings survive`() throws {
    let validations = [
      ValidationRecord(.value(true), warning: .text("w")), ValidationRecord(.value(false)),
      ValidationRecord(.not(.value(true)), warning: .code(1670)),
    ]
    let model = Self.model(
      [], [PropertyRecord(name: "a", kind: .attribute(AttributeRecord(type: 700)), validations: validations)])
    #expect(try CompiledModelReader.read(CompiledModelWriter.write(model)) == model)
  }

  @Test func `what the superentity has by the same name is inherited`() throws {
    let attribute = PropertyRecord(name: "a", kind: .attribute(AttributeRecord(type: 700)))
    let own = PropertyRecord(name: "b", kind: .attribute(AttributeRecord(type: 700)))
    let root = EntityRecord(name: "Root", properties: [attribute])
    let middle = EntityRecord(name: "Middle", superentity: "Root")
    let copies = EntityRecord(name: "Sub", superentity: "Middle", properties: [attribute, own])
    let data = try CompiledModelWriter.write(ModelRecord(entities: [middle, root, copies]))
    #expect(try CompiledModelReader.read(data).entity(named: "Sub")?.properties == [own])
  }

  @Test func `a predicate that is nested too deep is refused in both directions`() throws {
    var predicate = Predicate.value(true)
    for _ in 0..<300 { predicate = .not(predicate) }
    let model = Self.model([FetchRequestRecord(name: "f", entityName: "E", predicate: predicate)])
    let error = #expect(throws: ModelFileError.self) { try CompiledModelWriter.write(model) }
    #expect(error?.code == .unsupported)
    var writer = KeyedArchiveWriter()
    let (root, loop) = (writer.reserve(), writer.reserve())
    let members = writer.add(array: [loop])
    writer.fill(
      loop, classes: ["NSCompoundPredicate"],
      values: ["NSCompoundPredicateType": .integer(0), "NSSubpredicates": members.value])
    let entity = writer.add(classes: ["NSEntityDescription"], values: ["NSEntityName": writer.add(.string("E")).value])
    let request = writer.add(
      classes: ["NSFetchRequest"], values: ["NSEntity": entity.value, "NSPredicate": loop.value])
    let requests = writer.add(dictionary: ["f": request])
    writer.fill(root, classes: ["NSManagedObjectModel"], values: ["NSFetchRequestTemplates": requests.value])
    #expect(throws: ModelFileError.self) { try CompiledModelReader.read(writer.archive(root: root)) }
  }

  @Test(Corpus.condition) func `damaged models never crash`() throws {
    var generator = SeededGenerator(seed: 5)
    for file in Corpus.compiledModels.filter({ $0.path.contains("/models/compiled/") }) {
      let sound = try Data(contentsOf: file)
      for _ in 0..<60 {
        var data = sound
        for _ in 0..<3 {
          data[Int.random(in: 0..<data.count, using: &generator)] = UInt8.random(in: 0...255, using: &generator)
        }
        if let model = try? CompiledModelReader.read(data) { _ = try? CompiledModelWriter.write(model) }
      }
    }
  }

  @Test func `what is no model is refused with its kind`() {
    func code(_ data: Data) -> ModelFileError.Code? {
      do {
        _ = try CompiledModelReader.read(data)
        return nil
      } catch { return error.code }
    }
    #expect(code(Data("text".utf8)) == .notAModel)
    #expect(code(BinaryPropertyListWriter.write(.array([]))) == .malformed)
    var writer = KeyedArchiveWriter()
    let root = writer.add(array: [])
    #expect(code(writer.archive(root: root)) == .notAModel)
  }
}
