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

  private var bodiesByFile: [Int: [(name: String, known: Known)]] = [:]
  let files: [SourceFile]
  private(set) var classes: [String: [Known]] = [:]
  /// The names behind the type aliases of files.
  private var aliases: [String: String] = [:]
  /// Classes with an `@NSManaged` member.
  private var withManagedMembers: Set<String> = []
  private var properties: [String: [String: Property]] = [:]
  /// The types that properties of a name have in all types of the module.
  private var types: [String: Set<String>] = [:]
  /// Protocols of an actor.
  private var isolatedProtocols: Set<String> = []
  /// What is inserted before the closing brace of a class.
  var members: [String: [Addition]] = [:]
  /// The accessors and validation methods that key-value coding finds by name.
  var methods: [String: [Addition]] = [:]
  /// What classes override, by the classes above them: names of variables, and of functions with their labels.
  private var overridden: [String: Set<String>] = [:]
  /// The functions of types by their names.
  private var functions: [String: [String: [Function]]] = [:]
  /// The names of the requirements of protocols of Objective-C, and the protocols that they refine.
  private var requirements: [String: (names: Set<String>, refined: [String])] = [:]
  private var required: [String: Set<String>] = [:]
  /// The classes that list their `keyValueMethods` themselves.
  private(set) var listingThemselves: Set<String> = []
  /// The protocols that are stated for a class and its extensions.
  private var protocols: [String: [String]] = [:]
  /// Classes of managed objects, as far as it was looked up.
  private var managed: [String: Bool] = [:]

  /// Functions of the module, with their labels, that have the name of a function of Apple's whose calls are replaced.
  /// An override of `value(forKey:)` is left out: it is that of a managed object.
  private(set) lazy var namesakes: Set<String> = {
    let functions = files.flatMap { file in
      file.declarations.filter { $0.keyword == "func" }.map { (file, $0) }
    }
    let names = ["url", "urls", "NSClassFromString", "NSStringFromClass", "value"]
    let named = functions.filter { file, function in
      let name = file.name(function.keywordIndex + 1)
      return names.contains(name) && !(name == "value" && function.has("override"))
    }
    return Set(named.compactMap { $0.memberName($1) })
  }()

  init(_ files: [SourceFile]) {
    self.files = files
    for (index, file) in files.enumerated() {
      // A class has as many bodies as branches of a condition declare it, which are few in what people write.
      for body in file.types where body.kind == .class && classes[body.name]?.count ?? 0 < 64 {
        let known = Known(file: index, body: body)
        classes[body.name, default: []].append(known)
        bodiesByFile[index, default: []].append((body.name, known))
      }
      for declaration in file.declarations where declaration.owner == nil && declaration.keyword == "typealias" {
        learnAlias(declaration, in: file)
      }
    }
    for file in files {
      for body in file.types { learn(body, in: file) }
      for declaration in file.declarations {
        learn(declaration, in: file)
      }
    }
    for file in files {
      for declaration in file.declarations where declaration.has("override") { learnOverride(declaration, in: file) }
    }
  }

  private func learn(_ body: TypeBody, in file: SourceFile) {
    switch body.kind {
    case .class, .extension: protocols[canonical(body.name), default: []] += body.inherited
    case .protocol:
      if body.attributes.contains(where: { $0.hasSuffix("Actor") }) { isolatedProtocols.insert(body.name) }
      guard body.attributes.contains("objc"), let index = file.typesByKeyword[body.keyword] else { return }
      let names = (file.members[index] ?? []).map { file.name($0.keywordIndex + 1) }
      requirements[body.name] = (Set(names), body.inherited)
    case .other: break
    }
  }

  /// Whether all properties of this name are sets of Foundation.
  func isSet(_ property: String) -> Bool { types[property]?.isSubset(of: ["NSSet", "NSSet?", "NSSet!"]) ?? false }

  private func learn(_ declaration: Declaration, in file: SourceFile) {
    guard let owner = declaration.owner else { return }
    let name = canonical(file.types[owner].name)
    // A class with such a member is one of managed objects, wherever its superclass is.
    if declaration.attribute("NSManaged") != nil { withManagedMembers.insert(name) }
    if declaration.keyword == "func", let signature = file.signature(declaration) {
      functions[name, default: [:]][signature.name, default: []].append(
        Function(
          fullName: signature.fullName, selector: file.objectiveCName(declaration) ?? signature.selector,
          parameters: signature.parameters.count, isOfType: declaration.has("static") || declaration.has("class")))
    }
    learnType(declaration, in: file)
    guard declaration.keyword == "var" else { return }
    if file.isWord(declaration.keywordIndex + 1, "keyValueMethods") { listingThemselves.insert(name) }
    let bindings = file.bindings(declaration.keywordIndex)
    for binding in bindings {
      let property = file.name(binding.name)
      properties[name, default: [:]][property] = Property(
        objectiveCName: file.objectiveCName(declaration) ?? property, type: file.oneLine(binding.type))
    }
    if bindings.isEmpty, let stated = file.objectiveCName(declaration) {
      properties[name, default: [:]][file.name(declaration.keywordIndex + 1)] = Property(objectiveCName: stated)
    }
  }

  /// The type of a property or constant; the empty text where none is stated.
  private func learnType(_ declaration: Declaration, in file: SourceFile) {
    guard declaration.keyword == "var" || declaration.keyword == "let" else { return }
    let bindings = file.bindings(declaration.keywordIndex)
    for binding in bindings { types[file.name(binding.name), default: []].insert(file.oneLine(binding.type)) }
    if bindings.isEmpty { types[file.name(declaration.keywordIndex + 1), default: []].insert("") }
  }

  /// `typealias Name = Outer.Inner`.
  private func learnAlias(_ declaration: Declaration, in file: SourceFile) {
    var index = declaration.keywordIndex + 2
    guard file.isMark(index, "=") else { return }
    var words: [String] = []
    repeat {
      index += 1
      words.append(file.name(index))
      index += 1
    } while file.isMark(index, ".") && words.count < 8
    if file.tokens.indices.contains(index), !file.tokens[index].isFirstOnLine { return }
    aliases[file.name(declaration.keywordIndex + 1)] = words.joined(separator: ".")
  }

  private func learnOverride(_ declaration: Declaration, in file: SourceFile) {
    guard let owner = declaration.owner, let name = file.memberName(declaration) else { return }
    for type in lineage(canonical(file.types[owner].name)).dropFirst() { overridden[type, default: []].insert(name) }
  }

  /// A function of a type.
  struct Function {
    /// The name with the labels.
    var fullName: String
    /// The name in Objective-C.
    var selector: String
    var parameters: Int
    /// Whether it is one of the type and not of its objects.
    var isOfType: Bool
  }

  /// The functions of a class, or of the nearest class above it that has some with the name.
  func functions(_ name: String, of owner: String) -> [Function] {
    lineage(owner).lazy.compactMap { self.functions[$0]?[name] }.first ?? []
  }

  /// Whether a subclass in the module overrides a member: a variable, or a function with its labels.
  func isOverridden(_ member: String, of owner: String) -> Bool { overridden[owner]?.contains(member) == true }

  /// The names of the requirements of the protocols of Objective-C that are stated for a class, of a hundred at most.
  func requiredMembers(of owner: String) -> Set<String> {
    if let known = required[owner] { return known }
    var names: Set<String> = []
    var seen: Set<String> = []
    var pending = protocols[owner] ?? []
    while let next = pending.popLast(), seen.count < 100 {
      guard let known = requirements[next], seen.insert(next).inserted else { continue }
      names.formUnion(known.names)
      pending += known.refined
    }
    required[owner] = names
    return names
  }

  /// The name of a class as its declaration has it: without the module's, and for a type alias that of its type.
  func canonical(_ name: String) -> String {
    var name = name
    for _ in 0..<8 {
      if classes[name] != nil { return name }
      if let known = aliases[name] {
        name = known
        continue
      }
      let rest = name.split(separator: ".").dropFirst().joined(separator: ".")
      return classes[rest] != nil ? rest : name
    }
    return name
  }

  // MARK: Classes

  func bodies(of name: String) -> [Known] { classes[name] ?? [] }

  /// The bodies of classes that are in a file, with the names of their classes.
  func bodies(in file: Int) -> [(name: String, known: Known)] { bodiesByFile[file] ?? [] }

  /// The class and those of the module above it, a hundred at most.
  private func lineage(_ name: String) -> [String] {
    var result: [String] = []
    var seen: Set<String> = []
    var next: String? = name
    while let stated = next, result.count < 100 {
      let name = canonical(stated)
      guard seen.insert(name).inserted else { break }
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
    for file in files {
      for declaration in file.declarations where declaration.keyword == "class" {
        guard let type = file.typesByKeyword[declaration.keywordIndex],
          let stated = file.objectiveCName(declaration), stated != file.types[type].name
        else { continue }
        names[stated] = file.types[type].name
      }
    }
    return names
  }

  /// The name of the type around a token.
  func enclosingType(of index: Int, in file: SourceFile) -> String? {
    file.types.last { $0.open < index && index < $0.close ?? file.tokens.count }.map { canonical($0.name) }
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
    /// The label for the next property: `exactly` for an object, `optional` for one that may be nil; nil for
    /// collections, and where it is not known.
    var label: String?
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
    var step = Step(objectiveCName: property.objectiveCName, destination: type, isUntyped: isUntyped)
    let plain = (property.type ?? "").filter { $0 != "?" && $0 != "!" }
    if classes[canonical(plain)] != nil { step.label = property.type == plain ? "exactly" : "optional" }
    return step
  }
}
