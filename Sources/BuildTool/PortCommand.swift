import Foundation
import Porting

/// `port (--library FOLDER | --repository URL VERSION REVISION) [--apply] PATH`: reports what a port of a package, a
/// folder or a project of Xcode takes, and writes it. The options before `--apply` are where OpenCoreData is.
struct PortCommand {
  private var library = PortLibrary.folder(URL(fileURLWithPath: "."))
  private var path: URL?
  private var applies = false

  init(_ arguments: ArraySlice<String>) throws {
    var rest = arguments
    while let word = rest.popFirst() {
      switch word {
      case "--apply": applies = true
      case "--library":
        guard let value = rest.popFirst() else { throw PortError("--library needs the folder of OpenCoreData") }
        library = .folder(URL(fileURLWithPath: value))
      case "--repository":
        guard let url = rest.popFirst(), let version = rest.popFirst(), let revision = rest.popFirst() else {
          throw PortError("--repository needs the URL of OpenCoreData, a version and a revision")
        }
        library = .repository(url: url, version: version, revision: revision)
      case _ where word.hasPrefix("-"):
        throw PortError("\(word) is no option; write: swift package port [--apply] [PATH]")
      default:
        guard path == nil else { throw PortError("one path is ported at a time") }
        path = URL(fileURLWithPath: word)
      }
    }
  }

  /// Prints the report, and with `--apply` writes the files.
  func run() throws {
    let port = try make((path ?? URL(fileURLWithPath: ".")).standardizedFileURL)
    print(port.report)
    print("")
    if applies {
      try port.apply()
      for file in port.files { print("wrote \(file.url.path)") }
      print("Now run: swift build")
    } else {
      for file in port.files { print("would write \(file.url.path)") }
      print("Nothing has been written. Run the command again with --apply, and then: swift build")
    }
  }

  private func make(_ url: URL) throws -> ProjectPort {
    guard FileManager.default.fileExists(atPath: url.path) else { throw PortError("there is no \(url.path)") }
    if url.pathExtension == "xcodeproj" { return try project(url) }
    let items = (try? FileManager.default.contentsOfDirectory(at: url, includingPropertiesForKeys: nil)) ?? []
    if let other = items.first(where: { $0.lastPathComponent.hasPrefix("Package@swift") }) {
      throw PortError("\(other.path) is the manifest of some versions of Swift; a port changes Package.swift only")
    }
    if FileManager.default.fileExists(atPath: url.appending(path: "Package.swift").path) {
      let targets = try PackageTargets.targets(
        described: ask(url, "describe", "--type", "json"), dumped: ask(url, "dump-package"))
      return try ProjectPort(name: "", folder: url, targets: targets, library: library)
    }
    let projects = items.filter { $0.pathExtension == "xcodeproj" }
    if projects.count > 1 {
      throw PortError("\(url.path) has several projects; name one of \(projects.map(\.lastPathComponent).sorted())")
    }
    if let first = projects.first { return try project(first) }
    let target = PackageTargets.folder(url)
    return try ProjectPort(name: target.name, folder: url, targets: [target], library: library)
  }

  private func project(_ url: URL) throws -> ProjectPort {
    let project = try XcodeProject(url)
    let name = url.deletingPathExtension().lastPathComponent
    return try ProjectPort(name: name, folder: project.folder, targets: project.targets(), library: library)
  }

  /// What Swift's package manager says of a package. Its lock is that of a build folder, so it gets one of its own.
  private func ask(_ package: URL, _ words: String...) throws -> Data {
    let scratch = FileManager.default.temporaryDirectory.appending(path: "port-\(UUID())")
    defer { try? FileManager.default.removeItem(at: scratch) }
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments =
      ["swift", "package", "--package-path", package.path, "--scratch-path", scratch.path] + words
    let pipe = Pipe()
    process.standardOutput = pipe
    try process.run()
    let data = pipe.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    guard process.terminationStatus == 0 else {
      throw PortError("swift package \(words[0]) fails for \(package.path), see above")
    }
    return data
  }
}
