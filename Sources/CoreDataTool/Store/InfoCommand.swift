import CoreData
import Foundation
import StoreProtocol
import StoreQuery
import StoreSchema

/// `coredata store info`: the type and metadata of a store, its files and its number of objects.
enum InfoCommand {
  static let command = Command(
    words: ["store", "info"], operands: ["PATH"], options: [.json, .model],
    summary: "Shows a store's type and metadata, its files and its number of objects",
    discussion: "The count of an entity does not include objects of its sub-entities."
  ) { invocation, output in
    // Read before the store is opened: closing a descriptor of a file releases all locks of the process on that file.
    let path = invocation.operands[0]
    _ = try OpenedStore.look(at: URL(fileURLWithPath: path))
    let files = try StoreFile.all(of: path)
    let store = try OpenedStore(path, model: invocation.value("--model"))
    let counts = try counts(store)
    if invocation.has("--json") {
      output.line(json(store, files, counts))
    } else {
      write(store, files, counts, output)
    }
    return true
  }

  private static func counts(_ store: OpenedStore) throws -> [(name: String, count: Int)] {
    let execution = FetchExecution(try store.engine.snapshot())
    return try store.entities.map { entity in
      (entity.name, try execution.count(FetchPlan(entities: entity.index..<(entity.index + 1))))
    }
  }

  private static func identifiers(_ store: OpenedStore) -> [String] {
    store.metadata[NSStoreModelVersionIdentifiersKey] as? [String] ?? []
  }

  private static func json(
    _ store: OpenedStore, _ files: [StoreFile], _ counts: [(name: String, count: Int)]
  ) -> String {
    JSONText.ordered([
      ("type", JSONText.string(store.type)),
      ("uuid", JSONText.string(store.engine.identifier)),
      ("modelVersionIdentifiers", JSONText.array(identifiers(store).map(JSONText.string))),
      ("inferredModel", store.modelSource == .inferred ? "true" : "false"),
      (
        "files",
        JSONText.array(
          files.map { file in
            JSONText.ordered([
              ("name", JSONText.string(file.name)), ("size", String(file.size)),
              ("sha256", JSONText.string(file.sha256)),
            ])
          })
      ),
      (
        "entities",
        JSONText.array(
          counts.map { JSONText.ordered([("name", JSONText.string($0.name)), ("count", String($0.count))]) })
      ),
    ])
  }

  private static func write(
    _ store: OpenedStore, _ files: [StoreFile], _ counts: [(name: String, count: Int)], _ output: Output
  ) {
    let source =
      switch store.modelSource {
      case .given: "as given"
      case .carried: "carried by the store"
      case .inferred: "inferred from the tables"
      }
    func title(_ text: String) -> String { Terminal.styled(text, .strong, on: .standardOutput) }
    output.line("\(title("type"))   \(store.type)")
    output.line("\(title("uuid"))   \(Terminal.harmless(store.engine.identifier))")
    let names = identifiers(store).filter { !$0.isEmpty }
    let version = names.isEmpty ? "" : ", version " + Terminal.harmless(names.joined(separator: ", "))
    output.line("\(title("model"))  \(source)\(version)")
    output.line(title("files"))
    for file in files { output.line("  \(Terminal.harmless(file.name))  \(file.size) bytes  \(file.sha256)") }
    output.line(title("entities"))
    let width = counts.map(\.name.count).max() ?? 0
    for (name, count) in counts {
      output.line("  \(Terminal.harmless(name))\(String(repeating: " ", count: width - name.count))  \(count)")
    }
  }
}

/// One file of a store.
struct StoreFile {
  /// The name within the store's folder.
  var name: String
  var size: Int
  /// In lower-case hexadecimal digits.
  var sha256: String

  /// The main file and all files that belong to it.
  static func all(of path: String) throws -> [StoreFile] {
    let url = URL(fileURLWithPath: path).resolvingSymlinksInPath()
    let folder = url.deletingLastPathComponent()
    let name = url.lastPathComponent
    var names = ["", "-wal", "-shm", "-journal"].map { name + $0 }
    let support = ".\(url.deletingPathExtension().lastPathComponent)_SUPPORT"
    for external in [support + "/_EXTERNAL_DATA", ExternalDataFolder(beside: url.path).folder.lastPathComponent] {
      let values = (try? FileManager.default.contentsOfDirectory(atPath: folder.path + "/" + external)) ?? []
      names += values.sorted().map { external + "/" + $0 }
    }
    let progress = Progress("MB of the files")
    defer { progress.end() }
    return try names.compactMap { try StoreFile(folder, $0, progress) }
  }

  /// Nil where there is no such file.
  private init?(_ folder: URL, _ name: String, _ progress: Progress) throws {
    let path = folder.path + "/" + name
    guard let status = FileStatus(path), status.isRegular else { return nil }
    if status.isHole {
      throw ToolError(message: "The file \(path) is almost entirely a hole (sparse); no store has such files.")
    }
    guard let file = FileHandle(forReadingAtPath: path) else {
      throw ToolError(message: "The file \(path) cannot be read.")
    }
    defer { try? file.close() }
    var digest = SHA256()
    self.name = name
    size = 0
    while let part = try file.read(upToCount: 1 << 20), !part.isEmpty {
      part.withUnsafeBytes { digest.update($0) }
      size += part.count
      progress.step()
    }
    sha256 = digest.finish().map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
  }
}
