import CoreData
import UIKit

// The model had a property `grade`, and this is what is left of it.

@objc(Pupil)
public class Pupil: NSManagedObject {
  @NSManaged public var name: String?
}

extension Pupil {
  static let byGrade = NSSortDescriptor(key: #keyPath(Pupil.grade), ascending: true)  // error: no member 'grade'
  var isGood: Bool { grade > 4 }  // error: cannot find 'grade' in scope
}
