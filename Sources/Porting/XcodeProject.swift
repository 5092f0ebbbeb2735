import Foundation

/// The native targets of an `.xcodeproj`, as its `project.pbxproj` lists them: sources and resources of build phases,
/// and the folders that Xcode 16 and later keep in step with the file system.
public struct XcodeProject {
  private typealias Object = [String: Any]

  private let objects: [String: Object]
  private let root: Object
  /// The folder that contains the project.
  public let folder: URL
  /// The path of each file and group, by its identifier.
  private var paths: [String: URL] = [:]
  /// The parents of files and groups.
  private var parents: [String: String] = [:]

  private static let longest = 64 << 20
  private static let deepest = 64

  /// Reads the project at `url`, an `.xcodeproj`.
  public init(_ url: URL) throws {
    let file = url.appending(path: "project.pbxproj")
    guard let data = try? Data(contentsOf: file), data.count <= Self.longest, Self.isShallow(data),
      let list = try? PropertyListSerialization.propertyList(from: data, format: nil) as? Object,
      let objects = list["objects"] as? [String: Object], let rootID = list["rootObject"] as? String,
      let root = objects[rootID]
    else { throw PortError("\(file.path) cannot be read as a project of Xcode") }
    self.objects = objects
    self.root = root
    folder = url.deletingLastPathComponent()
    for (id, object) in objects {
      for child in object["children"] as? [String] ?? [] { parents[child] = id }
    }
  }

  /// Foundation reads nested lists by recursion. Of XML, which Xcode does not write, the depth is not known.
  private static func isShallow(_ data: Data) -> Bool {
    if data.first == UInt8(ascii: "<") || data.starts(with: Data("bplist".utf8)) { return false }
    var (depth, isQuoted, isEscaped) = (0, false, false)
    for byte in data {
      if isEscaped {
        isEscaped = false
      } else if isQuoted {
        isEscaped = byte == UInt8(ascii: "\\")
        isQuoted = byte != UInt8(ascii: "\"")
      } else if byte == UInt8(ascii: "\"") {
        isQuoted = true
      } else if byte == UInt8(ascii: "{") || byte == UInt8(ascii: "(") {
        depth += 1
        if depth > deepest { return false }
      } else if byte == UInt8(ascii: "}") || byte == UInt8(ascii: ")") {
        // One that is in a comment must not make room for more.
        depth = max(0, depth - 1)
      }
    }
    return true
  }

  /// The targets with Swift sources, in the project's order. Targets that test the user interface are none.
  /// Throws where a folder of the project is not below the project's own.
  public func targets() throws -> [PortTarget] {
    let ids = root["targets"] as? [String] ?? []
    var names = Dictionary(ids.map { ($0, objects[$0].flatMap(moduleName)) }) { first, _ in first }
    // Apps for several systems may have the same module, but not in a package: there it has the target's name.
    let built = names.keys.filter { objects[$0].map(Self.isBuilt) ?? false }
    for (_, sharing) in Dictionary(grouping: built, by: { names[$0] ?? nil }) where sharing.count > 1 {
      for id in sharing { names[id] = (objects[id]?["name"] as? String).map(Self.moduleName) }
    }
    return try ids.compactMap { try target($0, names.compactMapValues(\.self)) }
  }

  /// Targets that test the user interface are not, nor those without a product.
  private static func isBuilt(_ target: Object) -> Bool {
    (target["productType"] as? String).map { !$0.hasSuffix(".bundle.ui-testing") } ?? false
  }

  /// `names` are the modules of all targets.
  private func target(_ id: String, _ names: [String: String]) throws -> PortTarget? {
    guard let object = objects[id], let name = names[id], Self.isBuilt(object),
      let product = object["productType"] as? String
    else { return nil }
    var files: [URL] = []
    for phase in (object["buildPhases"] as? [String] ?? []).compactMap({ objects[$0] }) {
      guard ["PBXSourcesBuildPhase", "PBXResourcesBuildPhase"].contains(phase["isa"] as? String) else { continue }
      for item in phase["files"] as? [String] ?? [] {
        guard let reference = objects[item]?["fileRef"] as? String else { continue }
        files += self.files(reference)
      }
    }
    let own = Set(object["fileSystemSynchronizedGroups"] as? [String] ?? [])
    for group in own.sorted() { files += try synchronized(group, for: id) }
    for group in objects.keys.sorted() where !own.contains(group) { files += added(of: group, to: id) }
    // What an earlier port has written is the port's.
    files.removeAll { [PortManifest.settings, PortManifest.placeholder].contains($0.lastPathComponent) }
    files = Array(Set(files)).sorted { $0.path < $1.path }
    let sources = files.filter { $0.pathExtension == "swift" }
    guard !sources.isEmpty, let root = URL.commonFolder(files) else { return nil }
    let targets = (object["dependencies"] as? [String] ?? []).compactMap { objects[$0]?["target"] as? String }
    let isTest = product.hasSuffix(".bundle.unit-test")
    let isApp = product.contains(".application") || product.contains("app-extension")
    let rest = files.filter { $0.pathExtension != "swift" && !$0.isModel }
    // The package manager refuses resources with one name, such as those for several languages.
    let shared = Dictionary(grouping: rest, by: \.lastPathComponent).filter { $1.count > 1 }
    let resources = rest.filter {
      let kind = $0.pathExtension.lowercased()
      return !Self.kindsOfSources.contains(kind) && !Self.kindsOfInterfaces.contains(kind)
        && shared[$0.lastPathComponent] == nil && !$0.path.contains(".lproj/")
    }
    let others = Set(rest).subtracting(resources).sorted { $0.path < $1.path }
    return PortTarget(
      name: name, kind: isTest ? .test : product.hasSuffix(".tool") ? .executable : .library, root: root,
      sources: sources, models: files.filter(\.isModel), resources: resources.map { PortResource($0) },
      otherFiles: others,
      dependencies: targets.compactMap { names[$0] }, languageMode: languageMode(object),
      isApp: isApp)
  }

  /// The version of Swift that the settings state. Xcode builds older modes as 4.
  private func languageMode(_ target: Object) -> Int {
    let mode = setting("SWIFT_VERSION", of: target)?.split(separator: ".").first.flatMap { Int($0) } ?? 5
    return min(max(mode, 4), 6)
  }

  /// What a program does not read by itself, and what only a user interface does.
  private static let kindsOfInterfaces: Set<String> = [
    "aif", "caf", "entitlements", "gif", "heic", "jpeg", "jpg", "lproj", "m4a", "mov", "mp3", "mp4", "nib", "otf",
    "pdf", "plist", "png", "storyboard", "strings", "stringsdict", "svg", "ttc", "ttf", "wav", "webp", "xcassets",
    "xcstrings", "xib",
  ]
  private static let kindsOfSources: Set<String> = ["c", "cc", "cpp", "h", "hpp", "m", "metal", "mm", "pch", "s"]

  /// The name of a target's module: that of its product, unless the settings state another.
  private func moduleName(_ target: Object) -> String? {
    guard let name = target["name"] as? String else { return nil }
    let product = setting("PRODUCT_NAME", of: target, ["TARGET_NAME": name]) ?? name
    let values = ["TARGET_NAME": name, "PRODUCT_NAME": product]
    return Self.moduleName(setting("PRODUCT_MODULE_NAME", of: target, values) ?? product)
  }

  /// A build setting with these values in place of their names; nil where none is stated, or where it has other names.
  private func setting(_ name: String, of target: Object, _ values: [String: String]) -> String? {
    guard var text = setting(name, of: target) else { return nil }
    for (key, value) in values {
      for modifier in ["", ":c99extidentifier", ":rfc1034identifier"] {
        text = text.replacing("$(\(key)\(modifier))", with: value)
      }
    }
    return text.contains("$") || text.isEmpty ? nil : text
  }

  /// Of the first configuration that states it, the target's before the project's.
  private func setting(_ name: String, of target: Object) -> String? {
    for owner in [target, root] {
      guard let list = (owner["buildConfigurationList"] as? String).flatMap({ objects[$0] }) else { continue }
      for configuration in (list["buildConfigurations"] as? [String] ?? []).compactMap({ objects[$0] }) {
        if let value = (configuration["buildSettings"] as? Object)?[name] as? String { return value }
      }
    }
    return nil
  }

  /// A name as Xcode makes the name of a module of it.
  static func moduleName(_ name: String) -> String {
    let name = String(name.map { $0.isASCII && ($0.isLetter || $0.isNumber) ? $0 : "_" })
    return name.first?.isNumber ?? true ? "_" + name : name
  }

  /// The files that a build phase names: one, or the localised forms of one.
  private func files(_ id: String) -> [URL] {
    switch objects[id]?["isa"] as? String {
    case "PBXVariantGroup": (objects[id]?["children"] as? [String] ?? []).compactMap(path)
    case "PBXFileReference", "XCVersionGroup": path(id).map { [$0] } ?? []
    default: []
    }
  }

  /// The files of a folder that Xcode keeps in step, but for those that the target leaves out.
  private func synchronized(_ group: String, for target: String) throws -> [URL] {
    guard let folder = path(group) else { return [] }
    guard folder.path(in: self.folder) != nil else {
      throw PortError("\(folder.path) is not in the project's folder; a package can have only what is in its own")
    }
    let contents = FolderContents(folder, without: Set(exceptions(group, target, in: folder).map(\.path)))
    return contents.sources + contents.models + contents.others
  }

  /// The files of another target's folder that this target has, too.
  private func added(of group: String, to target: String) -> [URL] {
    guard objects[group]?["isa"] as? String == "PBXFileSystemSynchronizedRootGroup", let folder = path(group) else {
      return []
    }
    return exceptions(group, target, in: folder)
  }

  private func exceptions(_ group: String, _ target: String, in folder: URL) -> [URL] {
    (objects[group]?["exceptions"] as? [String] ?? []).compactMap { objects[$0] }
      .filter { $0["target"] as? String == target }
      .flatMap { $0["membershipExceptions"] as? [String] ?? [] }
      .map { folder.appending(path: $0).standardizedFileURL }
  }

  /// The file of a reference: its path is one in the group around it, in the project's folder, or absolute.
  private func path(_ id: String) -> URL? {
    var (parts, known): ([String], Set<String>) = ([], [])
    var next: String? = id
    // A group that contains itself has no path.
    while let id = next, let object = objects[id] {
      guard known.insert(id).inserted else { return nil }
      if let path = object["path"] as? String { parts.append(path) }
      switch object["sourceTree"] as? String ?? "<group>" {
      case "<group>": next = parents[id]
      case "SOURCE_ROOT": next = nil
      case "<absolute>": return parts.last.map { Self.join(URL(fileURLWithPath: $0), parts.dropLast()) }
      // In the folder of a build or of the system's frameworks.
      default: return nil
      }
    }
    let base = (root["projectDirPath"] as? String).flatMap { $0.isEmpty ? nil : folder.appending(path: $0) } ?? folder
    return Self.join(base, parts[...])
  }

  private static func join(_ base: URL, _ parts: ArraySlice<String>) -> URL {
    parts.reversed().reduce(base) { $0.appending(path: $1) }.standardizedFileURL
  }
}
