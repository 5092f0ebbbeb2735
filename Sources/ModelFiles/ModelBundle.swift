import Foundation
import PropertyLists

/// A folder of model versions: `.xcdatamodeld` (sources) or `.momd` (compiled).
public struct ModelBundle: Sendable {
  /// The folder.
  public let url: URL
  /// The model of each version by the version's name, which is the file name without extension.
  public let versions: [String: URL]
  /// The version that the bundle names as current, or the only version. Nil if there are no versions, or several and
  /// the bundle names none.
  public let currentName: String?
  /// For each version, the 32-byte version hash of each entity as the compiler computed it. Empty for sources.
  public let versionHashes: [String: [String: Data]]
  /// For each version, its checksum in Base64 (Xcode 15 and later). Empty for sources.
  public let versionChecksums: [String: String]

  /// Reads the bundle's table of contents, but no model.
  ///
  /// Throws `cannotRead` for a missing folder, and `notAModel` or `malformed` for a damaged property list in it. A
  /// folder without versions is no error here.
  public init(_ url: URL) throws(ModelFileError) {
    self.url = url
    let isCompiled = url.pathExtension == "momd"
    let required = isCompiled ? "mom" : "xcdatamodel"
    var versions: [String: URL] = [:]
    for name in try url.folderNames() {
      let item = url.appending(path: name)
      if item.pathExtension == required { versions[item.deletingPathExtension().lastPathComponent] = item }
    }
    let info = try Self.information(url.appending(path: isCompiled ? "VersionInfo.plist" : Self.currentVersionFile))
    self.versions = versions
    currentName = Self.current(info, versions: versions)
    versionHashes =
      info["NSManagedObjectModel_VersionHashes"]?.dictionaryValue?.mapValues {
        ($0.dictionaryValue ?? [:]).compactMapValues(\.dataValue)
      } ?? [:]
    versionChecksums =
      info["NSManagedObjectModel_VersionChecksums"]?.dictionaryValue?.compactMapValues(\.stringValue) ?? [:]
  }

  /// Both files are optional: a bundle with one version is valid without them.
  private static func information(_ file: URL) throws(ModelFileError) -> PropertyList {
    guard file.isExistingFile else { return .dictionary([:]) }
    let data = try file.contents()
    do {
      return try PropertyList(contents: data)
    } catch {
      throw ModelFileError(error).located(at: file)
    }
  }

  private static func current(_ info: PropertyList, versions: [String: URL]) -> String? {
    if let name = info["NSManagedObjectModel_CurrentVersionName"]?.stringValue { return name }
    if let folder = info["_XCCurrentVersionName"]?.stringValue {
      return folder.hasSuffix(".xcdatamodel") ? String(folder.dropLast(12)) : folder
    }
    return versions.count == 1 ? versions.keys.first : nil
  }

  /// The `.xcdatamodel` or `.mom` of the current version of the bundle at `url`; `url` itself where it is a single
  /// model.
  ///
  /// Throws as ``init(_:)`` does, `noVersions` for an empty bundle, and `noCurrentVersion` where the current version is
  /// not stated or missing.
  public static func currentVersion(_ url: URL) throws(ModelFileError) -> URL {
    guard ["xcdatamodeld", "momd"].contains(url.pathExtension), !url.isFile else { return url }
    let bundle = try ModelBundle(url)
    return try bundle.url(of: bundle.requiredCurrentName())
  }

  private func requiredCurrentName() throws(ModelFileError) -> String {
    guard !versions.isEmpty else { throw ModelFileError(.noVersions, "the folder holds no model", url: url) }
    guard let currentName else {
      throw ModelFileError(.noCurrentVersion, "none of the \(versions.count) versions is marked as current", url: url)
    }
    return currentName
  }

  private func url(of version: String) throws(ModelFileError) -> URL {
    guard let file = versions[version] else {
      throw ModelFileError(.noCurrentVersion, "there is no version \(version)", url: url)
    }
    return file
  }

  /// The name of the file that says which version of an `.xcdatamodeld` is current.
  public static let currentVersionFile = ".xccurrentversion"

  /// The text of that file for a version, as Xcode writes it.
  public static func currentVersionText(_ version: String) -> Data {
    var name = ""
    for character in version {
      switch character {
      case "&": name += "&amp;"
      case "<": name += "&lt;"
      case ">": name += "&gt;"
      default: name.append(character)
      }
    }
    return Data(
      """
      <?xml version="1.0" encoding="UTF-8"?>
      <!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
      <plist version="1.0">
      <dict>
      \t<key>_XCCurrentVersionName</key>
      \t<string>\(name).xcdatamodel</string>
      </dict>
      </plist>

      """.utf8)
  }

  /// The names of the versions in ascending byte order.
  public var versionNames: [String] { versions.keys.sorted { $0.precedesInBytes($1) } }

  /// Reads one version. `moduleName` replaces a leading "." of class names in sources.
  ///
  /// Throws `noCurrentVersion` for a version that the bundle does not have, otherwise as
  /// ``ModelFile/read(at:moduleName:)`` does.
  public func record(of version: String, moduleName: String? = nil) throws(ModelFileError) -> ModelRecord {
    return try ModelFile.read(at: url(of: version), moduleName: moduleName)
  }

  /// Reads the current version. Throws as ``currentVersion(_:)`` and ``record(of:moduleName:)`` do.
  public func currentRecord(moduleName: String? = nil) throws(ModelFileError) -> ModelRecord {
    try record(of: requiredCurrentName(), moduleName: moduleName)
  }
}
