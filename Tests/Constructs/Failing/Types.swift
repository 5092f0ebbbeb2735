import AppKit
import CoreData; import SwiftUI

final class Parcel: NSManagedObject {
  @NSManaged var label: String?
  @NSManaged
  private
    var weight: Int16
  @NSManaged var items: Set<Parcel>
  @objc(addItemsObject:) @NSManaged func addToItems(_ value: Parcel)
  @NSManaged public private(set) var number: Int32
}

func fill(_ parcel: Parcel) {
  parcel.label = 3  // error: cannot assign value of type 'Int'
  parcel.weight = 2  // error: 'weight' is inaccessible
  parcel.items = [1]  // error: cannot convert value of type 'Int'
  parcel.addToItems("a")  // error: cannot convert value of type 'String'
  let number: Int64 = parcel.number  // error: cannot convert value of type 'Int32'
  print(number)
}
