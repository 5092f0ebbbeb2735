import CoreData
import QueueWorld

// Uses a private context outside of its blocks three times, which is an error. The argument
// -com.apple.CoreData.ConcurrencyDebug decides what happens.

let context = ContendedContext().container.newBackgroundContext()
for _ in 0..<3 { _ = NSEntityDescription.insertNewObject(forEntityName: "Item", into: context) }
print("wrong queue: went on")
