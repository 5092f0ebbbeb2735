import CoreData.NSManagedObject
import Foundation.NSDate

final class ImportedBySubmodule: NSManagedObject {
  @NSManaged var text: String?
  let created = NSDate()
}
