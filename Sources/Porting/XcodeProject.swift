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

  /// Foundation reads nested lists by recursion.
  private static func isShallow(_ data: Data) -> Bool {
    var depth = 0
    for byte in data {
      switch byte {
      case UInt8(ascii: "{"), UInt8(ascii: "("):
        depth += 1
        if depth > deepest { return false }
      case UInt8(ascii: "}"), UInt8(ascii: ")"): depth -= 1
      default: break
      }
    }
    return true
  }

  /// The targets with Swift sources, in the project's order. Targets that test the user interface are none.
  public func targets() -> [PortTarget] {
    let ids = root["targets"] as? [String] ?? []
    return ids.compactMap(target)
  }

  private func target(_ id: String) -> PortTarget? {
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
    for group in object["fileSystemSynchronizedGroups"] as? [String] ?? [] { files += synchronized(group, for: id) }
    files = Array(Set(files)).sorted { $0.path < $1.path }
    let sources = files.filter { $0.pathExtension == "swift" }
    guard !sources.isEmpty, let root = URL.commonFolder(files) else { return nil }
    let targets = (object["dependencies"] as? [String] ?? []).compactMap { objects[$0]?["target"] as? String }
    let isTest = product.hasSuffix(".bundle.unit-test")
    let isApp = product.contains(".application") || product.contains("app-extension")
    return PortTarget(
      name: Self.moduleName(name), kind: isTest ? .test : product.hasSuffix(".tool") ? .executable : .library,
      root: root, sources: sources, models: files.filter(\.isModel),
      resources: isTest ? files.filter(Self.isFixture) : [],
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
  private func synchronized(_ group: String, for target: String) -> [URL] {
    guard let folder = path(group) else { return [] }
    var excluded: Set<String> = []
    for exception in (objects[group]?["exceptions"] as? [String] ?? []).compactMap({ objects[$0] })
    where exception["target"] as? String == target {
      for path in exception["membershipExceptions"] as? [String] ?? [] {
        excluded.insert(folder.appending(path: path).standardizedFileURL.path)
      }
    }
    let contents = FolderContents(folder, without: excluded)
    return contents.sources + contents.models + contents.others
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
