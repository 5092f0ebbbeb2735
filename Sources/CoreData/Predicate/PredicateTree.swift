import Foundation
import StoreQuery

/// Converts between predicate objects and syntax trees.
enum PredicateTree {
  /// The predicate object for a tree. It has the class that clients expect: `NSComparisonPredicate` for comparisons,
  /// `NSCompoundPredicate` for compounds.
  static func predicate(_ tree: StoreQuery.Predicate, _ permission: EvaluationPermission? = nil) -> NSPredicate {
    switch tree {
    case .value, .variable: SyntaxPredicate(tree, permission)
    case .comparison(let comparison): ComparisonTreePredicate.make(comparison, nil, permission)
    case .and(let parts): CompoundTreePredicate(.and, parts, tree, permission)
    case .or(let parts): CompoundTreePredicate(.or, parts, tree, permission)
    case .not(let part): CompoundTreePredicate(.not, [part], tree, permission)
    }
  }

  /// The tree of a predicate. Nil if the predicate is a block, or if it is too deep even after chains of compounds were
  /// flattened.
  static func of(_ predicate: NSPredicate) -> StoreQuery.Predicate? {
    guard isTooDeep(predicate) else { return plain(predicate) }
    let flat = flattened(predicate)
    return isTooDeep(flat) ? nil : plain(flat)
  }

  private static func plain(_ predicate: NSPredicate) -> StoreQuery.Predicate? {
    switch predicate {
    case let predicate as CompoundTreePredicate: return predicate.tree
    case let predicate as ComparisonTreePredicate: return predicate.tree
    case let predicate as SyntaxPredicate: return predicate.tree
    case let predicate as NSCompoundPredicate: return compound(predicate)
    default: return constant(predicate)
    }
  }

  /// Splits a predicate for a fetch into a tree for the stores and a predicate for the objects that they give. The
  /// second has the blocks and the parts with a key in `names`. Conjunctions within conjunctions, and disjunctions
  /// within disjunctions, become one compound. Throws for a predicate that is too deep.
  static func forFetch(_ predicate: NSPredicate, ofObjects names: Set<String> = []) throws(ResolutionError) -> (
    tree: StoreQuery.Predicate, block: NSPredicate?
  ) {
    if predicate.isDenied {
      throw ResolutionError(message: "The predicate \(EvaluationPermission.excuse)", isUnsupported: false)
    }
    let flat = flattened(predicate)
    let limit = TreeHeight.limit
    func tooDeep() -> ResolutionError {
      ResolutionError(message: "The predicate is nested deeper than \(limit) levels.", isUnsupported: true)
    }
    if isTooDeep(flat) { throw tooDeep() }
    let parts =
      (flat as? NSCompoundPredicate).map { $0.compoundPredicateType == .and ? $0.subpredicates : [flat] } ?? [flat]
    var (trees, blocks) = ([StoreQuery.Predicate](), [NSPredicate]())
    for part in parts {
      guard let tree = plain(part) else {
        blocks.append(part)
        continue
      }
      if TreeHeight.isExceeded(by: tree) { throw tooDeep() }
      var walk = PredicateWalk(tree)
      if walk.reaches(names) { blocks.append(part) } else { trees.append(tree) }
    }
    let block = blocks.count > 1 ? NSCompoundPredicate(andPredicateWithSubpredicates: blocks) : blocks.first
    return (trees.count == 1 ? trees[0] : .and(trees), block)
  }

  private static func flattened(_ predicate: NSPredicate) -> NSPredicate {
    guard let compound = predicate as? NSCompoundPredicate, compound.compoundPredicateType != .not else {
      return predicate
    }
    let type = compound.compoundPredicateType
    var (parts, pending) = ([NSPredicate](), Array(compound.subpredicates.reversed()))
    while let part = pending.popLast() {
      if let inner = part as? NSCompoundPredicate, inner.compoundPredicateType == type {
        pending += inner.subpredicates.reversed()
      } else {
        parts.append(part)
      }
    }
    return NSCompoundPredicate(type: type, subpredicates: parts)
  }

  static func isTooDeep(_ predicate: NSPredicate) -> Bool {
    var pending = [(predicate: predicate, depth: 1)]
    while let (next, depth) = pending.popLast() {
      if depth > TreeHeight.limit || (next as? ComparisonTreePredicate)?.isTooDeep ?? false { return true }
      guard let compound = next as? NSCompoundPredicate else { continue }
      for part in compound.subpredicates { pending.append((part, depth + 1)) }
    }
    return false
  }

  private static func compound(_ compound: NSCompoundPredicate) -> StoreQuery.Predicate? {
    var parts: [StoreQuery.Predicate] = []
    for part in compound.subpredicates {
      guard let tree = plain(part) else { return nil }
      parts.append(tree)
    }
    switch compound.compoundPredicateType {
    case .and: return .and(parts)
    case .or: return .or(parts)
    case .not: return parts.first.map(StoreQuery.Predicate.not)
    @unknown default: return nil
    }
  }

  /// The constant of one of Foundation's own predicates, or nil for a block. Only the printed format tells them apart.
  private static func constant(_ predicate: NSPredicate) -> StoreQuery.Predicate? {
    switch predicate.predicateFormat {
    case "TRUEPREDICATE": .value(true)
    case "FALSEPREDICATE": .value(false)
    default: nil
    }
  }

  static func evaluate(_ predicate: some ProgrammedPredicate, _ object: Any?, _ bindings: [String: Any]?) -> Bool {
    if predicate.permission?.isGranted == false {
      misuse("The predicate \(predicate) \(EvaluationPermission.excuse)")
    }
    guard let bindings else { return predicate.program.evaluate(predicate.tree, object) }
    return ObjectProgram().evaluate(Substitution.bind(predicate.tree, bindings), object)
  }

  /// Evaluates a compound of Foundation's class. Variables that one part assigns have their values in the later parts.
  static func evaluate(_ compound: NSCompoundPredicate, _ object: Any?, _ bindings: [String: Any]?) -> Bool {
    func assigned() -> Set<String> { of(compound)?.assignedVariables ?? [] }
    let outer = bindings.map { Substitution.outer($0, assigned()) }
    var variables: ObjectSource.Variables = [:]
    return CompoundEvaluation.evaluate(compound) { part in
      guard let part = part as? any ProgrammedPredicate, !part.isTooDeep, part.permission?.isGranted ?? true else {
        return outer.map { part.evaluate(with: object, substitutionVariables: $0) } ?? part.evaluate(with: object)
      }
      guard let outer else { return part.program.evaluate(part.tree, object, &variables, elsewhere: assigned) }
      return ObjectProgram().evaluate(
        Substitution.replace(part.tree, outer), object, &variables, elsewhere: assigned)
    }
  }

  static func isEqual(_ tree: StoreQuery.Predicate, _ other: Any?) -> Bool {
    (other as? NSPredicate).flatMap(of) == tree
  }
}

/// A predicate with a syntax tree and the program that evaluates it.
protocol ProgrammedPredicate: NSPredicate {
  var tree: StoreQuery.Predicate { get }
  var program: ObjectProgram { get }
  /// Nil if the predicate was not decoded from an archive.
  var permission: EvaluationPermission? { get }
  /// Whether recursion over the tree could overflow the stack.
  var isTooDeep: Bool { get }
}

extension ProgrammedPredicate {
  var isTooDeep: Bool { false }
}

/// `TRUEPREDICATE`, `FALSEPREDICATE`, `$variable`, or the predicate that replaced the variable.
final class SyntaxPredicate: NSPredicate, ProgrammedPredicate {
  let tree: StoreQuery.Predicate
  let program = ObjectProgram()
  /// Nil if the predicate was not decoded from an archive.
  let permission: EvaluationPermission?

  init(_ tree: StoreQuery.Predicate, _ permission: EvaluationPermission? = nil) {
    (self.tree, self.permission) = (tree, permission)
    CompoundPredicatePatch.apply()
    // Foundation compares its own predicates by their constant. A predicate made with a block equals none of them.
    if case .value(let value) = tree { super.init(value: value) } else { super.init { _, _ in false } }
  }

  required init?(coder: NSCoder) { nil }

  override func copy(with zone: NSZone?) -> Any { self }
  override var classForCoder: AnyClass { NSPredicate.self }
  override func evaluate(with object: Any?) -> Bool { PredicateTree.evaluate(self, object, nil) }
  override func evaluate(with object: Any?, substitutionVariables bindings: [String: Any]?) -> Bool {
    PredicateTree.evaluate(self, object, bindings)
  }
  override var predicateFormat: String { tree.format }
  override var hash: Int { tree.hashValue }
  override func isEqual(_ object: Any?) -> Bool { PredicateTree.isEqual(tree, object) }
  override var description: String { tree.format }
}

/// A compound that was made from a syntax tree.
final class CompoundTreePredicate: NSCompoundPredicate, ProgrammedPredicate {
  let tree: StoreQuery.Predicate
  let program = ObjectProgram()
  /// Nil if the predicate was not decoded from an archive.
  let permission: EvaluationPermission?

  init(
    _ type: LogicalType, _ parts: [StoreQuery.Predicate], _ tree: StoreQuery.Predicate,
    _ permission: EvaluationPermission?
  ) {
    (self.tree, self.permission) = (tree, permission)
    CompoundPredicatePatch.apply()
    super.init(type: type, subpredicates: parts.map { PredicateTree.predicate($0, permission) })
  }

  required init?(coder: NSCoder) { nil }

  override func copy(with zone: NSZone?) -> Any { self }
  override var classForCoder: AnyClass { NSCompoundPredicate.self }
  override func evaluate(with object: Any?) -> Bool { PredicateTree.evaluate(self, object, nil) }
  override func evaluate(with object: Any?, substitutionVariables bindings: [String: Any]?) -> Bool {
    PredicateTree.evaluate(self, object, bindings)
  }
  override var predicateFormat: String { tree.format }
  override var hash: Int { tree.hashValue }
  override func isEqual(_ object: Any?) -> Bool { PredicateTree.isEqual(tree, object) }
  override var description: String { tree.format }
}
