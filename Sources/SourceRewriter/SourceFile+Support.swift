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

  /// Members of `Bundle` that find the resources of packages, too, for a file that looks for resources. A member of the
  /// file itself comes before that of Foundation.
  private var resources: String {
    let members = Self.bundleMembers.filter { uses($0.words) && !declares($0.words) }.map(\.text)
    guard !members.isEmpty else { return "" }
    return """
      nonisolated extension Bundle {
        fileprivate var isOfProgram: Bool { bundlePath == Bundle.main.bundlePath }

      \(members.joined(separator: "\n"))}

      """
  }

  /// Whether an extension of `Bundle` in the file has a member of one of these names.
  func declares(_ words: [(word: String, label: String?)]) -> Bool {
    types.indices.contains { index in
      types[index].name == "Bundle"
        && (members[index] ?? []).contains { member in
          let name = member.keyword == "init" ? "Bundle" : self.name(member.keywordIndex + 1)
          return words.contains { $0.word == name }
        }
    }
  }

  /// Whether the file has one of these words, alone or before a parenthesis and a label.
  private func uses(_ words: [(word: String, label: String?)]) -> Bool {
    tokens.indices.contains { index in
      words.contains { word, label in
        isWord(index, word) && (label.map { isMark(index + 1, "(") && isWord(index + 2, $0) } ?? true)
      }
    }
  }

  private static let bundleMembers: [(words: [(word: String, label: String?)], text: String)] = [
    (
      [("url", "forResource"), ("path", "forResource")],
      """
        fileprivate func url(forResource name: String?, withExtension ext: String?) -> URL? {
          url(forResource: name, withExtension: ext, subdirectory: nil)
            ?? (isOfProgram ? CoreData.PackageResources.url(forResource: name, withExtension: ext) : nil)
        }

        fileprivate func path(forResource name: String?, ofType ext: String?) -> String? {
          url(forResource: name, withExtension: ext)?.path
        }

        fileprivate func resourceURL(
          forResource name: String?, withExtension ext: String?, subdirectory: String?
        ) -> URL? {
          url(forResource: name, withExtension: ext, subdirectory: subdirectory)
            ?? (isOfProgram
              ? CoreData.PackageResources.url(forResource: name, withExtension: ext, subdirectory: subdirectory) : nil)
        }

      """
    ),
    (
      [("urls", "forResourcesWithExtension")],
      """
        fileprivate func resourceURLs(forResourcesWithExtension ext: String?, subdirectory: String?) -> [URL]? {
          let own: [NSURL]? = urls(forResourcesWithExtension: ext, subdirectory: subdirectory)
          let found = own?.map { $0 as URL } ?? []
          let all =
            isOfProgram
            ? found + CoreData.PackageResources.urls(forResourcesWithExtension: ext, subdirectory: subdirectory) : found
          return all.isEmpty ? nil : all
        }

      """
    ),
    (
      [("allBundles", nil)],
      """
        fileprivate static var allBundles: [Bundle] { [main] + CoreData.PackageResources.bundles }

      """
    ),
    (
      [("Bundle", "identifier")],
      """
        fileprivate convenience init?(identifier: String) {
          guard let path = CoreData.PackageResources.path(identifier: identifier) else { return nil }
          self.init(path: path)
        }

      """
    ),
  ]
}
