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
    return try ids.compactMap(target)
  }

  private func target(_ id: String) throws -> PortTarget? {
    guard let object = objects[id], let name = object["name"] as? String,
      let product = object["productType"] as? String, !product.hasSuffix(".bundle.ui-testing")
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
    files = Array(Set(files)).sorted { $0.path < $1.path }
    let sources = files.filter { $0.pathExtension == "swift" }
    guard !sources.isEmpty, let root = URL.commonFolder(files) else { return nil }
    let targets = (object["dependencies"] as? [String] ?? []).compactMap { objects[$0]?["target"] as? String }
    let isTest = product.hasSuffix(".bundle.unit-test")
    let isApp = product.contains(".application") || product.contains("app-extension")
    return PortTarget(
      name: Self.moduleName(name), kind: isTest ? .test : product.hasSuffix(".tool") ? .executable : .library,
      root: root, sources: sources, models: files.filter(\.isModel),
      resources: isTest ? files.filter(Self.isFixture).map { PortResource($0) } : [],
      dependencies: targets.compactMap { objects[$0]?["name"] as? String }.map(Self.moduleName),
      languageMode: languageMode(object), isApp: isApp)
  }

  /// Of the first configuration that states one, the target's before the project's. Xcode builds older modes as 4.
  private func languageMode(_ target: Object) -> Int {
    for owner in [target, root] {
      guard let list = (owner["buildConfigurationList"] as? String).flatMap({ objects[$0] }) else { continue }
      for configuration in (list["buildConfigurations"] as? [String] ?? []).compactMap({ objects[$0] }) {
        let settings = configuration["buildSettings"] as? Object
        if let version = settings?["SWIFT_VERSION"] as? String, let mode = version.split(separator: ".").first {
          return min(max(Int(mode) ?? 5, 4), 6)
        }
      }
    }
    return 5
  }

  /// Whether a resource of a test is read by the test itself.
  private static func isFixture(_ file: URL) -> Bool {
    let kinds: Set<String> = [
      "swift", "storyboard", "xib", "xcassets", "plist", "strings", "lproj", "m", "h", "entitlements",
    ]
    return !file.isModel && !kinds.contains(file.pathExtension)
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
    var parts: [String] = []
    var next: String? = id
    while let id = next, let object = objects[id], parts.count < Self.deepest * 4 {
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
