import CoreData
import StepRecorder

// Records how a cold fault, a fetch and a save come to SQLite. The arguments are the store's file and the file of the
// record.

let store = URL(fileURLWithPath: CommandLine.arguments[1])
let output = CommandLine.arguments[2]

let name = NSAttributeDescription()
name.name = "name"
name.attributeType = .stringAttributeType
let person = NSEntityDescription()
person.name = "Person"
person.properties = [name]
let model = NSManagedObjectModel()
model.entities = [person]

func makeContext() throws -> NSManagedObjectContext {
  let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
  _ = try coordinator.addPersistentStore(ofType: NSSQLiteStoreType, configurationName: nil, at: store, options: nil)
  let context = NSManagedObjectContext(concurrencyType: .mainQueueConcurrencyType)
  context.persistentStoreCoordinator = coordinator
  return context
}

func record(_ operation: String, _ body: () throws -> Void) rethrows {
  record_steps(operation, output)
  defer { record_nothing() }
  try body()
}

let writing = try makeContext()
let people = (0..<10).map { number in
  let object = NSEntityDescription.insertNewObject(forEntityName: "Person", into: writing)
  object.setValue("\(number)", forKey: "name")
  return object
}
try record("save") { try writing.save() }

// Another coordinator has no rows yet.
let reading = try makeContext()
let uri = people[0].objectID.uriRepresentation()
guard let known = reading.persistentStoreCoordinator?.managedObjectID(forURIRepresentation: uri) else {
  FileHandle.standardError.write(Data("Recorder: another coordinator does not know the ID of the saved object\n".utf8))
  exit(1)
}
let object = reading.object(with: known)
record("fault") { _ = object.value(forKey: "name") }
let request = NSFetchRequest<NSManagedObject>(entityName: "Person")
request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
try record("fetch") { _ = try reading.fetch(request) }
