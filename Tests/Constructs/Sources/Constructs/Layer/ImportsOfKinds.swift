import struct Foundation.Date
import class CoreData.NSManagedObject
@preconcurrency import class Foundation.NSLock
import enum Combine.Publishers

final class ImportedByKind: NSManagedObject {
  @NSManaged var text: String?
  let created = Date()
}
