import Foundation
import StoreSchema

/// The entities of a context's model.
extension ContextCore {
  static func info(of entity: NSEntityDescription, _ context: NSManagedObjectContext?) -> EntityInfo {
    let known = entity.frozen
    if let own = context?.core.frozen {
      if let known, known.modelNumber == own.number { return known }
      // The context may use a copy of the model; then its own entity with that name counts.
      if let name = entity.name, let found = own.schema.entity(named: name) { return own.infos[found.index] }
    }
    if let known { return known }
    do {
      _ = try entity.managedObjectModel.freeze()
    } catch { misuse("\(error)") }
    guard let info = entity.frozen else { misuse("The entity \(entity.name ?? "?") is not in its model.") }
    return info
  }

  /// The entity whose class `type` is.
  func entity(of type: NSManagedObject.Type) -> EntityInfo {
    // Objects of one class are mostly inserted one after another.
    if let last = lastInfo, last.objectClass == type { return last }
    if let known = infosByClass[ObjectIdentifier(type)] {
      lastInfo = known.objectClass == type ? known : nil
      return known
    }
    let found = frozen?.infos.filter { $0.objectClass == type } ?? []
    // Sub-entities may share the class of their parent; the class then stands for the parent.
    guard let info = found.first, found.allSatisfy({ info.entity.subtree.contains($0.entity.index) }) else {
      misuse(
        "\(found.isEmpty ? "No entity has" : "\(found.count) entities have") the class \(type); name it in managedObjectClassName, or insert by entity."
      )
    }
    // Replaced as a whole, so that reads need no exclusivity checks: see decision 075.
    var known = infosByClass
    known[ObjectIdentifier(type)] = info
    infosByClass = known
    return info
  }
}
