import Foundation
import LMDBBackend
import StoreProtocol
import StoreSchema

#if LMDB
  /// The program of the tests with several processes. `insert URL N` makes N commits of one object. `view URL` holds a
  /// view until the process is killed. `limit URL` writes until the file reaches its size limit. `fork URL` uses in a
  /// child process what the parent has opened. The program prints one line for each step.
  func run(_ arguments: [String]) throws {
    var entity = EntityDefinition(name: "Item")
    entity.attributes = [AttributeDefinition(name: "text", type: .string)]
    let schema = try Schema([entity])
    let url = URL(fileURLWithPath: arguments[2])
    let store = try LMDBBackend().open(at: url, schema: schema, options: StoreOptions())
    func insert() throws -> Int64? {
      let builder = RowBuilder()
      builder.begin(slots: 1)
      builder.setString(0, String(repeating: "x", count: 300))
      var changes = ChangeSet(time: 0)
      changes.insertions = [builder.finishDraft(key: 0, entity: 0, version: 1)]
      guard case .committed(let receipt) = try store.commit(changes) else { return nil }
      return receipt.keys[0]
    }
    func say(_ text: String) { FileHandle.standardOutput.write(Data((text + "\n").utf8)) }
    switch arguments[1] {
    case "insert":
      for _ in 0..<(Int(arguments[3]) ?? 0) { say(try insert().map { "\($0)" } ?? "conflict") }
    case "view":
      let view = try store.snapshot()
      say("\(view.commitNumber)")
      while true { sleep(1) }
    case "limit":
      // No file may become much larger than this one is now.
      let size = (try FileManager.default.attributesOfItem(atPath: url.path)[.size] as? Int) ?? 0
      let file = __rlimit_resource_t(1)
      var limit = rlimit()
      getrlimit(file, &limit)
      limit.rlim_cur = rlim_t(size + 65_536)
      setrlimit(file, &limit)
      var count = 0
      do { while count < 10_000 { if try insert() != nil { count += 1 } } } catch {
        let failure = error as? StoreError
        say("\(failure?.code.description ?? "") \(failure.map { "\($0.outcome)" } ?? "")")
      }
      limit.rlim_cur = limit.rlim_max
      setrlimit(file, &limit)
      if try insert() != nil { count += 1 }
      var found = 0
      try store.snapshot().scan(0..<1) { _ in found += 1 }
      say(found == count ? "whole" : "\(found) of \(count)")
    case "fork":
      // Swift hides fork(), because a child process has only one thread; this program has only one anyway.
      typealias Fork = @convention(c) () -> pid_t
      guard let symbol = dlsym(nil, "fork") else { return say("no fork") }
      let child = unsafeBitCast(symbol, to: Fork.self)()
      if child == 0 {
        do {
          _ = try store.snapshot()
          say("a child reads")
        } catch { say(error.code.description) }
        _exit(0)
      }
      waitpid(child, nil, 0)
      _ = try store.allocateKeys(root: 0, count: 1)
      say("parent writes")
    default: say("unknown command")
    }
  }

  try run(CommandLine.arguments)
#endif
