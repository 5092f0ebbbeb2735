import Foundation
import StoreSchema
import StoreSupport

/// Derived attributes whose sources are in the object itself. The store computes those over relationships, by triggers.
extension ContextCore {
  /// Computes the derived attributes of an object that is about to be saved. Returns whether one has another value than
  /// the object's row.
  func derive(_ object: NSManagedObject, at time: Double) -> Bool {
    var isChanged = false
    for attribute in object.info.ownDerivations {
      let value: Value?
      switch attribute.derivation {
      case .now: value = attribute.type == .date ? .date(time) : nil
      case .keyPath(let keys) where keys.count == 1: value = source(keys[0], of: object, for: attribute)
      case .function(let name, let keys) where keys.count == 1:
        value = source(keys[0], of: object, for: attribute).flatMap { Self.apply(name, $0) }
      default: value = nil
      }
      guard let value else { continue }
      let slot = attribute.slot
      isChanged = isChanged || object.row?.value(slot, object.info.entity.slots[slot]) != value
      object.setOverlay(value, slot)
    }
    return isChanged
  }

  /// The value of a source as one of the derived attribute's type. Nil where no value of the source's type can be one.
  private func source(_ name: String, of object: NSManagedObject, for derived: Attribute) -> Value? {
    guard case .attribute(let index)? = object.info.keys[name] else { return nil }
    let (slots, slot) = (object.info.entity.slots, object.info.attributes[index].attribute.slot)
    let (source, target, value) = (slots[slot], slots[derived.slot], object.stored(slot))
    if source == target || value.isNull { return value }
    if case .uri(let text) = value, target == .string { return .string(text) }
    return DerivedValue.converts(source, to: target) ? DerivedValue.convert(value, to: target) : nil
  }

  private static func apply(_ function: String, _ value: Value) -> Value? {
    guard case .string(let text) = value else { return value }
    switch function {
    // Without case and diacritics, as Apple's documentation of `canonical:` says.
    case "canonical:":
      return .string(text.folding(options: [.caseInsensitive, .diacriticInsensitive], locale: nil))
    case "uppercase:": return .string(text.uppercased())
    case "lowercase:": return .string(text.lowercased())
    default: return nil
    }
  }
}
