import Foundation

/// A target of a project that is to be built where there is no Objective-C.
public struct PortTarget: Hashable, Sendable {
  /// What a target is built into.
  public enum Kind: String, Hashable, Sendable { case library, executable, test }

  /// The name of the module.
  public var name: String
  /// What it is built into.
  public var kind: Kind
  /// The folder that all its files are in.
  public var root: URL
  /// Its Swift sources.
  public var sources: [URL]
  /// Its models: `.xcdatamodeld`, `.xcdatamodel` and `.xcmappingmodel`.
  public var models: [URL]
  /// Its other resources.
  public var resources: [PortResource]
  /// Its sources in other languages, and the resources that only a user interface has or that share a name. They are
  /// not ported.
  public var otherFiles: [URL]
  /// The names of the targets of the same project that it uses.
  public var dependencies: [String]
  /// The version of Swift that its sources are written in: 4, 5 or 6.
  public var languageMode: Int
  /// Whether only what reaches Core Data is ported: an app has more than its model layer.
  public var isApp: Bool

  /// A target.
  public init(
    name: String, kind: Kind, root: URL, sources: [URL], models: [URL] = [], resources: [PortResource] = [],
    otherFiles: [URL] = [], dependencies: [String] = [], languageMode: Int = 5, isApp: Bool = false
  ) {
    (self.name, self.kind, self.root, self.sources, self.models) = (name, kind, root, sources, models)
    (self.resources, self.otherFiles, self.dependencies) = (resources, otherFiles, dependencies)
    (self.languageMode, self.isApp) = (languageMode, isApp)
  }

  /// The path of a file in the target's folder.
  public func path(_ file: URL) -> String { file.path(in: root) ?? file.path }
}

/// A resource as a manifest declares it.
public struct PortResource: Hashable, Sendable {
  /// A file or a folder.
  public var url: URL
  /// The function of `Resource`: `process`, `copy` or `embedInCode`.
  public var rule: String
  /// The case of `Resource.Localization`, where one is stated.
  public var localization: String?

  /// A resource.
  public init(_ url: URL, rule: String = "copy", localization: String? = nil) {
    (self.url, self.rule, self.localization) = (url, rule, localization)
  }
}

/// Where a manifest finds this package.
public enum PortLibrary: Hashable, Sendable {
  /// In a folder. The manifest gets its path from the project's folder.
  case folder(URL)
  /// In a repository: a version such as `0.1.0` and those that are compatible with it, or the revision where the
  /// version is no such number but the name of a branch.
  case repository(url: String, version: String, revision: String)
}

/// Why a project cannot be read or its manifest not be written. Nothing has been written then.
public struct PortError: Error, Hashable, CustomStringConvertible {
  /// What is the matter and what to do about it.
  public let description: String

  /// An error with its sentence.
  public init(_ description: String) { self.description = description }
}

extension URL {
  /// The path from a folder; nil where this is not in it.
  func path(in folder: URL) -> String? {
    let (start, path) = (folder.standardizedFileURL.path, standardizedFileURL.path)
    if path == start { return "." }
    return path.hasPrefix(start + "/") ? String(path.dropFirst(start.count + 1)) : nil
  }

  /// Whether it is a model, which is a folder.
  var isModel: Bool { ["xcdatamodeld", "xcdatamodel", "xcmappingmodel"].contains(pathExtension) }

  /// Whether it is a folder, or a link to one.
  var isFolder: Bool {
    (try? resolvingSymlinksInPath().resourceValues(forKeys: [.isDirectoryKey]).isDirectory) ?? false
  }

  /// The deepest folder that contains all these files.
  static func commonFolder(_ files: [URL]) -> URL? {
    guard var common = files.first?.standardizedFileURL.deletingLastPathComponent().pathComponents else { return nil }
    for file in files {
      let parts = file.standardizedFileURL.deletingLastPathComponent().pathComponents
      common = Array(zip(common, parts).prefix { $0 == $1 }.map(\.0))
    }
    return URL(fileURLWithPath: NSString.path(withComponents: common), isDirectory: true)
  }
}

/// The files of a folder, each model as one.
public struct FolderContents {
  /// The Swift sources, in the order of their paths.
  public private(set) var sources: [URL] = []
  /// The models, in the order of their paths.
  public private(set) var models: [URL] = []
  /// The other files, in the order of their paths.
  public private(set) var others: [URL] = []

  /// The contents of a folder. Hidden files, manifests, and files and folders with these paths are left out.
  ///
  /// Symbolic links are followed, as Swift's package manager does. A folder that several links lead to is read once.
  public init(_ root: URL, without left: Set<String> = []) {
    func real(_ url: URL) -> String { url.resolvingSymlinksInPath().standardizedFileURL.path }
    var known = left.union([real(root)])
    var pending = [root]
    while let folder = pending.popLast() {
      // In the order of their names, so that of two links to a folder always the same one is followed.
      let names = ((try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []).sorted()
      for name in names where !name.hasPrefix(".") && name != "Package.swift" {
        let item = folder.appending(path: name)
        if left.contains(item.standardizedFileURL.path) { continue }
        if item.isModel {
          models.append(item)
        } else if item.isFolder, !["xcassets", "xcodeproj", "xcworkspace"].contains(item.pathExtension) {
          if known.insert(real(item)).inserted { pending.append(item) }
        } else if item.pathExtension == "swift" {
          sources.append(item)
        } else {
          others.append(item)
        }
      }
    }
    sources.sort { $0.path < $1.path }
    models.sort { $0.path < $1.path }
    others.sort { $0.path < $1.path }
  }
}
