import CoreData

class Leaf: NSManagedObject {
  @NSManaged var name: String?
  @NSManaged var trunk: Trunk?
  func key() -> String { #keyPath(nmae) }  // error: has no member 'nmae'
}

final class Trunk: NSManagedObject {
  @NSManaged var height: Double
  @NSManaged var leaves: Set<Leaf>
}

let misspelt = #keyPath(Leaf.nmae)  // error: has no member 'nmae'
let misspeltBehind = #keyPath(Leaf.trunk.hieght)  // error: has no member 'hieght'
let misspeltBehindSet = #keyPath(Trunk.leaves.nmae)  // error: has no member 'nmae'
let ofNoClass = #keyPath(Laef.name)  // error: cannot find 'Laef' in scope
let onItsLine =
  #keyPath(
    Leaf.color  // error: has no member 'color'
  )
let text = "name is \(#keyPath(Leaf.colour))"  // error: has no member 'colour'
let predicate = NSPredicate(
  format: "%K == %@",
  #keyPath(Leaf.size), "large")  // error: has no member 'size'
let withoutType = #keyPath(name)  // finding: the type of this #keyPath is not stated
