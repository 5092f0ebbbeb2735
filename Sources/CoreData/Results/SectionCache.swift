import Foundation
import StoreSchema
import StoreSupport

/// The sections of a controller in a file, so that another run of the program need not read the objects to divide them.
///
/// A file is used only for what it was made of: the same model, request, section key path and results, on stores whose
/// files have not changed since. Where a name is computed by code, it must follow from stored values. Then no cache is
/// wrong, and nobody has to delete one before the request changes, as on Apple's platforms
/// (https://developer.apple.com/documentation/coredata/nsfetchedresultscontroller#The-cache).
struct SectionCache {
  /// The names and sizes of the sections, in order.
  struct Content: Codable {
    let name: String
    let key: Data
    /// A digest of the results. A request that has the time in it has other results at another time.
    let results: Data
    let sections: [Section]
  }

  struct Section: Codable {
    let name: String
    let count: Int
  }

  private let name: String
  /// A digest of all that the sections follow from.
  private let key: Data

  /// Nil where the sections cannot be kept: for a child context, unsaved changes, a predicate or sort descriptor with
  /// code, a client's store, a store that keeps everything in memory, and a file that changed in the last two seconds.
  init?(_ name: String, _ parameters: FetchParameters, sectionNameKeyPath: String, _ core: ContextCore) {
    guard core.parent == nil, core.changes.isEmpty, let model = core.context?.model, let coordinator = core.coordinator,
      let request = Self.description(parameters)
    else { return nil }
    var parts = model.entityVersionHashesByName.sorted { $0.key < $1.key }.map { $0 + $1.base64EncodedString() }
    parts += [request, sectionNameKeyPath]
    for store in parameters.affectedStores ?? coordinator.openStores {
      guard let state = store.fileState else { return nil }
      parts.append(state)
    }
    (self.name, key) = (name, Self.digest(parts.joined(separator: "\u{2}")))
  }

  private static func description(_ parameters: FetchParameters) -> String? {
    var parts = [
      parameters.entityName ?? "", "\(parameters.includesSubentities)", "\(parameters.fetchLimit)",
      "\(parameters.fetchOffset)",
    ]
    do {
      var archives = try (parameters.sortDescriptors ?? []).map { try QueryCoding.write(QueryCoding.content($0)) }
      if let predicate = parameters.predicate {
        archives.append(try QueryCoding.write(QueryCoding.content(predicate)))
      }
      parts += archives.map { $0.base64EncodedString() }
    } catch { return nil }
    return parts.joined(separator: "\u{1}")
  }

  // MARK: Files

  private static let suffix = ".sections"

  /// The folder of this program's caches.
  private static var folder: URL? {
    FileManager.default.urls(for: .cachesDirectory, in: .userDomainMask).first?
      .appending(path: "OpenCoreData/SectionInfoCaches/\(ProcessInfo.processInfo.processName)")
  }

  private static func file(_ name: String) -> URL? {
    folder?.appending(path: digest(name).map { String(format: "%02x", $0) }.joined() + suffix)
  }

  private static func digest(_ text: String) -> Data {
    var digest = SHA256()
    Data(text.utf8).withUnsafeBytes { digest.update($0) }
    return Data(digest.finish())
  }

  /// The section name of each result; nil where no cache has them.
  func names(of objects: [NSManagedObject]) -> [String]? {
    guard let file = Self.file(name), FileStatus(file.path)?.isRegular == true, let data = try? Data(contentsOf: file),
      let content = try? PropertyListDecoder().decode(Content.self, from: data), content.key == key,
      content.results == Self.digest(objects),
      content.sections.allSatisfy({ $0.count > 0 && $0.count <= objects.count }),
      content.sections.reduce(0, { $0 + $1.count }) == objects.count
    else { return nil }
    return content.sections.flatMap { repeatElement($0.name, count: $0.count) }
  }

  private static func digest(_ objects: [NSManagedObject]) -> Data {
    var digest = SHA256()
    for object in objects {
      withUnsafeBytes(of: (Int64(object.storeIndex), Int64(object.info.entity.index), object.key)) { digest.update($0) }
    }
    return Data(digest.finish())
  }

  /// Writes the sections of the results.
  func keep(_ layout: ResultsLayout) {
    let content = Content(
      name: name, key: key, results: Self.digest(layout.objects),
      sections: layout.sections.map { Section(name: $0.name, count: $0.numberOfObjects) })
    guard let folder = Self.folder, let file = Self.file(name) else { return }
    do {
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      let encoder = PropertyListEncoder()
      encoder.outputFormat = .binary
      try encoder.encode(content).write(to: file, options: .atomic)
    } catch { report("the sections of the cache '\(name)' could not be kept: \(error)") }
  }

  /// Removes a cache, or all of this program with nil.
  static func remove(_ name: String?) {
    let files: [URL]
    if let name {
      files = file(name).map { [$0] } ?? []
    } else {
      let names = folder.flatMap { try? FileManager.default.contentsOfDirectory(atPath: $0.path) } ?? []
      files = names.filter { $0.hasSuffix(suffix) }.compactMap { folder?.appending(path: $0) }
    }
    for file in files where FileStatus(file.path)?.isRegular == true {
      do { try FileManager.default.removeItem(at: file) } catch {
        report("the cache at \(file.path) could not be removed: \(error)")
      }
    }
  }
}

extension SectionCache: Equatable {}
