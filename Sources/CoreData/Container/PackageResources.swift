import Foundation

/// Resources of the targets of a Swift package.
///
/// In an app of Xcode the resources of a model layer are in the main bundle. Swift's package manager puts those of each
/// target into a folder of its own beside the program, `Package_Target.resources`. Rewritten files have an extension
/// of `Bundle` that looks there where the main bundle has no resource of the name.
public enum PackageResources {
  /// The resource in the first resource folder that has it, in the order of the folders' names; nil where none has it.
  public static func url(forResource name: String?, withExtension ext: String?, subdirectory: String? = nil) -> URL? {
    ModelSearch.resourceFolders().lazy.compactMap {
      Bundle(path: $0.path)?.url(forResource: name, withExtension: ext, subdirectory: subdirectory)
    }.first
  }
}
