#if LMDB
  import Foundation
  import LMDBBackend
  import StoreProtocol
  import StoreSchema
  import Testing

  /// Several processes that use one file.
  @Suite struct LMDBProcessTests {
    private let url: URL
    private let schema: Schema

    init() throws {
      let folder = FileManager.default.temporaryDirectory.appending(path: "lmdb-processes-\(UUID())")
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      url = folder.appending(path: "store")
      var entity = EntityDefinition(name: "Item")
      entity.attributes = [AttributeDefinition(name: "text", type: .string)]
      schema = try Schema([entity])
    }

    private func open() throws -> any Store {
      try LMDBBackend().open(at: url, schema: schema, options: StoreOptions())
    }

    /// Starts the program that is built beside the test program.
    private func start(_ arguments: [String]) throws -> (process: Process, output: FileHandle) {
      let process = Process()
      let folder = URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent()
      process.executableURL = folder.appending(path: "lmdb-process")
      process.arguments = [arguments[0], url.path] + arguments.dropFirst()
      let pipe = Pipe()
      process.standardOutput = pipe
      try process.run()
      return (process, pipe.fileHandleForReading)
    }

    private func keys(_ store: any Store) throws -> [Int64] {
      var keys: [Int64] = []
      try store.snapshot().scan(0..<1) { keys.append($0.key) }
      return keys
    }

    private func update(_ store: any Store, _ key: Int64) throws {
      guard let row = try store.snapshot().row(of: 0, key: key) else { return }
      var changes = ChangeSet(time: 0)
      changes.updates = [.init(row: row.draft(version: row.version + 1), changed: SlotSet())]
      guard case .committed = try store.commit(changes) else { throw StoreError(.constraint, "a conflict") }
    }

    @Test func severalProcessesWriteAtOnce() throws {
      defer { try? FileManager.default.removeItem(at: url.deletingLastPathComponent()) }
      // The processes also create the store at the same time.
      let children = try (0..<3).map { _ in try start(["insert", "60"]) }
      let store = try open()
      var seen = 0
      while seen < 180 {
        let now = try keys(store).count
        #expect(now >= seen)
        seen = now
        if !children.contains(where: \.process.isRunning) { break }
      }
      var given: [Int64] = []
      for (process, output) in children {
        given += String(decoding: output.readDataToEndOfFile(), as: UTF8.self).split(separator: "\n").compactMap {
          Int64($0)
        }
        process.waitUntilExit()
        #expect(process.terminationStatus == 0)
      }
      #expect(given.count == 180 && Set(given).count == 180)
      #expect(try keys(store) == given.sorted())
    }

    @Test func aKilledWriterHoldsNobodyUp() throws {
      defer { try? FileManager.default.removeItem(at: url.deletingLastPathComponent()) }
      let store = try open()
      var said = 0
      for round in 0..<12 {
        let (process, output) = try start(["insert", "100000"])
        var lines = output.availableData.filter { $0 == 10 }.count
        usleep(UInt32(round * 3000))
        kill(process.processIdentifier, SIGKILL)
        lines += output.readDataToEndOfFile().filter { $0 == 10 }.count
        process.waitUntilExit()
        said += lines
        let before = Date()
        _ = try store.allocateKeys(root: 0, count: 1)
        // If the lock were still held, this would wait until the store's timeout of 30 s.
        #expect(Date().timeIntervalSince(before) < 20)
        let there = try keys(store).count
        // The last commit may be in the file although its line was not printed.
        #expect(there >= said && there <= said + round + 1)
      }
    }

    @Test func aChildProcessGetsAnError() throws {
      defer { try? FileManager.default.removeItem(at: url.deletingLastPathComponent()) }
      let (process, output) = try start(["fork"])
      #expect(String(decoding: output.readDataToEndOfFile(), as: UTF8.self) == "closed\nparent writes\n")
      process.waitUntilExit()
    }

    @Test func aFileThatMayNotGrowLosesNothing() throws {
      defer { try? FileManager.default.removeItem(at: url.deletingLastPathComponent()) }
      let (process, output) = try start(["limit"])
      #expect(String(decoding: output.readDataToEndOfFile(), as: UTF8.self) == "full notSaved\nwhole\n")
      process.waitUntilExit()
      #expect(process.terminationReason == .exit)
      #expect(try !keys(try open()).isEmpty)
    }

    @Test func killedReadersLetTheFileBe() throws {
      defer { try? FileManager.default.removeItem(at: url.deletingLastPathComponent()) }
      let store = try open()
      let (writer, output) = try start(["insert", "50"])
      _ = output.readDataToEndOfFile()
      writer.waitUntilExit()
      for _ in 0..<3 {
        let (process, output) = try start(["view"])
        #expect(!output.availableData.isEmpty)
        kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
      }
      for _ in 0..<130 { try update(store, 1) }
      let finished = try FileManager.default.attributesOfItem(atPath: url.path)[.size] as? Int ?? 0
      for _ in 0..<200 { try update(store, 1) }
      let now = try FileManager.default.attributesOfItem(atPath: url.path)[.size] as? Int ?? 0
      #expect(now <= finished + 65_536 && finished > 0)
    }
  }
#endif
