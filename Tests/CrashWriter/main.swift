import CoreData
import Foundation

// Saves one transaction after another into the store at the given path until it is killed. Before each save it prints
// "begin T", after it "saved T". Every transaction changes rows of all kinds together, so that Scripts/crash can tell a
// torn one: a counter, new rows that carry its number, a transfer that keeps a sum, link pairs, a deletion.

guard CommandLine.arguments.count == 2 else {
  FileHandle.standardError.write(Data("usage: crash-writer STORE.sqlite\n".utf8))
  exit(2)
}

func say(_ text: String) { FileHandle.standardOutput.write(Data((text + "\n").utf8)) }

let coordinator = NSPersistentStoreCoordinator(managedObjectModel: CrashModel.model())
try coordinator.addPersistentStore(type: .sqlite, at: URL(filePath: CommandLine.arguments[1]))
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
