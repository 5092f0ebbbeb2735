import CoreData
import Foundation
import TestSupport
import Testing

/// SQLite stores at `/dev/null`: their files are in the temporary folder, and are removed when they are no longer used.
struct TracelessStoreTests {
  @Test func whatIsLetGoOfIsRemovedAtOnce() async {
    await #expect(processExitsWith: .success) {
      try Traceless.useOwnFolder()
      var coordinator: NSPersistentStoreCoordinator? = NSPersistentStoreCoordinator(managedObjectModel: Company.model())
      try coordinator?.addPersistentStore(type: .sqlite, at: URL(filePath: "/dev/null"))
      precondition(Traceless.files == 1)
      coordinator = nil
      precondition(Traceless.files == 0)
    }
  }

  /// Whichever program opens a store next, at any URL.
  @Test func whatAHundredKilledProgramsLeaveIsRemovedByTheNextStart() throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "killed-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
    defer { try? FileManager.default.removeItem(at: folder) }
    func count() throws -> Int {
      try FileManager.default.contentsOfDirectory(atPath: folder.path).count { $0.hasPrefix("OpenCoreData-") }
    }
    // A folder with another name, and a link with a name like those of this library's folders, belong to other
    // programs.
    let others = ["OpenCoreData-mine", "CoreData-\(UUID().uuidString)"]
    for name in others {
      try FileManager.default.createDirectory(at: folder.appending(path: name), withIntermediateDirectories: false)
    }
    let link = folder.appending(path: "OpenCoreData-\(UUID().uuidString)")
    try FileManager.default.createSymbolicLink(at: link, withDestinationURL: folder.appending(path: others[0]))
    let writer = ToolRun.executable.deletingLastPathComponent().appending(path: "crash-writer")
    var killed = 0
    while killed < 100 {
      var running: [(process: Process, output: FileHandle)] = []
      for _ in 0..<10 {
        let (process, pipe) = (Process(), Pipe())
        (process.executableURL, process.arguments) = (writer, ["/dev/null"])
        process.environment = ProcessInfo.processInfo.environment.merging(["TMPDIR": folder.path]) { $1 }
        process.standardOutput = pipe
        try ToolRun.launch(process)
        running.append((process, pipe.fileHandleForReading))
      }
      for (_, output) in running { #expect(try output.read(upToCount: 5) == Data("begin".utf8)) }
      #expect(try count() >= running.count)
      for (process, _) in running {
        kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
        killed += 1
      }
    }
    #expect(try count() >= 12)
    let url = folder.appending(path: "store.sqlite")
    let run = try ToolRun([url.path, "1"], environment: ["TMPDIR": folder.path], program: writer)
    #expect(run.status == 0, "\(run.errors)")
    #expect(
      try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
        == (others + [link.lastPathComponent, "store.sqlite"]).sorted())
  }

  @Test func whatNobodyClosesIsRemovedWhenTheProgramEnds() async {
    await #expect(processExitsWith: .success) {
      try Traceless.useOwnFolder()
      // The function that is registered first runs last.
      atexit { if Traceless.files != 0 { _exit(EXIT_FAILURE) } }
      let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Company.model())
      try coordinator.addPersistentStore(type: .sqlite, at: URL(filePath: "/dev/null"))
      precondition(Traceless.files == 1)
      _ = Unmanaged.passRetained(coordinator)
    }
  }
}

private enum Traceless {
  nonisolated(unsafe) static var folder = ""

  static func useOwnFolder() throws {
    folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString).path
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
    setenv("TMPDIR", folder, 1)
    atexit { _ = try? FileManager.default.removeItem(atPath: Traceless.folder) }
  }

  static var files: Int { (try? FileManager.default.contentsOfDirectory(atPath: folder).count) ?? -1 }
}
