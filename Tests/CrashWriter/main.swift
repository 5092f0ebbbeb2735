import CoreData
import Foundation
import LMDBStore

// Saves transactions into the store at the given path. Prints "begin T" before each save and "saved T" after it. Every
// transaction changes rows of all kinds together, so that a partly written one can be recognised: a counter, new rows
// with the transaction's number, a transfer that keeps a sum, pairs of links, a deletion.
//
// With a path alone the program runs until it is killed, for Scripts/crash. Other arguments select another mode:
//
// - A number of transactions: the program of Scripts/fault; see FaultRun.
// - "check": prints the contents of the store; see StoreReport.
// - --hostile instead of a path: runs steps for Scripts/hostile_saves; see HostileSaver.
//
// OPENCOREDATA_STORE_TYPE names the store's type. The default is SQLite.

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
  say(try StoreReport(URL(filePath: path), storeType).text)
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
