/// The text of source models as Xcode writes it: four spaces a level, attributes in a fixed order, no line end after
/// the root. A model that Xcode 14 or later has saved is written back byte for byte.
struct SourceText {
  private(set) var text = #"<?xml version="1.0" encoding="UTF-8" standalone="yes"?>"# + "\n"
  /// Which values XML cannot have as they are, a sentence each.
  private(set) var omissions: [String] = []

  /// Writes a document. Recurses into children, which models nest five levels deep, up to the limit of the reader.
  mutating func write(_ element: XMLElement, level: Int = 0) {
    let indent = String(repeating: "    ", count: level)
    text += "\(indent)<\(element.name)"
    for (key, value) in Self.attributes(of: element) {
      text += " \(key)=\""
      if !escape(value) {
        omissions.append("The \(key) of <\(element.name)> has a control character, which XML cannot have.")
      }
      text += "\""
    }
    if level + 1 >= XMLElement.depthLimit, !element.children.isEmpty {
      omissions.append("The content of <\(element.name)> is nested too deeply for a source.")
      text += "/>"
    } else if element.children.isEmpty {
      text += "/>"
    } else {
      text += ">\n"
      for child in element.children {
        write(child, level: level + 1)
        text += "\n"
      }
      text += "\(indent)</\(element.name)>"
    }
  }

  /// The attributes in the order of Xcode. Those that Xcode is not known to write come last, in byte order.
  private static func attributes(of element: XMLElement) -> [(key: String, value: String)] {
    let order = orders[element.name] ?? []
    let known = order.compactMap { key in element.attributes[key].map { (key: key, value: $0) } }
    let others = element.attributes.filter { !order.contains($0.key) }.sorted { $0.key.precedesInBytes($1.key) }
    return known + others
  }

  /// Writes a value, and returns whether it is whole: other control characters are left out. A line end and a tab are
  /// written as references, because a reader takes them for spaces otherwise.
  private mutating func escape(_ value: String) -> Bool {
    var isWhole = true
    for scalar in value.unicodeScalars {
      switch scalar {
      case "&": text += "&amp;"
      case "<": text += "&lt;"
      case ">": text += "&gt;"
      case "\"": text += "&quot;"
      case "\n", "\r", "\t": text += "&#\(scalar.value);"
      case _ where scalar.value < 0x20: isWhole = false
      default: text.unicodeScalars.append(scalar)
      }
    }
    return isWhole
  }

  /// The attributes of each element in the order in which Xcode 11 to 26 writes them (MODEL-FILES A.7).
  private static let orders: [String: [String]] = [
    "model": [
      "type", "documentVersion", "lastSavedToolsVersion", "systemVersion", "minimumToolsVersion", "sourceLanguage",
      "usedWithCloudKit", "usedWithSwiftData", "userDefinedModelVersionIdentifier", "macOSVersion", "iOSVersion",
    ],
    "entity": [
      "name", "representedClassName", "isAbstract", "parentEntity", "elementID", "versionHashModifier", "syncable",
      "codeGenerationType",
    ],
    "attribute": [
      "name", "optional", "transient", "attributeType", "composite", "derived", "derivationExpression",
      "defaultDateTimeInterval", "minDateTimeInterval", "maxDateTimeInterval", "minValueString", "maxValueString",
      "defaultValueString", "regularExpressionString", "renamingIdentifier", "storedInTruthFile",
      "usesScalarValueType", "valueTransformerName", "allowsExternalBinaryDataStorage", "customClassName", "indexed",
      "elementID", "preserveAfterDeletion", "spotlightIndexingEnabled", "versionHashModifier", "syncable",
    ],
    "relationship": [
      "name", "optional", "transient", "toMany", "minCount", "maxCount", "deletionRule", "ordered",
      "destinationEntity", "inverseName", "inverseEntity", "indexed", "elementID", "versionHashModifier",
      "spotlightIndexingEnabled", "syncable",
    ],
    "fetchedProperty": ["name", "optional", "syncable"],
    "fetchRequest": [
      "name", "entity", "predicateString", "resultType", "fetchLimit", "fetchBatchSize", "includeSubentities",
      "includePropertyValues", "includesPendingChanges", "returnObjectsAsFaults", "returnDistinctResults",
    ],
    "fetchIndexElement": ["property", "expression", "type", "order"],
    "entry": ["key", "value"],
    "element": ["name", "positionX", "positionY", "width", "height"],
  ]
}
