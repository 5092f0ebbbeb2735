import Foundation
import ModelFiles
import StoreSchema

/// Writes source models from compiled ones, formatted as Xcode does: `App.momd` becomes `App.xcdatamodeld`, and a
/// single model `App.xcdatamodel`.
public enum ModelDecompiler {
  /// What compiled models do not contain, a sentence each. It is what a decompiled model lacks of the source that it
  /// was compiled from.
  public static let notCompiled = [
    "The diagram is lost.",
    "Code generation becomes Manual/None.",
    "Scalar types become those that Xcode gives new attributes.",
    "The language becomes Swift, and the versions of the tools those of a new model.",
    "Each composite gets the name of the first attribute that has it.",
    "The use with CloudKit and with SwiftData is lost.",
    "Predicates, numbers and truth values may be spelled in another way.",
    "The mark syncable of properties is lost.",
    "What says the same as nothing is lost: empty values, NSManagedObject as a class, and flags of a fetch request with "
      + "their defaults.",
    "Default values and bounds that are not of their type are lost.",
    "Renaming identifiers are in elementID, and the entity of an inverse is that of the destination.",
    "An index with the name of its property becomes the property's flag.",
  ]

  /// The source of one model, `NAME.xcdatamodel`. The notes say what of it a source cannot express.
  public static func decompile(_ model: ModelRecord, name: String) -> ModelOutput {
    let source = ModelSourceWriter(model)
    let path = name + ".xcdatamodel"
    return ModelOutput(
      name: path, content: .folder(["contents": source.contents]), diagnostics: notes(source, path: path))
  }

  /// The sources of all versions of a compiled bundle, with its current version.
  ///
  /// Throws `noVersions` for an empty bundle, and the error of the first version that cannot be read.
  public static func decompile(_ bundle: ModelBundle) throws(ModelFileError) -> ModelOutput {
    if bundle.versions.isEmpty { throw ModelFileError(.noVersions, "the folder holds no model", url: bundle.url) }
    var files: [String: Data] = [:]
    var diagnostics: [ModelDiagnostic] = []
    for version in bundle.versionNames {
      let source = ModelSourceWriter(try bundle.record(of: version))
      let path = version + ".xcdatamodel"
      files[path + "/contents"] = source.contents
      diagnostics += notes(source, path: path)
    }
    if let current = bundle.currentName {
      files[ModelBundle.currentVersionFile] = ModelBundle.currentVersionText(current)
    }
    let name = bundle.url.deletingPathExtension().lastPathComponent + ".xcdatamodeld"
    return ModelOutput(name: name, content: .folder(files), diagnostics: diagnostics)
  }

  private static func notes(_ source: ModelSourceWriter, path: String) -> [ModelDiagnostic] {
    source.omissions.map { ModelDiagnostic(.note, $0, path: path) }
  }
}
