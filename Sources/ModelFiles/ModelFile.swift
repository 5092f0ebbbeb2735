import Foundation

/// The entry point for reading a model of any kind.
public enum ModelFile {
  /// Reads the model at `url`: the current version of an `.xcdatamodeld` or `.momd` folder, an `.xcdatamodel` folder,
  /// its `contents` file, or a `.mom` file. Files of other names are distinguished by their first bytes; so is a file
  /// with the name of a `.momd`, which CoreDataEvolution has its model compiled to. For an `.omo`, a copy of a `.mom`
  /// in a private format, the `.mom` beside it is read.
  ///
  /// `moduleName` replaces the leading "." of class names in sources; compiled models have their names already.
  ///
  /// Throws `cannotRead` for a missing file, `notAModel`, `malformed`, `unsupported` and `xcode3Format` for one that is
  /// no model or cannot be represented, and `noVersions` and `noCurrentVersion` for a bundle. The error has the URL.
  public static func read(at url: URL, moduleName: String? = nil) throws(ModelFileError) -> ModelRecord {
    switch url.pathExtension {
    case "momd" where url.isFile: break
    case "xcdatamodeld", "momd": return try ModelBundle(url).currentRecord(moduleName: moduleName)
    case "xcdatamodel": return try ModelSourceReader(moduleName: moduleName).read(folder: url)
    case "mom": return try CompiledModelReader.read(file: url)
    case "omo":
      let model = url.deletingPathExtension().appendingPathExtension("mom")
      guard model.isExistingFile else {
        throw ModelFileError(
          .unsupported, "an .omo has a private format, and there is no \(model.lastPathComponent) beside it", url: url)
      }
      return try CompiledModelReader.read(file: model)
    default: break
    }
    let data = try url.contents()
    do {
      if data.starts(with: Data("bplist".utf8)) { return try CompiledModelReader.read(data) }
      return try ModelSourceReader(moduleName: moduleName).read(data)
    } catch {
      throw error.located(at: url)
    }
  }
}
