import Foundation

/// Teaches Foundation's `NSSortDescriptor` to compare and describe itself by its key, as it does on Apple's platforms.
enum SortDescriptorPatch {
  static func apply() { _ = once }

  private static let once: Void = VirtualTable.patch(
    NSSortDescriptor.self, plain: (Plain.self, PlainToo.self), donor: Comparing.self)

  private final class Plain: NSSortDescriptor {}
  private final class PlainToo: NSSortDescriptor {}

  private final class Comparing: NSSortDescriptor {
    override func isEqual(_ object: Any?) -> Bool {
      guard let other = object as? NSSortDescriptor else { return false }
      if other === self { return true }
      guard let key, key == other.key, !comparesByBlock, !other.comparesByBlock else { return false }
      return ascending == other.ascending
    }
    override var hash: Int { (key?.hashValue ?? 0) &* 2 &+ (ascending ? 1 : 0) }
    override var description: String { "(\(key ?? "?"), \(ascending ? "ascending" : "descending"))" }
  }
}
