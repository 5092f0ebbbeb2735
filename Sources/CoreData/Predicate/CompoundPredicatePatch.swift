import Foundation
import RuntimeAccess
import StoreQuery

/// Replaces methods of Foundation's `NSCompoundPredicate` and `NSPredicate`. Compounds then print themselves, compare
/// themselves, and can be evaluated at any depth. Predicates that are a constant or a block compare themselves.
///
/// Off Apple's platforms every compound prints as FALSEPREDICATE and is equal to every other. Clients make compounds by
/// Foundation's initialisers. A class of the same name here would make the name ambiguous. So the methods are written
/// into the class's table of virtual functions; see ``VirtualTable``.
enum CompoundPredicatePatch {
  static func apply() { _ = once }

  private static let once: Void = {
    VirtualTable.patch(NSCompoundPredicate.self, plain: (Plain.self, PlainToo.self), donor: Printing.self)
    VirtualTable.patch(NSPredicate.self, plain: (Simple.self, SimpleToo.self), donor: Comparing.self)
  }()

  private final class Simple: NSPredicate {}
  private final class SimpleToo: NSPredicate {}

  /// Foundation's methods treat compounds as constants and give equal predicates different hashes.
  private final class Comparing: NSPredicate {
    override var hash: Int { PredicateTree.of(self)?.hashValue ?? ObjectIdentifier(self).hashValue }
    override func isEqual(_ object: Any?) -> Bool {
      guard let other = object as? NSPredicate else { return false }
      if other === self { return true }
      return PredicateTree.of(self).map { $0 == PredicateTree.of(other) } ?? false
    }
  }

  private final class Plain: NSCompoundPredicate {}
  private final class PlainToo: NSCompoundPredicate {}

  /// It has no stored properties, because its methods run on objects of Foundation's class.
  private final class Printing: NSCompoundPredicate {
    override func evaluate(with object: Any?) -> Bool { evaluate(with: object, substitutionVariables: nil) }
    override func evaluate(with object: Any?, substitutionVariables bindings: [String: Any]?) -> Bool {
      PredicateTree.evaluate(self, object, bindings)
    }
    override var predicateFormat: String { Self.format(of: self) }
    override var description: String { Self.format(of: self) }
    /// The hash of ``CompoundTreePredicate``, whose objects may be equal to this one.
    override var hash: Int {
      PredicateTree.of(self)?.hashValue ?? compoundPredicateType.hashValue &* 31 &+ subpredicates.count
    }
    override func isEqual(_ object: Any?) -> Bool { Self.areEqual(self, object) }

    private static func format(of compound: NSCompoundPredicate) -> String {
      if let tree = PredicateTree.of(compound) { return tree.format }
      if PredicateTree.isTooDeep(compound) { return TreeHeight.excuse }
      let parts = compound.subpredicates.map { part in
        part is NSCompoundPredicate ? "(\(part.predicateFormat))" : part.predicateFormat
      }
      switch compound.compoundPredicateType {
      case .not: return "NOT " + (parts.first ?? "")
      case .or: return parts.joined(separator: " OR ")
      default: return parts.joined(separator: " AND ")
      }
    }

    private static func areEqual(_ compound: NSCompoundPredicate, _ object: Any?) -> Bool {
      guard let other = object as? NSPredicate else { return false }
      if other === compound { return true }
      if let tree = PredicateTree.of(compound) { return PredicateTree.of(other) == tree }
      guard let other = other as? NSCompoundPredicate, !PredicateTree.isTooDeep(compound),
        !PredicateTree.isTooDeep(other)
      else { return false }
      return compound.compoundPredicateType == other.compoundPredicateType
        && compound.subpredicates == other.subpredicates
    }
  }
}
