import Foundation
import StoreSchema
import TestSupport
import Testing

@testable import CoreData

/// Feature 4.14: value transformers.
@Suite struct ValueTransformerTests {
  private func context(_ transformer: String?) throws -> NSManagedObjectContext {
    let attribute = Describing.attribute("value", .transformable)
    attribute.valueTransformerName = transformer
    return try Describing.context(Describing.model([Describing.entity("A", [attribute])]))
  }

  /// The value after a save and a refresh.
  private func roundTrip(_ value: Any, _ transformer: String?) throws -> Any? {
    let context = try context(transformer)
    return try context.performAndWait {
      let object = NSEntityDescription.insertNewObject(forEntityName: "A", into: context)
      object.setValue(value, forKey: "value")
      try context.save()
      context.refresh(object, mergeChanges: false)
      return object.value(forKey: "value")
    }
  }

  @Test(arguments: [nil, "", "NSSecureUnarchiveFromData", "NSKeyedUnarchiveFromData"])
  func theDefaultTakesPropertyListClasses(_ name: String?) throws {
    #expect(try roundTrip(["a", "b"], name) as? [String] == ["a", "b"])
    #expect(try roundTrip(["k": ["x": 1]], name) as? [String: [String: Int64]] == ["k": ["x": 1]])
    #expect(try roundTrip("text", name) as? String == "text")
    #expect(try roundTrip(2.5, name) as? Double == 2.5)
    #expect(
      try roundTrip(Date(timeIntervalSinceReferenceDate: 1), name) as? Date == Date(timeIntervalSinceReferenceDate: 1))
    #expect(try roundTrip(NSSet(array: ["a"]), name) as? NSSet == NSSet(array: ["a"]))
    let uuid = UUID()
    #expect(try roundTrip(uuid, name) as? UUID == uuid)
  }

  @Test func numbersAndCollectionsKeepTheirValues() throws {
    #expect(try roundTrip(NSNumber(value: 9_007_199_254_740_993), nil) as? Int64 == 9_007_199_254_740_993)
    #expect(try roundTrip(Int64.min, nil) as? Int64 == .min)
    #expect(try roundTrip([true, false], nil) as? [Bool] == [true, false])
    #expect(try roundTrip(NSNumber(value: 0.1), nil) as? Double == 0.1)
    #expect(throws: CocoaError.self) { try roundTrip(UInt64.max, nil) }
    let decimal = try #require(Decimal(string: "12345678901234567890.12345"))
    #expect((try roundTrip(decimal, nil) as? NSDecimalNumber)?.decimalValue == decimal)
    #expect(try roundTrip(Set(["a", "b"]), nil) as? NSSet == NSSet(array: ["a", "b"]))
    #expect(
      try roundTrip(try #require(URL(string: "https://example.com/a")), nil) as? URL
        == URL(string: "https://example.com/a"))
  }

  /// A value is decoded once, and is the same object until the managed object is a fault again.
  @Test func whatWasReadOnceStaysTheSameObject() throws {
    let context = try context(nil)
    try context.performAndWait {
      let object = NSEntityDescription.insertNewObject(forEntityName: "A", into: context)
      object.setValue(NSSet(array: ["a"]), forKey: "value")
      try context.save()
      context.refresh(object, mergeChanges: false)
      let first = try #require(object.value(forKey: "value") as? NSSet)
      #expect(object.value(forKey: "value") as? NSSet === first)
    }
  }

  /// "the keys and old values":
  /// https://developer.apple.com/documentation/coredata/nsmanagedobject/changedvaluesforcurrentevent()
  @Test(arguments: [false, true]) func theOldValueOfAnEventIsMadeOfWhatIsStored(_ isRead: Bool) throws {
    let context = try context(nil)
    try context.performAndWait {
      let object = NSEntityDescription.insertNewObject(forEntityName: "A", into: context)
      object.setValue(["old"], forKey: "value")
      try context.save()
      context.refresh(object, mergeChanges: false)
      if isRead { #expect(object.value(forKey: "value") as? [String] == ["old"]) }
      object.setValue(["new"], forKey: "value")
      #expect(object.changedValuesForCurrentEvent()["value"] as? [String] == ["old"])
      context.processPendingChanges()
      object.setValue(["newer"], forKey: "value")
      #expect(object.changedValuesForCurrentEvent()["value"] as? [String] == ["new"])
    }
  }

  /// A typed property of bytes returns the value that was set, and the store has the transformer's result.
  @Test func bytesOfATransformableGoThroughItsTransformer() throws {
    ValueTransformer.setValueTransformer(InvertingTransformer(), forName: NSValueTransformerName("Inverting"))
    let attributes = [Describing.attribute("value", .transformable), Describing.attribute("plain", .binaryData)]
    attributes[0].valueTransformerName = "Inverting"
    let entity = Describing.entity("A", attributes)
    entity.managedObjectClassName = String(reflecting: WithBytes.self)
    let context = try Describing.context(Describing.model([entity]))
    try context.performAndWait {
      let object = WithBytes(context: context)
      object.setValue(Data([1, 2]), of: WithBytes.value)
      object.setValue(Data([3]), of: WithBytes.plain)
      try context.save()
      context.refresh(object, mergeChanges: false)
      #expect(object.value(of: WithBytes.value) == Data([1, 2]) && object.value(of: WithBytes.plain) == Data([3]))
      #expect(object.value(forKey: "value") as? Data == Data([1, 2]))
      let info = try #require(object.info.attributes.first { $0.attribute.name == "value" })
      #expect(object.row?.value(info.attribute.slot, .transformable) == .data(Data([254, 253])))
    }
  }

  /// "uses NSCoding to archive and unarchive the attribute value", and an NSDictionary codes any key:
  /// https://developer.apple.com/documentation/coredata/nsattributedescription/valuetransformername . Numbers are
  /// `NSNumber`.
  @Test func dictionariesMayHaveOtherKeysThanTexts() throws {
    #expect(try roundTrip([1: "a", 2: "b"], nil) as? [Int: String] == [1: "a", 2: "b"])
    let mixed: [AnyHashable: Any] = ["a": 1, 2: [true: "yes"], Date(timeIntervalSinceReferenceDate: 3): NSNull()]
    let found = try #require(try roundTrip(["inner": mixed], nil) as? [String: [AnyHashable: Any]])["inner"]
    #expect(found?.count == 3 && found?["a"] as? Int == 1)
    #expect(found?.values.contains { ($0 as? [Bool: String]) == [true: "yes"] } == true)
    // Numbers of every type are found after a cast, and `NSNumber` without one.
    let numbers = try roundTrip([2: "b"], nil)
    #expect((numbers as? [Int: Any])?[2] as? String == "b" && (numbers as? [Int64: Any])?[2] as? String == "b")
    #expect((numbers as? [AnyHashable: Any])?[NSNumber(value: 2)] as? String == "b")
    #expect(try roundTrip([1, 2], nil) as? [Int] == [1, 2])
    #expect(throws: CocoaError.self) { try roundTrip([Describing.attribute("a"): 1], nil) }
  }

  /// "it will attempt to find a class with the specified name … an instance will be created … and then automatically
  /// registered": https://developer.apple.com/documentation/foundation/valuetransformer/init(forname:)
  @Test(arguments: ["ShoutingTransformer", "CoreDataTests.ShoutingTransformer"])
  func aNameMayBeThatOfAClass(_ name: String) throws {
    #expect(try roundTrip("text", name) as? String == "text")
    let found = try #require(ValueTransformer(forName: NSValueTransformerName(name)))
    #expect(found is ShoutingTransformer && found === ValueTransformer(forName: NSValueTransformerName(name)))
    #expect((found as? ShoutingTransformer)?.suffix == "!")
    #expect(ValueTransformer.valueTransformerNames().contains(NSValueTransformerName(name)))
    #expect(
      ValueTransformer(forName: "NSManagedObject") == nil
        && ValueTransformer(forName: NSValueTransformerName("Elsewhere.\(name)")) == nil)
  }

  @Test func anArchiveIsTheSameEachTime() throws {
    let value = Dictionary(uniqueKeysWithValues: (0..<50).map { ($0, "\($0)") })
    let copy = Dictionary(uniqueKeysWithValues: (0..<50).reversed().map { ($0, "\($0)") })
    #expect(SecureArchive.write(value) != nil && SecureArchive.write(value) == SecureArchive.write(copy))
  }

  @Test func aClassThatIsNotAllowedIsRefusedAtSave() throws {
    let context = try context(nil)
    try context.performAndWait {
      let object = NSEntityDescription.insertNewObject(forEntityName: "A", into: context)
      object.setValue(Colour(red: 7), forKey: "value")
      let error = try #require(throws: CocoaError.self) { try context.save() }
      #expect(error.localizedDescription.contains("transformable attribute value"))
      #expect(object.isInserted)
      object.setValue(Unnamed(), forKey: "value")
      #expect(throws: CocoaError.self) { try context.save() }
      object.setValue("text", forKey: "value")
      try context.save()
    }
  }

  @Test func aClassThatCannotBeArchivedIsRefusedAtSave() throws {
    let name = NSValueTransformerName("ValueTransformerTests.Unnamed")
    ValueTransformer.setValueTransformer(UnnamedTransformer(), forName: name)
    #expect(throws: CocoaError.self) { try roundTrip(Unnamed(), name.rawValue) }
  }

  @Test func aSubclassNamesItsClasses() throws {
    let name = NSValueTransformerName("ValueTransformerTests.Colour")
    ValueTransformer.setValueTransformer(ColourTransformer(), forName: name)
    #expect((try roundTrip(Colour(red: 7), name.rawValue) as? Colour)?.red == 7)
    #expect(throws: CocoaError.self) { try roundTrip("a string is no colour", name.rawValue) }
    let archived = SecureArchive.write("a string")
    #expect(ColourTransformer().transformedValue(archived) == nil)
    #expect(NSSecureUnarchiveFromDataTransformer().transformedValue(archived) as? String == "a string")
    #expect(NSSecureUnarchiveFromDataTransformer().transformedValue(Data([1, 2, 3])) == nil)
  }

  @Test func dictionariesWithOtherKeysAndNullsAreReadWhole() throws {
    let numbers: NSDictionary = [1: "a", 2: "b"]
    #expect(try roundTrip(numbers, nil) as? NSDictionary == numbers)
    let nulls: NSArray = ["a", NSNull()]
    #expect((try roundTrip(nulls, nil) as? NSArray)?.isEqual(to: ["a", NSNull()]) == true)
  }

  /// Foundation's unarchiver reads the application's classes, but would end the process at inconsistent collections.
  @Test func archivesOfTheApplicationsClassesAreCheckedFirst() throws {
    let box = Box(content: ["a": [1, "text"], "b": Data([1])])
    let sound = Array(try NSKeyedArchiver.archivedData(withRootObject: box, requiringSecureCoding: true))
    let read = BoxTransformer().transformedValue(Data(sound)) as? Box
    #expect(read?.content == box.content)
    var (state, refused) = (UInt64(7), 0)
    func next(below count: Int) -> Int {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return Int(state >> 33) % count
    }
    for _ in 0..<2000 {
      var bytes = sound
      // References are small numbers: most changes make them refer elsewhere.
      for _ in 0..<2 {
        let positions = bytes.indices.filter { bytes[$0] == 0x80 && $0 + 1 < bytes.count }
        if let position = positions.isEmpty ? nil : positions[next(below: positions.count)] {
          bytes[position + 1] = UInt8(next(below: 14))
        }
      }
      if BoxTransformer().transformedValue(Data(bytes)) == nil { refused += 1 }
    }
    #expect(refused > 100)
  }

  @Test func collectionsOfTheApplicationsObjectsAreRead() throws {
    let name = NSValueTransformerName("ValueTransformerTests.Colours")
    ValueTransformer.setValueTransformer(ColoursTransformer(), forName: name)
    let colours: NSArray = [Colour(red: 1), Colour(red: 2)]
    #expect((try roundTrip(colours, name.rawValue) as? [Colour])?.map(\.red) == [1, 2])
    let palette = Palette(colours: [Colour(red: 3)])
    let archive = try NSKeyedArchiver.archivedData(withRootObject: palette, requiringSecureCoding: true)
    #expect((PaletteTransformer().transformedValue(archive) as? Palette)?.colours.map(\.red) == [3])
    #expect(BoxTransformer().transformedValue(archive) == nil)
    let mixed = try NSKeyedArchiver.archivedData(
      withRootObject: [Colour(red: 1), palette] as NSArray, requiringSecureCoding: true)
    #expect(ColoursTransformer().transformedValue(mixed) == nil)
  }

  @Test func aCustomTransformerGoesFromValueToData() throws {
    let name = NSValueTransformerName("ValueTransformerTests.Reversed")
    ValueTransformer.setValueTransformer(ReversingTransformer(), forName: name)
    #expect(try roundTrip("abc", name.rawValue) as? String == "abc")
    let context = try context(name.rawValue)
    try context.performAndWait {
      let object = NSEntityDescription.insertNewObject(forEntityName: "A", into: context)
      object.setValue("abc", forKey: "value")
      try context.save()
      #expect(object.row?.data(0) == Data("cba".utf8))
      // A value that the transformer rejects.
      object.setValue(5, forKey: "value")
      #expect(throws: CocoaError.self) { try context.save() }
    }
  }

  @Test func aTransformerMustGoBothWaysAndGiveData() throws {
    let (oneWay, wrong) = (NSValueTransformerName("OneWay"), NSValueTransformerName("NoData"))
    ValueTransformer.setValueTransformer(OneWayTransformer(), forName: oneWay)
    ValueTransformer.setValueTransformer(ValueTransformer(), forName: wrong)
    #expect(throws: CocoaError.self) { try roundTrip("abc", oneWay.rawValue) }
    #expect(throws: CocoaError.self) { try roundTrip("abc", wrong.rawValue) }
    #expect(throws: CocoaError.self) { try roundTrip("abc", "NobodyRegisteredThis") }
  }

  @Test func transformersAreRegisteredByName() {
    let name = NSValueTransformerName("ValueTransformerTests.Registry")
    #expect(ValueTransformer(forName: name) == nil)
    let made = ReversingTransformer()
    ValueTransformer.setValueTransformer(made, forName: name)
    #expect(ValueTransformer(forName: name) === made && ValueTransformer.valueTransformerNames().contains(name))
    ValueTransformer.setValueTransformer(nil, forName: name)
    #expect(ValueTransformer(forName: name) == nil && !ValueTransformer.valueTransformerNames().contains(name))
    let standard = ValueTransformer(forName: .secureUnarchiveFromDataTransformerName)
    #expect(standard is NSSecureUnarchiveFromDataTransformer)
    #expect(NSValueTransformerName.secureUnarchiveFromDataTransformerName.rawValue == "NSSecureUnarchiveFromData")
  }

  @Test func withoutAnOverrideTheReverseIsTheTransformation() {
    #expect(ValueTransformer().reverseTransformedValue("a") as? String == "a")
    #expect(NSSecureUnarchiveFromDataTransformer.allowsReverseTransformation())
  }
}

/// Foundation has no name for a private class, and so cannot archive it.
private final class Unnamed: NSObject, NSSecureCoding {
  override init() {}
  static var supportsSecureCoding: Bool { true }
  func encode(with coder: NSCoder) {}
  required init?(coder: NSCoder) {}
}

private final class UnnamedTransformer: NSSecureUnarchiveFromDataTransformer {
  override class var allowedTopLevelClasses: [AnyClass] { [Unnamed.self] }
}

final class Colour: NSObject, NSSecureCoding {
  let red: Int
  init(red: Int) { self.red = red }
  static var supportsSecureCoding: Bool { true }
  func encode(with coder: NSCoder) { coder.encode(red, forKey: "red") }
  required init?(coder: NSCoder) { red = coder.decodeInteger(forKey: "red") }
}

final class Box: NSObject, NSSecureCoding {
  let content: NSDictionary
  init(content: NSDictionary) { self.content = content }
  static var supportsSecureCoding: Bool { true }
  func encode(with coder: NSCoder) { coder.encode(content, forKey: "content") }
  required init?(coder: NSCoder) {
    let classes = [NSDictionary.self, NSArray.self, NSString.self, NSNumber.self, NSData.self]
    guard let content = coder.decodeObject(of: classes, forKey: "content") as? NSDictionary else { return nil }
    self.content = content
  }
}

final class Palette: NSObject, NSSecureCoding {
  let colours: [Colour]
  init(colours: [Colour]) { self.colours = colours }
  static var supportsSecureCoding: Bool { true }
  func encode(with coder: NSCoder) { coder.encode(colours as NSArray, forKey: "colours") }
  required init?(coder: NSCoder) {
    guard let list = coder.decodeObject(of: [NSArray.self, Colour.self], forKey: "colours") as? [Colour] else {
      return nil
    }
    colours = list
  }
}

private final class PaletteTransformer: NSSecureUnarchiveFromDataTransformer {
  override class var allowedTopLevelClasses: [AnyClass] { [Palette.self] }
}

private final class ColoursTransformer: NSSecureUnarchiveFromDataTransformer {
  override class var allowedTopLevelClasses: [AnyClass] { [NSArray.self, Colour.self] }
}

private final class BoxTransformer: NSSecureUnarchiveFromDataTransformer {
  override class var allowedTopLevelClasses: [AnyClass] { [Box.self] }
}

private final class ColourTransformer: NSSecureUnarchiveFromDataTransformer {
  override class var allowedTopLevelClasses: [AnyClass] { [Colour.self] }
}

private final class InvertingTransformer: ValueTransformer {
  override class func allowsReverseTransformation() -> Bool { true }
  override func transformedValue(_ value: Any?) -> Any? { (value as? Data).map { Data($0.map { ~$0 }) } }
  override func reverseTransformedValue(_ value: Any?) -> Any? { transformedValue(value) }
}

final class WithBytes: NSManagedObject {
  static let value = ManagedProperty<Data?>("value")
  static let plain = ManagedProperty<Data?>("plain")
}

private final class ReversingTransformer: ValueTransformer {
  override class func allowsReverseTransformation() -> Bool { true }
  override func transformedValue(_ value: Any?) -> Any? {
    (value as? String).map { Data(String($0.reversed()).utf8) }
  }
  override func reverseTransformedValue(_ value: Any?) -> Any? {
    (value as? Data).map { String(String(decoding: $0, as: UTF8.self).reversed()) }
  }
}

private final class OneWayTransformer: ValueTransformer {
  override class func allowsReverseTransformation() -> Bool { false }
  override func transformedValue(_ value: Any?) -> Any? { (value as? String).map { Data($0.utf8) } }
}

/// Found by the name of its class.
final class ShoutingTransformer: ValueTransformer {
  let suffix: String

  override init() {
    suffix = "!"
    super.init()
  }

  override func transformedValue(_ value: Any?) -> Any? { (value as? String).map { Data(($0 + suffix).utf8) } }
  override func reverseTransformedValue(_ value: Any?) -> Any? {
    (value as? Data).map { String(decoding: $0, as: UTF8.self).replacingOccurrences(of: suffix, with: "") }
  }
}
