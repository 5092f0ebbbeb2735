import CoreData
import QueueWorld

// Uses a private context outside of its blocks, which is wrong: three times. What becomes of it is what
// -com.apple.CoreData.ConcurrencyDebug in the arguments says.

let context = ContendedContext().container.newBackgroundContext()
for _ in 0..<3 { _ = NSEntityDescription.insertNewObject(forEntityName: "Item", into: context) }
print("wrong queue: went on")
