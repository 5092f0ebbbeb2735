/// The classes of a module with what extensions in all files add to them.
final class ModuleClasses {
  /// A body of a class with its file. A class has several where branches of a condition declare it.
  struct Known {
    var file: Int
    var body: TypeBody
  }

  /// A property of a class: its name in Objective-C, and its type as it is written.
  private struct Property {
    var objectiveCName: String
    var type: String?
  }

  private let files: [SourceFile]
  private var classes: [String: [Known]] = [:]
  /// Classes with an `@NSManaged` member.
  private var withManagedMembers: Set<String> = []
  private var properties: [String: [String: Property]] = [:]
  /// The types that properties of a name have in all types of the module.
  private var types: [String: Set<String>] = [:]
  /// The names of properties that any class overrides.
  private var overridden: Set<String> = []
  /// Protocols of an actor.
  private var isolatedProtocols: Set<String> = []
  /// What is inserted before the closing brace of a class, by class and conditions.
  private var members: [String: [(conditions: [String], text: String)]] = [:]
  /// The accessors and validation methods that key-value coding finds by name.
  private var methods: [String: [String]] = [:]
  /// Classes of managed objects, as far as it was looked up.
  private var managed: [String: Bool] = [:]

  init(_ files: [SourceFile]) {
    self.files = files
    for (index, file) in files.enumerated() {
      for body in file.types where body.kind == .class {
        classes[body.name, default: []].append(.init(file: index, body: body))
      }
      for body in file.types where body.kind == .protocol && body.attributes.contains(where: { $0.hasSuffix("Actor") })
      {
        isolatedProtocols.insert(body.name)
      }
    }
    for file in files {
      for declaration in file.declarations { learn(declaration, in: file) }
    }
  }

  /// Whether all properties of this name are sets of Foundation.
  func isSet(_ property: String) -> Bool { types[property]?.isSubset(of: ["NSSet", "NSSet?", "NSSet!"]) ?? false }

  /// Whether a class of the module overrides a property of this name.
  func isOverridden(_ property: String) -> Bool { overridden.contains(property) }

  private func learn(_ declaration: Declaration, in file: SourceFile) {
    guard let owner = declaration.owner else { return }
    let name = file.types[owner].name
    // A class with such a member is one of managed objects, wherever its superclass is.
    if declaration.attribute("NSManaged") != nil { withManagedMembers.insert(name) }
    guard declaration.keyword == "var" else { return }
    if declaration.has("override") { overridden.insert(file.name(declaration.keywordIndex + 1)) }
    let bindings = file.bindings(declaration.keywordIndex)
    for binding in bindings {
      let property = file.name(binding.name)
      types[property, default: []].insert(file.oneLine(binding.type))
      properties[name, default: [:]][property] = Property(
        objectiveCName: file.objectiveCName(declaration) ?? property, type: file.oneLine(binding.type))
    }
    if bindings.isEmpty, let stated = file.objectiveCName(declaration) {
      properties[name, default: [:]][file.name(declaration.keywordIndex + 1)] = Property(objectiveCName: stated)
    }
  }

  // MARK: Classes

  func bodies(of name: String) -> [Known] { classes[name] ?? [] }

  /// The class and those of the module above it, a hundred at most.
  private func lineage(_ name: String) -> [String] {
    var result: [String] = []
    var seen: Set<String> = []
    var next: String? = name
    while let name = next, result.count < 100, seen.insert(name).inserted {
      result.append(name)
      next = superclass(of: name)
    }
    return result
  }

  /// The name of the superclass; that of a class of the module with the names of the types around it.
  private func superclass(of name: String) -> String? {
    guard let stated = classes[name]?.first?.body.inherited.first else { return nil }
    var outer = name.split(separator: ".").dropLast().map(String.init)
    while !outer.isEmpty {
      let full = (outer + [stated]).joined(separator: ".")
      if classes[full] != nil { return full }
      outer.removeLast()
    }
    return stated
  }

  /// Whether objects of the class are managed objects, as far as the module's sources show it.
  func isManaged(_ name: String) -> Bool {
    if let known = managed[name] { return known }
    var path: [String] = []
    var result = false
    for next in lineage(name) {
      if let known = managed[next] {
        result = known
        break
      }
      path.append(next)
      if withManagedMembers.contains(next) || next == "NSManagedObject" || next == "CoreData.NSManagedObject" {
        result = true
        break
      }
    }
    for name in path { managed[name] = result }
    return result
  }

  private static let plainAttributes: Set<String> = [
    "objc", "objcMembers", "available", "NSManaged", "dynamicMemberLookup",
  ]

  /// Whether an actor is stated for the class, by an attribute of it or of a class above it, or by a protocol. An
  /// attribute that is not known may be one of an actor.
  func isIsolated(_ name: String) -> Bool {
    lineage(name).contains { name in
      bodies(of: name).contains { known in
        !known.body.attributes.subtracting(Self.plainAttributes).isEmpty
          || known.body.inherited.contains(where: isolatedProtocols.contains)
      }
    }
  }

  /// Whether Objective-C sees all members, by `@objcMembers` of the class or of one above it.
  func showsAllMembers(_ name: String) -> Bool {
    lineage(name).contains { bodies(of: $0).contains { $0.body.attributes.contains("objcMembers") } }
  }

  func isGeneric(_ name: String) -> Bool { bodies(of: name).contains { $0.body.isGeneric } }

  /// Classes by their names in Objective-C, where those are others.
  var objectiveCNames: [String: String] {
    var names: [String: String] = [:]
    for (name, bodies) in classes {
      for known in bodies {
        let file = files[known.file]
        let declaration = file.declarations.first { $0.keywordIndex == known.body.keyword }
        if let stated = declaration.flatMap({ file.objectiveCName($0) }), stated != name { names[stated] = name }
      }
    }
    return names
  }

  /// The name of the type around a token.
  func enclosingType(of index: Int, in file: SourceFile) -> String? {
    file.types.last { $0.open < index && index < $0.close ?? file.tokens.count }?.name
  }

  // MARK: Properties

  private func property(_ name: String, in owner: String) -> Property? {
    lineage(owner).lazy.compactMap { self.properties[$0]?[name] }.first
  }

  func hasProperty(_ name: String, in owner: String) -> Bool { property(name, in: owner) != nil }

  /// The property whose name begins in upper case in a selector.
  func property(named name: String, of owner: String) -> String {
    let plain = name.prefix(1).lowercased() + name.dropFirst()
    let known = Set((properties[owner] ?? [:]).values.map(\.objectiveCName))
    return known.contains(name) && !known.contains(plain) ? name : plain
  }

  /// What follows a property in a key path.
  struct Step {
    var objectiveCName: String
    /// The class of the objects behind it; nil where it is not known.
    var destination: String?
    /// Whether the compiler cannot know what is behind it: a collection of Foundation, a dictionary, any object.
    var isUntyped: Bool
  }

  func step(_ name: String, from owner: String?) -> Step {
    guard let owner, let property = property(name, in: owner) else {
      return Step(objectiveCName: name, destination: nil, isUntyped: false)
    }
    let words = (property.type ?? "").split { !($0.isLetter || $0.isNumber || "._".contains($0)) }.map(String.init)
    let type = words.last { $0 != "Swift" }
    let untyped: Set<String> = [
      "NSSet", "NSMutableSet", "NSOrderedSet", "NSMutableOrderedSet", "NSArray", "NSMutableArray", "NSDictionary",
      "AnyObject", "Any", "AnyHashable", "Dictionary",
    ]
    let isUntyped = words.contains(where: untyped.contains) || property.type?.contains(":") == true
    return Step(objectiveCName: property.objectiveCName, destination: type, isUntyped: isUntyped)
  }

  // MARK: Additions

  /// Adds a member to the bodies of a class that are under the conditions; under none, to all bodies. Returns false
  /// where the module has no such body.
  func add(_ member: String, to name: String, conditions: [String]) -> Bool {
    guard bodies(of: name).contains(where: { fits($0, conditions) }) else { return false }
    members[name, default: []].append((conditions, member))
    return true
  }

  private func fits(_ known: Known, _ conditions: [String]) -> Bool {
    known.body.close != nil && (conditions.isEmpty || known.body.conditions == conditions)
  }

  /// Lists an accessor or a validation method of a class. Returns false where the module has no such body.
  func list(_ call: String, of name: String, conditions: [String]) -> Bool {
    let bodies = bodies(of: name).filter { $0.body.close != nil }
    guard bodies.count == 1, conditions.isEmpty || bodies[0].body.conditions == conditions else { return false }
    methods[name, default: []].append(call)
    return true
  }

  /// The changes of a file that come from members and from other files.
  func insertions(in file: Int, _ findings: inout [Rewriter.Finding]) -> [Rewriter.Change] {
    var changes: [Rewriter.Change] = []
    for (name, bodies) in classes {
      for known in bodies where known.file == file {
        var lines = (members[name] ?? []).filter { fits(known, $0.conditions) }.map(\.text)
        if let calls = methods[name] { lines += methodTable(calls, known, &findings) }
        guard !lines.isEmpty, let close = known.body.close else { continue }
        let token = files[file].tokens[close]
        // A member that ends on this line is separated from the next one.
        let separator = token.isFirstOnLine || close == known.body.open + 1 ? "" : ";"
        let offset = token.range.lowerBound
        changes.append(.init(range: offset..<offset, text: separator + " " + lines.joined(separator: "; ") + " "))
      }
    }
    return changes
  }

  private func methodTable(_ calls: [String], _ known: Known, _ findings: inout [Rewriter.Finding]) -> [String] {
    let (file, name) = (files[known.file], known.body.name)
    let isDeclared = files.contains { file in
      file.declarations.contains { declaration in
        declaration.keyword == "var" && file.isWord(declaration.keywordIndex + 1, "keyValueMethods")
          && declaration.owner.map { file.types[$0].name } == name
      }
    }
    if isDeclared {
      findings.append(
        .init(
          path: file.path, line: file.tokens[known.body.keyword].line,
          message: "\(name) lists its keyValueMethods itself; add \(calls.joined()) to them"))
      return []
    }
    let access = known.body.isPublic ? "public " : ""
    return ["\(access)override class var keyValueMethods: KeyValueMethods { super.keyValueMethods\(calls.joined()) }"]
  }
}
