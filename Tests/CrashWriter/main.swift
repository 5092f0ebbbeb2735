import CoreData
import Foundation
import LMDBStore

// Saves transactions into the store at the given path. Before each save it prints "begin T", after it "saved T". Every
// transaction changes rows of all kinds together, so that a torn one can be told: a counter, new rows that carry its
// number, a transfer that keeps a sum, link pairs, a deletion.
//
// Without more it goes on until it is killed, for Scripts/crash. With a number of transactions it is the program of
// Scripts/fault; see FaultRun. With "check" it says what is in the store; see StoreFacts. With --hostile instead of a
// path it takes steps for Scripts/hostile_saves; see HostileSaver. The store's type is OPENCOREDATA_STORE_TYPE, SQLite
// without it.

let arguments = CommandLine.arguments.dropFirst()
guard let path = arguments.first,
  arguments.count == 1 || arguments.contains("check") || arguments.dropFirst().first.flatMap(Int64.init) != nil
else {
  FileHandle.standardError.write(
    Data("usage: crash-writer STORE [check | TRANSACTIONS [rollback] [stop]] | --hostile\n".utf8))
  exit(2)
}
#if LMDB
  LMDBStore.register()
#endif
let storeType = NSPersistentStore.StoreType(
  rawValue: ProcessInfo.processInfo.environment["OPENCOREDATA_STORE_TYPE"] ?? NSSQLiteStoreType)

func say(_ text: String) { FileHandle.standardOutput.write(Data((text + "\n").utf8)) }

if path == "--hostile" {
  HostileSaver(storeType).run()
  exit(0)
}

if arguments.contains("check") {
  say(try StoreFacts(URL(filePath: path), storeType).text)
  exit(0)
}

if let count = arguments.dropFirst().first.flatMap(Int64.init) {
  let run = FaultRun(
    url: URL(filePath: path), type: storeType, count: count, isLogged: !arguments.contains("rollback"),
    stops: arguments.contains("stop")
  )
  run.run()
  exit(0)
}

let coordinator = NSPersistentStoreCoordinator(managedObjectModel: CrashModel.model())
try coordinator.addPersistentStore(type: storeType, at: URL(filePath: path))
let context = NSManagedObjectContext(.privateQueue)
context.persistentStoreCoordinator = coordinator
try context.performAndWait {
  let accounts = try CrashModel.accounts(in: context)
  var transaction = accounts[0].value(forKey: "transaction") as? Int64 ?? 0
  while true {
    transaction += 1
    try CrashModel.change(accounts, transaction, in: context)
    say("begin \(transaction)")
    try context.save()
    say("saved \(transaction)")
  }
}
