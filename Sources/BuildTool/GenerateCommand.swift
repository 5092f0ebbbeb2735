import Foundation
import Porting

/// `generate --module NAME --root FOLDER --output FOLDER [--without PATH]...`: writes what the build-tool plugin makes
/// of a target into a folder of the target, for builds without plugins.
struct GenerateCommand {
  private var module = ""
  private var root = URL(fileURLWithPath: ".")
  private var output = URL(fileURLWithPath: ".")
  /// What the target compiles itself, and the folders of other targets.
  private var left: [URL] = []

  init(_ arguments: ArraySlice<String>) throws {
    var rest = arguments
    while let word = rest.popFirst() {
      guard let value = rest.popFirst() else { throw PortError("\(word) needs a value") }
      switch word {
      case "--module": module = value
      case "--root": root = URL(fileURLWithPath: value)
      case "--output": output = URL(fileURLWithPath: value)
      case "--without": left.append(URL(fileURLWithPath: value))
      default: throw PortError("\(word) is no option of generate")
      }
    }
  }

  /// Writes the sources into the folder `Sources` and the compiled models into the folder `Models` of the output.
  ///
  /// Returns false where a model has an error. Files of earlier runs that are results no longer are named; they stay.
  func run() throws -> Bool {
    let known = try PortManifest.leftOut(in: root) + left + [output, root.appending(path: PortManifest.placeholder)]
    let contents = FolderContents(root, without: Set(known.map(\.standardizedFileURL.path)))
    let inputs = contents.models + contents.sources
    guard !inputs.isEmpty else {
      print("\(module): no models, and no sources that the target does not compile itself")
      return true
    }
    // A manifest names the folders: what it names as a source cannot be a resource, too.
    let (sources, models) = (output.appending(path: "Sources"), output.appending(path: "Models"))
    let task = try BuildTask(
      ["--module", module, "--root", root.path, "--output", sources.path, "--models", models.path] + inputs.map(\.path))
    try claim()
    guard try task.run() else { return false }
    for (folder, names) in [(sources, task.sourceNames), (models, task.modelNames)] {
      print("\(module): wrote \(names.count) files into \(folder.path)")
    }
    let folders = [(sources, task.sourceNames), (models, task.modelNames), (output, ["Sources", "Models"])]
    for (folder, names) in folders {
      let items = try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
      for item in items where !names.contains(item) && !item.hasPrefix(".") {
        print("\(folder.appending(path: item).path) is of an earlier run; remove it")
      }
    }
    return true
  }

  /// A hidden file that shows whose folder it is.
  private static let mark = ".generated-models"

  /// Makes the folder this command's. One with files of others is refused.
  private func claim() throws {
    let items = (try? FileManager.default.contentsOfDirectory(atPath: output.path)) ?? []
    guard items.isEmpty || items.contains(Self.mark) else {
      throw PortError("\(output.path) has files of yours; name another folder by --output")
    }
    try FileManager.default.createDirectory(at: output, withIntermediateDirectories: true)
    try Data("Written by swift package generate-models.\n".utf8).write(to: output.appending(path: Self.mark))
  }
}
