import Foundation
import Porting

/// `generate --module NAME --root FOLDER --output FOLDER [--compiled FILE]...`: writes what the build-tool plugin makes
/// of a target into a folder of the target, for builds without plugins.
struct GenerateCommand {
  private var module = ""
  private var root = URL(fileURLWithPath: ".")
  private var output = URL(fileURLWithPath: ".")
  private var compiled: [URL] = []

  init(_ arguments: ArraySlice<String>) throws {
    var rest = arguments
    while let word = rest.popFirst() {
      guard let value = rest.popFirst() else { throw PortError("\(word) needs a value") }
      switch word {
      case "--module": module = value
      case "--root": root = URL(fileURLWithPath: value)
      case "--output": output = URL(fileURLWithPath: value)
      case "--compiled": compiled.append(URL(fileURLWithPath: value))
      default: throw PortError("\(word) is no option of generate")
      }
    }
  }

  /// Returns false where a model has an error. Files of earlier runs that are results no longer are named; they stay.
  func run() throws -> Bool {
    let left = try PortManifest.leftOut(in: root) + compiled + [output, root.appending(path: PortManifest.placeholder)]
    let contents = FolderContents(root, without: Set(left.map(\.standardizedFileURL.path)))
    let inputs = contents.models + contents.sources
    guard !inputs.isEmpty else { return true }
    let task = try BuildTask(["--module", module, "--root", root.path, "--output", output.path] + inputs.map(\.path))
    guard try task.run() else { return false }
    let names = Set(task.names)
    print("\(module): wrote \(names.count) files into \(output.path)")
    for item in try FileManager.default.contentsOfDirectory(atPath: output.path).sorted() where !names.contains(item) {
      print("\(output.appending(path: item).path) is no result; remove it if an earlier run wrote it")
    }
    return true
  }
}
