import CoreData

func managedTypeConstructs() {
  World.add([textEntity, numberEntity, momentEntity, enumerationEntity, boxEntity])
  textTypes()
  numberTypes()
  dateTypes()
  enumerationTypes()
  boxTypes()
  objectTypes()
  relationshipTypeConstructs()
  spellingConstructs()
}

private var textEntity: NSEntityDescription {
  entity(
    Texts.self,
    texts("optional", "required", "unwrapped", "foundation", "requiredFoundation", "qualified", "generic")
      + ["link", "requiredLink", "foundationLink"].map { attribute($0, .URIAttributeType) }
      + ["identifier", "requiredIdentifier", "foundationIdentifier"].map { attribute($0, .UUIDAttributeType) })
}

private var numberEntity: NSEntityDescription {
  let types: [(String, NSAttributeType)] = [
    ("truth", .booleanAttributeType), ("small", .integer16AttributeType), ("middle", .integer32AttributeType),
    ("large", .integer64AttributeType), ("word", .integer64AttributeType), ("double", .doubleAttributeType),
    ("float", .floatAttributeType), ("float64", .doubleAttributeType), ("measure", .doubleAttributeType),
    ("aliased", .integer32AttributeType), ("qualified", .integer64AttributeType), ("number", .integer32AttributeType),
    ("requiredNumber", .doubleAttributeType), ("unwrappedNumber", .integer16AttributeType),
    ("truthNumber", .booleanAttributeType), ("decimal", .decimalAttributeType),
    ("requiredDecimal", .decimalAttributeType), ("order", .integer64AttributeType), ("tiny", .integer16AttributeType),
    ("unsigned", .integer32AttributeType), ("unsignedMiddle", .integer64AttributeType),
  ]
  return entity(Numbers.self, types.map { attribute($0.0, $0.1) })
}

private var momentEntity: NSEntityDescription {
  let external = attribute("external", .binaryDataAttributeType)
  external.allowsExternalBinaryDataStorage = true
  return entity(
    Moments.self,
    ["date", "requiredDate", "qualifiedDate", "foundationDate", "interval"].map { attribute($0, .dateAttributeType) }
      + ["data", "requiredData", "foundationData"].map { attribute($0, .binaryDataAttributeType) } + [external])
}

private var enumerationEntity: NSEntityDescription {
  let types: [(String, NSAttributeType)] = [
    ("state", .integer16AttributeType), ("priority", .integer32AttributeType), ("level", .integer64AttributeType),
    ("rank", .integer64AttributeType), ("color", .integer16AttributeType), ("qualifiedColor", .integer16AttributeType),
    ("storedState", .integer16AttributeType),
  ]
  return entity(Enumerations.self, types.map { attribute($0.0, $0.1, $0.0 == "priority" ? 1 : 0) })
}

private var boxEntity: NSEntityDescription {
  let names = [
    "strings", "requiredStrings", "numbers", "nested", "dictionary", "counts", "anything", "objects", "set",
    "requiredSet", "longArray", "longDictionary", "array", "mapping", "value", "object", "root", "coding",
    "secureCoding", "both", "point", "sign",
  ]
  return entity(
    Boxes.self,
    names.map { attribute($0, .transformableAttributeType) }
      + [transient("cached", .undefinedAttributeType), transient("reference", .undefinedAttributeType)])
}

private func textTypes() {
  construct(.managedTypes, "String?") { try works(\Texts.optional, "optional", "a", nil, "", "ü") }
  construct(.managedTypes, "String") { try works(\Texts.required, "required", "a", "b") }
  construct(.managedTypes, "String!") { try works(\Texts.unwrapped, "unwrapped", "a", nil) }
  construct(.managedTypes, "NSString?") { try works(\Texts.foundation, "foundation", "a", nil) }
  construct(.managedTypes, "NSString") { try works(\Texts.requiredFoundation, "requiredFoundation", "a", "b") }
  construct(.managedTypes, "String that was never set") { expect(World.make(Texts.self).required, is: "") }
  construct(.managedTypes, "Swift.String?") { try works(\Texts.qualified, "qualified", "a", nil) }
  construct(.managedTypes, "Optional<String>") { try works(\Texts.generic, "generic", "a", nil) }
  let link = URL(string: "https://example.org/a?b=c")!
  construct(.managedTypes, "URL?") { try works(\Texts.link, "link", link, nil) }
  construct(.managedTypes, "URL") { try works(\Texts.requiredLink, "requiredLink", link) }
  construct(.managedTypes, "NSURL?") { try works(\Texts.foundationLink, "foundationLink", link as NSURL, nil) }
  let uuid = UUID()
  construct(.managedTypes, "UUID?") { try works(\Texts.identifier, "identifier", uuid, nil) }
  construct(.managedTypes, "UUID") { try works(\Texts.requiredIdentifier, "requiredIdentifier", uuid) }
  construct(.managedTypes, "NSUUID?") {
    try works(\Texts.foundationIdentifier, "foundationIdentifier", uuid as NSUUID, nil)
  }
}

private func numberTypes() {
  construct(.managedTypes, "Bool") { try works(\Numbers.truth, "truth", true, false) }
  construct(.managedTypes, "Int16") { try works(\Numbers.small, "small", 1, .min, .max) }
  construct(.managedTypes, "Int32") { try works(\Numbers.middle, "middle", 1, .min, .max) }
  construct(.managedTypes, "Int64") { try works(\Numbers.large, "large", 1, .min, .max) }
  construct(.managedTypes, "Int") { try works(\Numbers.word, "word", 1, .min, .max) }
  construct(.managedTypes, "Int8") { try works(\Numbers.tiny, "tiny", 1, .min, .max) }
  construct(.managedTypes, "UInt16") { try works(\Numbers.unsigned, "unsigned", 1, .min, .max) }
  construct(.managedTypes, "UInt32") { try works(\Numbers.unsignedMiddle, "unsignedMiddle", 1, .min, .max) }
  construct(.managedTypes, "Double") { try works(\Numbers.double, "double", 0.1, -.greatestFiniteMagnitude) }
  construct(.managedTypes, "Float") { try works(\Numbers.float, "float", 0.1, -2) }
  construct(.managedTypes, "Float64") { try works(\Numbers.float64, "float64", 0.1, -2) }
  construct(.managedTypes, "CGFloat") { try works(\Numbers.measure, "measure", 0.5, -2) }
  construct(.managedTypes, "a typealias of the module") { try works(\Numbers.aliased, "aliased", 3) }
  construct(.managedTypes, "Swift.Int64") { try works(\Numbers.qualified, "qualified", 3) }
  construct(.managedTypes, "NSNumber?") { try works(\Numbers.number, "number", 3, nil) }
  construct(.managedTypes, "NSNumber") { try works(\Numbers.requiredNumber, "requiredNumber", 0.25) }
  construct(.managedTypes, "NSNumber!") { try works(\Numbers.unwrappedNumber, "unwrappedNumber", 3, nil) }
  construct(.managedTypes, "NSNumber? of a truth value") {
    try works(\Numbers.truthNumber, "truthNumber", true, nil)
  }
  construct(.managedTypes, "NSDecimalNumber?") {
    try works(\Numbers.decimal, "decimal", NSDecimalNumber(string: "0.1"), nil)
  }
  construct(.managedTypes, "NSDecimalNumber") {
    try works(\Numbers.requiredDecimal, "requiredDecimal", NSDecimalNumber(string: "12345678901234567890.5"))
  }
  construct(.managedTypes, "an enumeration of Foundation") {
    try works(\Numbers.order, "order", .orderedAscending, .orderedSame)
  }
  construct(.managedTypes, "a number that was never set reads as zero") {
    let numbers = World.make(Numbers.self)
    expect(numbers.small == 0 && numbers.double == 0 && !numbers.truth)
  }
}

private func dateTypes() {
  let date = Date(timeIntervalSinceReferenceDate: 1000.5)
  construct(.managedTypes, "Date?") { try works(\Moments.date, "date", date, nil) }
  construct(.managedTypes, "Date") { try works(\Moments.requiredDate, "requiredDate", date) }
  construct(.managedTypes, "Foundation.Date?") { try works(\Moments.qualifiedDate, "qualifiedDate", date, nil) }
  construct(.managedTypes, "NSDate?") { try works(\Moments.foundationDate, "foundationDate", date as NSDate, nil) }
  construct(.managedTypes, "TimeInterval of a date") {
    try works(\Moments.interval, "interval", 5, -2.5)
    let moments = World.make(Moments.self)
    moments.interval = 5
    expect(moments.value(forKey: "interval") as? Date, is: Date(timeIntervalSinceReferenceDate: 5))
  }
  let data = Data([1, 2, 3])
  construct(.managedTypes, "Data?") { try works(\Moments.data, "data", data, nil, Data()) }
  construct(.managedTypes, "Data") { try works(\Moments.requiredData, "requiredData", data) }
  construct(.managedTypes, "NSData?") { try works(\Moments.foundationData, "foundationData", data as NSData, nil) }
  construct(.managedTypes, "Data? in external storage") { try works(\Moments.external, "external", data, nil) }
}

private func enumerationTypes() {
  construct(.managedTypes, "an enumeration of Int16") { try works(\Enumerations.state, "state", .published, .draft) }
  construct(.managedTypes, "an enumeration of Int32 without zero") {
    try works(\Enumerations.priority, "priority", .high, .low)
    expect(World.make(Enumerations.self).priority == .low)
  }
  construct(.managedTypes, "an enumeration of Int64") { try works(\Enumerations.level, "level", .first, .ground) }
  construct(.managedTypes, "an enumeration of Int") { try works(\Enumerations.rank, "rank", .first, .last) }
  construct(.managedTypes, "an enumeration of the class") { try works(\Enumerations.color, "color", .green, .red) }
  construct(.managedTypes, "an enumeration by its qualified name") {
    try works(\Enumerations.qualifiedColor, "qualifiedColor", .green)
  }
  construct(.managedTypes, "a private number behind a computed enumeration") {
    try works(\Enumerations.computedState, "storedState", .published, .draft)
  }
  construct(.managedTypes, "the number of an enumeration by its key") {
    let object = World.make(Enumerations.self)
    object.priority = .high
    expect((object.value(forKey: "priority") as? NSNumber)?.intValue, is: 5)
    object.setValue(1, forKey: "priority")
    expect(object.priority == .low)
  }
}

private func boxTypes() {
  construct(.managedTypes, "[String]?") { try works(\Boxes.strings, "strings", ["a", "b"], nil, []) }
  construct(.managedTypes, "[String]") { try works(\Boxes.requiredStrings, "requiredStrings", ["a"]) }
  construct(.managedTypes, "[Int]?") { try works(\Boxes.numbers, "numbers", [1, 2], nil) }
  construct(.managedTypes, "[[String]]?") { try works(\Boxes.nested, "nested", [["a"], []], nil) }
  construct(.managedTypes, "[String: String]?") { try works(\Boxes.dictionary, "dictionary", ["a": "b"], nil) }
  construct(.managedTypes, "[String: Int]?") { try works(\Boxes.counts, "counts", ["a": 1], nil) }
  construct(.managedTypes, "Set<String>?") { try works(\Boxes.set, "set", ["a", "b"], nil) }
  construct(.managedTypes, "Set<Int>") { try works(\Boxes.requiredSet, "requiredSet", [1, 2]) }
  construct(.managedTypes, "Array<String>?") { try works(\Boxes.longArray, "longArray", ["a"], nil) }
  construct(.managedTypes, "Dictionary<String, [Int]>?") {
    try works(\Boxes.longDictionary, "longDictionary", ["a": [1]], nil)
  }
  construct(.managedTypes, "NSArray?") { try works(\Boxes.array, "array", NSArray(array: [1, "a"]), nil) }
  construct(.managedTypes, "NSDictionary?") {
    try works(\Boxes.mapping, "mapping", NSDictionary(dictionary: ["a": 1]), nil)
  }
  construct(.managedTypes, "[String: Any]?") {
    let boxes = World.make(Boxes.self)
    boxes.anything = ["a": 1, "b": "text"]
    expect(boxes.anything?["a"] as? Int, is: 1)
    boxes.anything = nil
    expect(boxes.anything == nil)
  }
  construct(.managedTypes, "[Any]?") {
    let boxes = World.make(Boxes.self)
    boxes.objects = [1, "text"]
    expect(boxes.objects?.last as? String, is: "text")
  }
}

private func objectTypes() {
  construct(.managedTypes, "Any?") {
    let boxes = World.make(Boxes.self)
    boxes.value = "text"
    expect(boxes.value as? String, is: "text")
    boxes.value = nil
    expect(boxes.value == nil)
  }
  construct(.managedTypes, "AnyObject?") {
    let (boxes, point) = (World.make(Boxes.self), Point(x: 1))
    boxes.object = point
    expect(boxes.object === point)
  }
  construct(.managedTypes, "NSObject?") { try works(\Boxes.root, "root", Point(x: 1), nil, isSaved: false) }
  construct(.managedTypes, "(any NSCoding)?") {
    let boxes = World.make(Boxes.self)
    boxes.coding = Point(x: 2)
    expect((boxes.coding as? Point)?.x, is: 2)
  }
  construct(.managedTypes, "NSSecureCoding? without any") {
    let boxes = World.make(Boxes.self)
    boxes.secureCoding = Point(x: 3)
    expect((boxes.secureCoding as? Point)?.x, is: 3)
  }
  construct(.managedTypes, "a composition of protocols") {
    let boxes = World.make(Boxes.self)
    boxes.both = Point(x: 4)
    expect((boxes.both as? Point)?.x, is: 4)
  }
  construct(.managedTypes, "a class of the module") {
    try works(\Boxes.point, "point", Point(x: 5), nil, isSaved: false)
  }
  construct(.managedTypes, "a nested class of another one") {
    let boxes = World.make(Boxes.self)
    boxes.sign = Point.Sign()
    expect(boxes.sign?.height, is: 3)
  }
  construct(.managedTypes, "a transient value of no attribute type") {
    try works(\Boxes.cached, "cached", Point(x: 6), nil, isSaved: false)
  }
  construct(.managedTypes, "NSManagedObjectID?") {
    let boxes = World.make(Boxes.self)
    boxes.reference = boxes.objectID
    expect(boxes.reference == boxes.objectID)
  }
}
