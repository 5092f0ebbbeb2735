import Foundation
import ModelFiles

/// The texts of a model for users: those that a client has set, and those of the strings files beside the model's file.
/// The files are read when the texts are first used.
///
/// A model `Name` has its texts in `NameModel.strings`, or in a folder for the user's language
/// ([Localizing and Customizing Model Property
/// Names](https://developer.apple.com/library/archive/documentation/Cocoa/Conceptual/NSPersistentDocumentTutorial/06_CustomisingErrors/errors.html)).
struct ModelTexts {
  private enum Source {
    case given([String: String])
    case besides(URL)
  }

  private var sources: [Source] = []
  private var known: [String: String]??

  init() {}
  init(given: [String: String]?) { sources = given.map { [.given($0)] } ?? [] }
  init(modelAt url: URL) { sources = [.besides(url)] }

  /// Adds the texts of a model that is merged into this one. Existing texts stay.
  mutating func merge(_ other: ModelTexts) {
    // Texts that were read already are used as they were read.
    sources += other.known.map { ModelTexts(given: $0).sources } ?? other.sources
    known = nil
  }

  /// Nil where there are no texts. A file that cannot be read is reported, and left out.
  mutating func dictionary() -> [String: String]? {
    if let known { return known }
    let found = sources.compactMap { source -> [String: String]? in
      switch source {
      case .given(let texts): texts
      case .besides(let url): Self.read(besides: url)
      }
    }
    let merged = found.isEmpty ? nil : found.reduce(into: [:]) { $0.merge($1) { first, _ in first } }
    known = .some(merged)
    return merged
  }

  private static func read(besides model: URL) -> [String: String]? {
    guard let file = file(besides: model) else { return nil }
    do { return try StringsFile.read(at: file) } catch {
      report("the texts of a model are left out: \(error)")
      return nil
    }
  }

  private static func file(besides model: URL) -> URL? {
    var model = model
    if model.lastPathComponent == "contents" { model.deleteLastPathComponent() }
    // The texts of a model version are named after the folder of all versions.
    if ["momd", "xcdatamodeld"].contains(model.deletingLastPathComponent().pathExtension) {
      model.deleteLastPathComponent()
    }
    let folder = model.deletingLastPathComponent()
    let name = model.deletingPathExtension().lastPathComponent + "Model.strings"
    let languages = Locale.preferredLanguages.flatMap { [$0, String($0.prefix { $0 != "-" && $0 != "_" })] }
    let paths = [name] + (languages + ["Base", "en"]).map { "\($0).lproj/\(name)" }
    return paths.map { folder.appending(path: $0) }.first { FileManager.default.fileExists(atPath: $0.path) }
  }
}
