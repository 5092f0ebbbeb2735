/// The classes of a module with what extensions in all files add to them.
final class ModuleClasses {
  /// A class with its file.
  struct Known {
    var file: Int
    var body: TypeBody
  }

  private let files: [SourceFile]
  private var classes: [String: Known] = [:]
  /// Classes with an `@NSManaged` member.
  private var managed: Set<String> = []
  /// The names of the `@NSManaged` variables of each class, with their names in Objective-C.
  private var properties: [String: [String: String]] = [:]
  /// What is inserted before the closing brace of a class.
  private var members: [String: [String]] = [:]
  /// The accessors and validation methods that key-value coding finds by name.
  private var methods: [String: [String]] = [:]

  init(_ files: [SourceFile]) {
    self.files = files
    for (index, file) in files.enumerated() {
      for body in file.types where body.kind == .class && classes[body.name] == nil {
        classes[body.name] = Known(file: index, body: body)
      }
    }
    for file in files {
      // A class with such a member is one of managed objects, wherever its superclass is.
      for declaration in file.declarations where declaration.attribute("NSManaged") != nil {
        guard let owner = declaration.owner else { continue }
        let name = file.types[owner].name
        managed.insert(name)
      }
      for declaration in file.declarations where declaration.keyword == "var" {
        guard let owner = declaration.owner else { continue }
        let property = file.name(declaration.keywordIndex + 1)
        let stated = file.objectiveCName(declaration)
        if stated != nil || declaration.attribute("NSManaged") != nil {
          properties[file.types[owner].name, default: [:]][property] = stated ?? property
        }
      }
    }
  }

  /// Classes by their names in Objective-C, where those are others.
  var objectiveCNames: [String: String] {
    var names: [String: String] = [:]
    for (name, known) in classes {
      let file = files[known.file]
      let declaration = file.declarations.first { $0.keywordIndex == known.body.keyword }
      if let stated = declaration.flatMap({ file.objectiveCName($0) }), stated != name { names[stated] = name }
    }
    return names
  }

  func named(_ name: String) -> Known? { classes[name] }

  /// Whether objects of the class are managed objects, as far as the module's sources show it.
  func isManaged(_ name: String) -> Bool {
    var next = name
    var seen: Set<String> = []
    while seen.insert(next).inserted {
      if managed.contains(next) { return true }
      guard let superclass = classes[next]?.body.inherited.first else { return false }
      if superclass == "NSManagedObject" || superclass == "CoreData.NSManagedObject" { return true }
      next = superclass
    }
    return false
  }

  /// The property whose name begins in upper case in a selector.
  func property(_ name: String, of owner: String) -> String {
    let known = properties[owner]?.values
    let plain = name.prefix(1).lowercased() + name.dropFirst()
    return known?.contains(name) == true && known?.contains(plain) != true ? name : plain
  }

  /// The name of a property in Objective-C, where it has another one there.
  ///
  /// The class is nil for a property behind another one.
  func objectiveCName(_ property: String, of owner: String?) -> String {
    if let owner, let stated = properties[owner]?[property] { return stated }
    let stated = Set(properties.values.compactMap { $0[property] })
    return stated.count == 1 ? stated.first ?? property : property
  }

  /// The name of the type around a token.
  func enclosingType(of index: Int, in file: SourceFile) -> String? {
    file.types.last { $0.open < index && index < $0.close ?? file.tokens.count }?.name
  }

  /// Adds a member to the body of a class. Returns false where the module does not have the class.
  func add(_ member: String, to name: String) -> Bool {
    guard let known = classes[name], known.body.close != nil else { return false }
    members[name, default: []].append(member)
    return true
  }

  /// Lists an accessor or a validation method of a class. Returns false where the module does not have the class.
  func list(_ call: String, of name: String) -> Bool {
    guard let known = classes[name], known.body.close != nil else { return false }
    methods[name, default: []].append(call)
    return true
  }

  /// The changes of a file that come from members and from other files.
  func insertions(in file: Int, _ findings: inout [Rewriter.Finding]) -> [Rewriter.Change] {
    var changes: [Rewriter.Change] = []
    for (name, known) in classes where known.file == file {
      var lines = members[name] ?? []
      if let calls = methods[name] {
        let access = known.body.isPublic ? "public " : ""
        if declaresMethods(name) {
          let line = files[file].tokens[known.body.keyword].line
          findings.append(
            .init(
              path: files[file].path, line: line,
              message: "\(name) lists its keyValueMethods itself; add \(calls.joined()) to them"))
        } else {
          lines.append(
            "\(access)override class var keyValueMethods: KeyValueMethods { super.keyValueMethods\(calls.joined()) }")
        }
      }
      guard !lines.isEmpty, let close = known.body.close else { continue }
      let token = files[file].tokens[close]
      // A member that ends on this line is separated from the next one.
      let separator = token.isFirstOnLine || close == known.body.open + 1 ? "" : ";"
      let offset = token.range.lowerBound
      changes.append(.init(range: offset..<offset, text: separator + " " + lines.joined(separator: "; ") + " "))
    }
    return changes
  }

  private func declaresMethods(_ name: String) -> Bool {
    files.contains { file in
      file.declarations.contains { declaration in
        declaration.keyword == "var" && file.isWord(declaration.keywordIndex + 1, "keyValueMethods")
          && declaration.owner.map { file.types[$0].name } == name
      }
    }
  }
}
