import Foundation
import TestSupport
import Testing

@testable import CoreData

/// Features 3.4 and section 5: the validation predicates of a model.
@Suite struct ValidationRuleTests {
  private func ruled(
    _ name: String, _ type: NSAttributeDescription.AttributeType, _ rules: [(NSPredicate, String)]
  ) -> NSAttributeDescription {
    let attribute = Describing.attribute(name, type)
    attribute.setValidationPredicates(rules.map(\.0), withValidationWarnings: rules.map(\.1))
    return attribute
  }

  private func model() -> NSManagedObjectModel {
    let day = Date(timeIntervalSinceReferenceDate: 1000)
    let transient = ruled("mood", .string, [(NSPredicate(format: "SELF IN {'good', 'bad'}"), "no such mood")])
    transient.isTransient = true
    let entity = Describing.entity(
      "A",
      [
        ruled(
          "age", .integer16, [(NSPredicate(format: "SELF >= 0"), "1620"), (NSPredicate(format: "SELF <= 150"), "1610")]),
        ruled(
          "born", .date,
          [
            (NSPredicate(format: "SELF >= %@", day), "1640"),
            (NSPredicate(format: "SELF <= %@", day.addingTimeInterval(10)), "1630"),
          ]),
        ruled(
          "code", .string,
          [
            (NSPredicate(format: "length >= 2"), "1670"), (NSPredicate(format: "length <= 4"), "1660"),
            (NSPredicate(format: "SELF MATCHES '[a-z]+'"), "1680"),
          ]),
        ruled("word", .string, [(NSPredicate(format: "SELF BEGINSWITH 'a'"), "must begin with a")]),
        ruled("price", .decimal, [(NSPredicate(format: "SELF > 0"), "")]),
        ruled("block", .string, [(NSPredicate { value, _ in value as? String == "yes" }, "say yes")]),
        ruled("odd", .string, [(NSPredicate(format: "SELF == $X"), "odd")]),
        Describing.composite("place", [ruled("zip", .string, [(NSPredicate(format: "length == 5"), "1670")])]),
        ruled("list", .transformable, [(NSPredicate(format: "SELF.@count < 3"), "too many")]),
        transient, Describing.attribute("free"),
      ])
    let model = Describing.model([entity])
    model.localizationDictionary = [
      "ErrorString/must begin with a": "muss mit a beginnen", "Entity/A": "Ding", "Property/age/Entity/A": "Alter",
    ]
    return model
  }

  /// The error of saving a new object with a value; nil where it is saved.
  private func error(_ value: Any?, _ key: String) throws -> CocoaError? {
    let context = try Describing.context(model())
    return try context.performAndWait {
      let object = NSEntityDescription.insertNewObject(forEntityName: "A", into: context)
      object.setValue(value, forKey: key)
      do { try context.save() } catch {
        #expect(object.isInserted && context.hasChanges)
        return try #require(error as? CocoaError)
      }
      #expect(!context.hasChanges)
      return nil
    }
  }

  @Test func boundsAreInclusiveAndHaveTheirCodes() throws {
    for (value, code) in [(0, nil), (150, nil), (-1, 1620), (151, 1610)] as [(Int, Int?)] {
      #expect(try error(value, "age")?.errorCode == code)
    }
    for (seconds, code) in [(1000, nil), (1010, nil), (999, 1640), (1011, 1630)] as [(Double, Int?)] {
      #expect(try error(Date(timeIntervalSinceReferenceDate: seconds), "born")?.errorCode == code)
    }
    for (text, code) in [("ab", nil), ("a", 1670), ("abcde", 1660), ("AB", 1680), ("ab1", 1680)] as [(String, Int?)] {
      #expect(try error(text, "code")?.errorCode == code)
    }
    // The first rule that is broken is reported.
    #expect(try error("", "code")?.errorCode == 1670)
    #expect(try error(Decimal(string: "0.1"), "price") == nil)
    #expect(try error(Decimal(0), "price")?.errorCode == 1550)
  }

  @Test func theErrorSaysWhatAndWhere() throws {
    let error = try #require(try error(Int16(200), "age"))
    #expect(error.userInfo[NSValidationKeyErrorKey] as? String == "age")
    #expect(error.userInfo[NSValidationValueErrorKey] as? Int16 == 200)
    #expect((error.userInfo[NSValidationPredicateErrorKey] as? NSPredicate)?.predicateFormat == "SELF <= 150")
    #expect((error.userInfo[NSValidationObjectErrorKey] as? NSManagedObject)?.entity.name == "A")
    #expect(error.localizedDescription == "Ding.Alter is too large.")
  }

  @Test func textsOfTheModelAreLocalized() throws {
    let word = try #require(try error("bad", "word"))
    #expect(word.code == .managedObjectValidation && word.localizedDescription == "muss mit a beginnen")
    #expect(try error("no", "block")?.localizedDescription == "say yes")
    #expect(try error("yes", "block") == nil)
  }

  @Test func nilAndUnruledValuesPass() throws {
    for key in ["age", "born", "code", "word", "block", "odd", "place", "list", "mood"] {
      #expect(try error(nil, key) == nil)
    }
    #expect(try error("anything", "free") == nil)
  }

  @Test func aMandatoryValueThatIsMissingIsReportedOnce() throws {
    let model = model()
    model.entitiesByName["A"]?.attributesByName["code"]?.isOptional = false
    let context = try Describing.context(model)
    context.performAndWait {
      let object = NSEntityDescription.insertNewObject(forEntityName: "A", into: context)
      #expect(#expect(throws: CocoaError.self) { try context.save() }?.code == .validationMissingMandatoryProperty)
      object.setValue("", forKey: "code")
      #expect(#expect(throws: CocoaError.self) { try context.save() }?.code == .validationStringTooShort)
    }
  }

  @Test func elementsTransformablesAndTransientAttributesAreJudged() throws {
    let zip = try #require(try error(["zip": "1"], "place"))
    #expect(zip.errorCode == 1670 && zip.userInfo[NSValidationKeyErrorKey] as? String == "place.zip")
    #expect(try error(["zip": "12345"], "place") == nil)
    #expect(try error([1, 2, 3], "list")?.localizedDescription == "too many")
    #expect(try error([1, 2], "list") == nil)
    #expect(try error("odd", "mood")?.localizedDescription == "no such mood")
    #expect(try error("good", "mood") == nil)
  }

  @Test func aPredicateThatCannotBeEvaluatedRefusesTheValue() throws {
    let error = try #require(try error("x", "odd"))
    #expect(error.code == .managedObjectValidation && error.localizedDescription.contains("$X"))
  }

  @Test func severalErrorsAreReportedTogether() throws {
    let context = try Describing.context(model())
    try context.performAndWait {
      let object = NSEntityDescription.insertNewObject(forEntityName: "A", into: context)
      object.setValuesForKeys(["age": 500, "code": "a", "word": "bad"])
      let error = try #require(throws: CocoaError.self) { try context.save() }
      #expect(error.code == .validationMultipleErrors)
      let codes = (error.userInfo[NSDetailedErrorsKey] as? [CocoaError])?.map(\.errorCode)
      #expect(codes?.sorted() == [1550, 1610, 1670])
    }
  }

  @Test func onlyChangedValuesAreJudged() throws {
    let context = try Describing.context(model())
    try context.performAndWait {
      let object = NSEntityDescription.insertNewObject(forEntityName: "A", into: context)
      object.setValue(10, forKey: "age")
      try context.save()
      object.setValue(1000, forKey: "age")
      #expect(throws: CocoaError.self) { try object.validateForUpdate() }
      #expect(throws: CocoaError.self) { try context.save() }
      object.setValue(20, forKey: "age")
      try context.save()
      object.setValue("x", forKey: "free")
      try context.save()
      context.delete(object)
      try context.save()
    }
  }

  @Test func predicatesAndWarningsMustBeAsMany() async {
    await #expect(processExitsWith: .failure) {
      NSAttributeDescription().setValidationPredicates([NSPredicate(value: true)], withValidationWarnings: [])
    }
  }

  @Test func rulesOfAModelFileAreKept() throws {
    let source = """
      <?xml version="1.0" encoding="UTF-8"?>
      <model type="com.apple.IDECoreDataModeler.DataModel" documentVersion="1.0">
        <entity name="A" syncable="YES">
          <attribute name="age" optional="YES" attributeType="Integer 16" minValueString="1" maxValueString="9"/>
          <attribute name="code" optional="YES" attributeType="String" minValueString="2" maxValueString="3" \
      regularExpressionString="x+"/>
          <attribute name="born" optional="YES" attributeType="Date" minDateTimeInterval="10" maxDateTimeInterval="20"/>
        </entity>
      </model>
      """
    let folder = FileManager.default.temporaryDirectory.appending(path: "rules-\(UUID()).xcdatamodel")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    try source.write(to: folder.appending(path: "contents"), atomically: true, encoding: .utf8)
    let context = try Describing.context(try NSManagedObjectModel.read(folder))
    context.performAndWait {
      let object = NSEntityDescription.insertNewObject(forEntityName: "A", into: context)
      let values: [(String, Any, Int)] = [
        ("age", 0, 1620), ("age", 10, 1610), ("code", "x", 1670), ("code", "xxxx", 1660), ("code", "xy", 1680),
        ("born", Date(timeIntervalSinceReferenceDate: 9), 1640),
        ("born", Date(timeIntervalSinceReferenceDate: 21), 1630),
      ]
      for (key, value, code) in values {
        object.setValue(value, forKey: key)
        #expect(#expect(throws: CocoaError.self) { try context.save() }?.errorCode == code)
        object.setValue(nil, forKey: key)
      }
      object.setValuesForKeys(["age": 5, "code": "xx", "born": Date(timeIntervalSinceReferenceDate: 15)])
      #expect(throws: Never.self) { try context.save() }
    }
  }

  /// Predicates on relationships: for the object, or for the set of members, if they have changed.
  @Test func relationshipsHaveRulesToo() throws {
    let team = Describing.entity("Team", [Describing.attribute("name")])
    let player = Describing.entity("Player", [Describing.attribute("name")])
    Describing.relate(team, "players", toMany: true, player, "team", toManyBack: false)
    team.relationshipsByName["players"]?.setValidationPredicates(
      [NSPredicate(format: "SELF.@count < 3"), NSPredicate(format: "NONE SELF.name == 'X'")],
      withValidationWarnings: ["too many", "no X"])
    player.relationshipsByName["team"]?.setValidationPredicates(
      [NSPredicate(format: "SELF.name != nil")], withValidationWarnings: ["1234"])
    let context = try Describing.context(Describing.model([team, player]))
    func failure() throws -> CocoaError? {
      do { try context.save() } catch { return try #require(error as? CocoaError) }
      return nil
    }
    try context.performAndWait {
      let club = NSEntityDescription.insertNewObject(forEntityName: "Team", into: context)
      let players = (0..<3).map { _ in NSEntityDescription.insertNewObject(forEntityName: "Player", into: context) }
      #expect(try failure() == nil)
      players[0].setValue(club, forKey: "team")
      let nameless = try #require(try failure())
      #expect(nameless.errorCode == 1234 && nameless.userInfo[NSValidationKeyErrorKey] as? String == "team")
      #expect(nameless.userInfo[NSValidationValueErrorKey] as? NSManagedObject == club)
      club.setValue("C", forKey: "name")
      #expect(try failure() == nil)
      players[1].setValue(club, forKey: "team")
      players[2].setValue(club, forKey: "team")
      let crowded = try #require(try failure())
      #expect(crowded.errorCode == 1550 && crowded.localizedDescription == "too many")
      #expect((crowded.userInfo[NSValidationValueErrorKey] as? NSSet)?.count == 3)
      players[2].setValue(nil, forKey: "team")
      players[1].setValue("X", forKey: "name")
      #expect(try failure()?.localizedDescription == "no X")
      players[1].setValue("Y", forKey: "name")
      #expect(try failure() == nil)
      // Not validated again while they do not change.
      players[1].setValue("X", forKey: "name")
      #expect(try failure() == nil)
    }
  }
}
