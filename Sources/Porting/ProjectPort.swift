import Foundation

/// The port of a package, a folder or a project of Xcode: a report, and the files that make it build.
public struct ProjectPort {
  /// A file that `apply()` writes.
  public struct File: Hashable, Sendable {
    /// Where.
    public var url: URL
    /// Its bytes.
    public var data: Data
  }

  /// The plans of the targets that have to do with Core Data.
  public let plans: [PortPlan]
  /// What is written: the manifest, and in each target's folder a placeholder and the plugin's settings.
  public let files: [File]

  /// A port of targets.
  ///
  /// - Parameters:
  ///   - name: The name of the package, where its manifest is new.
  ///   - folder: The folder of the manifest.
  ///   - targets: All targets of the project.
  ///   - library: Where this package is.
  public init(name: String, folder: URL, targets: [PortTarget], library: PortLibrary) throws {
    try Self.check(targets, in: folder)
    plans = try Self.plans(targets)
    guard !plans.isEmpty else { throw PortError("nothing in \(folder.path) has to do with Core Data") }
    let manifest = folder.appending(path: "Package.swift")
    let known = try? String(contentsOf: manifest, encoding: .utf8)
    if known == nil, FileManager.default.fileExists(atPath: manifest.path) {
      throw PortError("\(manifest.path) cannot be read")
    }
    let base = known ?? PortManifest.base(name: name, plans, in: folder)
    let text = try PortManifest.ported(base, plans, in: folder, library: library)
    var files = [File(url: manifest, data: Data(text.utf8))]
    for plan in plans {
      let placeholder = "// The only source of this target that is compiled as it is where there is no Objective-C.\n"
      files.append(
        File(url: plan.target.root.appending(path: PortManifest.placeholder), data: Data(placeholder.utf8)))
      files.append(
        File(url: plan.target.root.appending(path: PortManifest.settings), data: try PortManifest.settings(plan)))
    }
    self.files = files
  }

  /// A package has the files of its targets in folders of its own, each target in another.
  private static func check(_ targets: [PortTarget], in folder: URL) throws {
    let names = Dictionary(grouping: targets, by: \.name)
    for (name, sharing) in names.sorted(by: { $0.key < $1.key }) where sharing.count > 1 {
      throw PortError(
        "\(sharing.count) targets have modules with the name \(name); give each another PRODUCT_MODULE_NAME")
    }
    let roots = Dictionary(grouping: targets) { $0.root.standardizedFileURL.path }
    for (path, sharing) in roots.sorted(by: { $0.key < $1.key }) {
      let names = sharing.map(\.name).joined(separator: " and ")
      if sharing.count > 1 {
        throw PortError("\(names) have files of \(path); give each target a folder of its own, as a package needs")
      }
      if sharing[0].root.path(in: folder) == nil {
        throw PortError("\(names) has files outside of \(folder.path); a package can have only what is in its folder")
      }
    }
  }

  /// The plans in the order of the targets. A target is planned behind those that it uses.
  private static func plans(_ targets: [PortTarget]) throws -> [PortPlan] {
    let modules = Set(targets.map { XcodeProject.moduleName($0.name) })
    var plans: [String: PortPlan] = [:]
    var pending = targets
    while !pending.isEmpty {
      let names = Set(pending.map(\.name))
      // Targets that use each other are planned in their order.
      let index = pending.firstIndex { names.isDisjoint(with: $0.dependencies) } ?? 0
      let target = pending.remove(at: index)
      let lost = target.dependencies.compactMap { plans[$0]?.lost }
      plans[target.name] = try PortPlan(
        target, modules: modules, lost: lost.reduce(into: [:]) { $0.merge($1) { first, _ in first } },
        others: targets.map(\.root))
    }
    return targets.filter { target in
      concerns(target, targets) || plans[target.name]?.leftOut.isEmpty == false
    }.compactMap { plans[$0.name] }
  }

  /// Whether a target has a model or names Core Data, or tests or uses one that does.
  private static func concerns(_ target: PortTarget, _ all: [PortTarget]) -> Bool {
    var (names, pending): (Set<String>, [PortTarget]) = ([target.name], [target])
    while let next = pending.popLast() {
      if namesCoreData(next) { return true }
      if next.kind != .test { continue }
      pending += all.filter { next.dependencies.contains($0.name) && names.insert($0.name).inserted }
    }
    return false
  }

  private static func namesCoreData(_ target: PortTarget) -> Bool {
    if !target.models.isEmpty { return true }
    return target.sources.contains { url in
      guard let data = try? Data(contentsOf: url) else { return true }
      return data.range(of: Data("CoreData".utf8)) != nil
    }
  }

  /// The report for people.
  public var report: String {
    plans.map(\.description).joined(separator: "\n\n")
  }

  /// Writes the files. A file with the placeholder's name that is the user's is never replaced.
  public func apply() throws {
    for file in files where file.url.lastPathComponent == PortManifest.placeholder {
      if let known = try? Data(contentsOf: file.url), known != file.data {
        throw PortError("\(file.url.path) is a file of yours; rename it")
      }
    }
    for file in files { try file.data.write(to: file.url, options: .atomic) }
  }
}
