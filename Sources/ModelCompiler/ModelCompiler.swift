import Foundation
import ModelFiles
import PropertyLists
import StoreSchema

/// Compiles source models, as Apple's `momc` does: `App.xcdatamodeld` becomes the folder `App.momd`, and a single
/// `App.xcdatamodel` the file `App.mom`.
///
/// The files depend on the sources alone, so two compilations give the same bytes. No `.omo` is written: it is a copy
/// of the current model in a private format, which Apple's framework does not need.
public struct ModelCompiler: Sendable {
  /// The module whose classes the model names. It replaces the "." before class names. Nil keeps the ".".
  public var moduleName: String?
  /// The names of classes in Swift by the names that models give them, where those are others: a model names
  /// `@objc(Student) class StudentMO` by "Student". Without Objective-C there is no class of that name.
  public var classNames: [String: String] = [:]

  /// A compiler of models whose classes are in a module.
  public init(moduleName: String? = nil) {
    self.moduleName = moduleName
  }

  /// Compiles the model at `url`, an `.xcdatamodeld` or an `.xcdatamodel`. Nothing is written.
  ///
  /// Throws where a version cannot be read or has an error, after all versions have been checked.
  public func compile(_ url: URL) throws(CompilationFailure) -> ModelOutput {
    let name = url.deletingPathExtension().lastPathComponent
    switch url.pathExtension {
    case "xcdatamodel":
      var version = version(url)
      version.diagnostics += version.note
      guard let data = version.data else { throw CompilationFailure(version.diagnostics) }
      return ModelOutput(name: name + ".mom", content: .file(data), diagnostics: version.diagnostics)
    case "xcdatamodeld": return try compile(bundle: url, name: name)
    default:
      throw CompilationFailure([
        Self.fileError(url, "\(url.lastPathComponent) is neither an .xcdatamodeld nor an .xcdatamodel")
      ])
    }
  }

  /// Checks the model at `url` as ``compile(_:)`` does, and returns all findings.
  public func check(_ url: URL) -> [ModelDiagnostic] {
    do { return try compile(url).diagnostics } catch { return error.diagnostics }
  }

  // MARK: Versions

  /// A version of a model, as far as it could be compiled.
  private struct Version {
    var path: String
    var data: Data?
    var hashes: [String: Data] = [:]
    var diagnostics: [ModelDiagnostic] = []

    var checksum: String { VersionHash.checksum(of: hashes.mapValues { Array($0) }) }
    /// Apple's compiler notes the checksum of each model.
    var note: [ModelDiagnostic] {
      guard data != nil else { return [] }
      let name = URL(fileURLWithPath: path).deletingPathExtension().lastPathComponent
      return [ModelDiagnostic(.note, "Model \(name) version checksum: \(checksum)", path: path)]
    }
  }

  private func version(_ url: URL) -> Version {
    var version = Version(path: url.path(percentEncoded: false))
    if version.path.hasSuffix("/") { version.path.removeLast() }
    do {
      var source = try ModelSourceReader(moduleName: moduleName).readSource(folder: url)
      for index in source.record.entities.indices {
        guard let name = source.record.entities[index].className, let own = classNames[name] else { continue }
        source.record.entities[index].className = moduleName.map { "\($0).\(own)" } ?? own
      }
      version.diagnostics = ModelLint.check(source, path: version.path)
      if version.diagnostics.contains(where: { $0.severity == .error }) { return version }
      version.hashes = source.record.versionHashes
      version.data = try CompiledModelWriter.write(source.record)
      let inexact = source.record.inexactlyHashedEntities
      for entity in source.entities where inexact.contains(entity.name) {
        version.diagnostics.append(
          ModelDiagnostic(
            .note,
            """
            The version hash of \(entity.name) may differ from that of Apple's compiler, because the entity has a derived \
            or composite attribute
            """, path: version.path, element: entity.name))
      }
    } catch {
      version.diagnostics.append(Self.fileError(url, error))
    }
    return version
  }

  static func fileError(_ url: URL, _ message: String, element: String? = nil) -> ModelDiagnostic {
    var path = url.path(percentEncoded: false)
    if path.hasSuffix("/") { path.removeLast() }
    return ModelDiagnostic(.error, message, path: path, element: element ?? "")
  }

  static func fileError(_ url: URL, _ error: ModelFileError) -> ModelDiagnostic {
    fileError(url, error.message, element: error.element)
  }

  private func compile(bundle url: URL, name: String) throws(CompilationFailure) -> ModelOutput {
    let bundle: ModelBundle
    do { bundle = try ModelBundle(url) } catch { throw CompilationFailure([Self.fileError(url, error)]) }
    if bundle.versions.isEmpty {
      throw CompilationFailure([Self.fileError(url, "The folder has no model: no .xcdatamodel is in it.")])
    }
    guard let current = bundle.currentName, bundle.versions[current] != nil else {
      let reason = bundle.currentName.map { "the current version, \($0), is missing" } ?? "choose one in Xcode"
      throw CompilationFailure([
        Self.fileError(url, "No current version for model at path \(url.path(percentEncoded: false)): \(reason)")
      ])
    }
    let versions = bundle.versions.mapValues(version)
    let sorted = versions.sorted { UTF8Order.isLess($0.key, $1.key) }
    let diagnostics = sorted.flatMap { $0.value.diagnostics + $0.value.note }
    let files = Dictionary(
      sorted.compactMap { version in version.value.data.map { (version.key + ".mom", $0) } },
      uniquingKeysWith: { first, _ in first })
    guard files.count == versions.count else { throw CompilationFailure(diagnostics) }
    let information = Self.information(versions, current: current)
    return ModelOutput(
      name: name + ".momd", content: .folder(files.merging(["VersionInfo.plist": information]) { first, _ in first }),
      diagnostics: diagnostics)
  }

  private static func information(_ versions: [String: Version], current: String) -> Data {
    let hashes = versions.mapValues { PropertyList.dictionary($0.hashes.mapValues(PropertyList.data)) }
    let checksums = versions.mapValues { PropertyList.string($0.checksum) }
    return BinaryPropertyListWriter.write(
      .dictionary([
        "NSManagedObjectModel_CurrentVersionName": .string(current),
        "NSManagedObjectModel_VersionHashes": .dictionary(hashes),
        "NSManagedObjectModel_VersionChecksums": .dictionary(checksums),
      ]))
  }
}
