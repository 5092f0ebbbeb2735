import Foundation

/// Resources of the targets of a Swift package.
///
/// In an app of Xcode the resources of a model layer are in the main bundle. Swift's package manager puts those of each
/// target into a folder of its own beside the program, `Package_Target.resources`. Rewritten files have an extension
/// of `Bundle` that looks there where the main bundle has no resource of the name.
public enum PackageResources {
  /// The resource in the first resource folder that has it, in the order of the folders' names; nil where none has it.
  public static func url(forResource name: String?, withExtension ext: String?, subdirectory: String? = nil) -> URL? {
    bundles.lazy.compactMap { $0.url(forResource: name, withExtension: ext, subdirectory: subdirectory) }.first
  }

  /// All resources with an extension, in all resource folders, in the order of the folders' names.
  public static func urls(forResourcesWithExtension ext: String?, subdirectory: String? = nil) -> [URL] {
    bundles.flatMap { $0.urls(forResourcesWithExtension: ext, subdirectory: subdirectory) ?? [] }.map { $0 as URL }
  }

  /// The resource folders, in the order of their names. A folder is a bundle.
  public static var bundles: [Bundle] { ModelSearch.resourceFolders().compactMap { Bundle(path: $0.path) } }

  /// The path of the resource folder of the target that has the name at the end of an identifier, such as `Model` for
  /// `com.example.Model`: a framework of Xcode has such an identifier. Nil where there is none.
  public static func path(identifier: String) -> String? {
    guard let target = identifier.split(separator: ".").last else { return nil }
    return ModelSearch.resourceFolders().first {
      $0.deletingPathExtension().lastPathComponent.hasSuffix("_\(target)")
    }?.path
  }
}
