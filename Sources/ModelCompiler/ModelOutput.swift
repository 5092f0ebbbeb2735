import Foundation

/// The files of a compiled or decompiled model, before they are written.
public struct ModelOutput: Hashable, Sendable {
  /// The files.
  public enum Content: Hashable, Sendable {
    /// A file, such as a `.mom`.
    case file(Data)
    /// A folder, such as a `.momd`, with its files by their paths in it.
    case folder([String: Data])
  }

  /// The name that Xcode gives the file or folder: `App.momd`, `App.mom`, `App.xcdatamodeld`.
  public let name: String
  /// Its bytes.
  public let content: Content
  /// Warnings and notes. None is an error.
  public let diagnostics: [ModelDiagnostic]

  init(name: String, content: Content, diagnostics: [ModelDiagnostic]) {
    (self.name, self.content, self.diagnostics) = (name, content, diagnostics)
  }

  /// Writes the file, or the folder with its files, to `url`, whose folder must exist.
  ///
  /// Files that are there are replaced, each as a whole, unless they have these bytes already. In a `.momd` folder
  /// that is there, compiled models of other versions (`.mom` and `.omo`) are removed, because they would be found as
  /// versions of this model; everything else stays. An error of the file system is thrown; then a part of the files
  /// may be written.
  public func write(to url: URL) throws {
    switch content {
    case .file(let data): try Self.write(data, to: url)
    case .folder(let files):
      try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
      for (path, data) in files {
        let file = url.appending(path: path)
        try FileManager.default.createDirectory(
          at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Self.write(data, to: file)
      }
      guard url.pathExtension == "momd" else { return }
      for name in try FileManager.default.contentsOfDirectory(atPath: url.path(percentEncoded: false))
      where files[name] == nil {
        try Self.removeModel(url.appending(path: name))
      }
    }
  }

  private static func write(_ data: Data, to url: URL) throws {
    if let known = try? Data(contentsOf: url), known == data { return }
    try data.write(to: url, options: .atomic)
  }

  private static func removeModel(_ url: URL) throws {
    guard ["mom", "omo"].contains(url.pathExtension) else { return }
    let attributes = try FileManager.default.attributesOfItem(atPath: url.path(percentEncoded: false))
    guard attributes[.type] as? FileAttributeType == .typeRegular else { return }
    try FileManager.default.removeItem(at: url)
  }
}
