import CoreData
import Foundation
import Testing

/// SQLite stores at `/dev/null`: their files are in the temporary folder, and nowhere when nobody uses them.
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

  @Test func whatNobodyClosesIsRemovedWhenTheProgramEnds() async {
    await #expect(processExitsWith: .success) {
      try Traceless.useOwnFolder()
      // What is registered first runs last.
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
