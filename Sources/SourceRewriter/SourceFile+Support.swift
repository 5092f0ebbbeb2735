/// What is added behind the end of a file.
extension SourceFile {
  var support: String { useOfPublicImport + resources }

  /// A use of a public import of Core Data, as the compiler warns of an import that is public without need: a class
  /// that Xcode generates for a child entity does not name Core Data.
  private var useOfPublicImport: String {
    let isPublic = declarations.contains {
      $0.keyword == "import" && $0.has("public") && imported($0) == "CoreData"
    }
    guard isPublic else { return "" }
    // A number of the path, as names of files are no identifiers (FNV-1a).
    let number = path.utf8.reduce(UInt64(0xcbf2_9ce4_8422_2325)) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
    return "@usableFromInline typealias _Import_\(String(number, radix: 36)) = NSManagedObject\n"
  }

  /// Methods of `Bundle` that find the resources of packages, too, for a file that looks for resources. A method of the
  /// file itself comes before that of Foundation.
  private var resources: String {
    let isUsed = tokens.indices.contains { index in
      (isWord(index, "url") || isWord(index, "path")) && isMark(index + 1, "(") && isWord(index + 2, "forResource")
    }
    let isDeclared = types.contains { $0.name == "Bundle" }
    guard isUsed, !isDeclared else { return "" }
    return """
      nonisolated extension Bundle {
        fileprivate var isOfProgram: Bool { bundlePath == Bundle.main.bundlePath }

        fileprivate func url(forResource name: String?, withExtension ext: String?) -> URL? {
          url(forResource: name, withExtension: ext, subdirectory: nil)
            ?? (isOfProgram ? PackageResources.url(forResource: name, withExtension: ext) : nil)
        }

        fileprivate func path(forResource name: String?, ofType ext: String?) -> String? {
          url(forResource: name, withExtension: ext)?.path
        }
      }

      """
  }
}
