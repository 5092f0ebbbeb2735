import CoreData
import QueueWorld

// Uses a private context outside of its blocks three times, which is an error; the first argument says how. The
// argument -com.apple.CoreData.ConcurrencyDebug decides what happens.

let context = ContendedContext().container.newBackgroundContext()
let item = context.performAndWait {
  let item = NSEntityDescription.insertNewObject(forEntityName: "Item", into: context)
  item.setValue(1, forKey: "number")
  return item
}
for number in 0..<3 {
  switch CommandLine.arguments.dropFirst().first {
  case "read": _ = item.value(forKey: "number")
  case "change": item.setValue(number, forKey: "number")
  case "list": _ = context.insertedObjects
  default: _ = NSEntityDescription.insertNewObject(forEntityName: "Item", into: context)
  }
}
print("wrong queue: went on")
