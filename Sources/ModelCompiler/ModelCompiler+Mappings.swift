import Foundation
import ModelFiles

extension ModelCompiler {
  /// Compiles the mapping model at `url`, an `.xcmappingmodel`, to a `.cdm`. Nothing is written.
  ///
  /// The models that it maps between are those at `source` and `destination`. Where these are nil, the models are
  /// looked for by the paths that Xcode saved: relative to the folders above the mapping model, the nearest first, and
  /// with fewer of their leading folders. Throws where a model is not found or the mapping does not fit it.
  public func compile(
    mapping url: URL, from source: URL? = nil, to destination: URL? = nil
  ) throws(CompilationFailure) -> ModelOutput {
    do {
      let mapping = try MappingSource.read(folder: url)
      let compiler = MappingCompiler(
        from: try model(source, mapping.sourceModelPath, of: url),
        to: try model(destination, mapping.destinationModelPath, of: url))
      let name = url.deletingPathExtension().lastPathComponent + ".cdm"
      return ModelOutput(
        name: name, content: .file(try CompiledMapping.write(compiler.compile(mapping))), diagnostics: [])
    } catch {
      throw CompilationFailure([Self.fileError(url, error)])
    }
  }

  private func model(_ given: URL?, _ path: String?, of mapping: URL) throws(ModelFileError) -> ModelRecord {
    if let given { return try ModelFile.read(at: given, moduleName: moduleName) }
    guard let path else { throw ModelFileError(.cannotRead, "the mapping model does not name its models") }
    guard let found = Self.find(path, from: mapping) else {
      throw ModelFileError(.cannotRead, "the model \(path) of the mapping model was not found near it")
    }
    return try ModelFile.read(at: found, moduleName: moduleName)
  }

  /// The file with the longest end of the path, in the nearest folder above.
  private static func find(_ path: String, from url: URL) -> URL? {
    let parts = path.split(separator: "/").map(String.init)
    // Of a version of a bundle both folders are necessary.
    for first in parts.indices.dropLast(parts.count > 1 ? 1 : 0) {
      let end = parts[first...].joined(separator: "/")
      var folder = url.standardizedFileURL.deletingLastPathComponent()
      for _ in 0..<32 {
        let candidate = folder.appending(path: end)
        if FileManager.default.fileExists(atPath: candidate.path(percentEncoded: false)) { return candidate }
        if folder.path == "/" { break }
        folder.deleteLastPathComponent()
      }
    }
    return nil
  }
}
