import StoreSchema

/// Visits all parts of a resolved predicate.
struct ResolvedWalk {
  private enum Part {
    case predicate(ResolvedPredicate)
    case expression(ResolvedExpression)
    case collection(ResolvedCollection)
  }

  private var pending: [Part]
  private(set) var paths: [SlotPath] = []
  /// The sequences of relationships that are followed from the current object.
  private(set) var ways: [[Relationship]] = []
  /// All relationships that are followed, from any object.
  private(set) var relationships: [Relationship] = []
  /// Whether a part leads to other objects by a to-many relationship.
  private(set) var hasMembers = false

  init(_ predicate: ResolvedPredicate) { self.init(.predicate(predicate)) }

  init(_ expression: ResolvedExpression) { self.init(.expression(expression)) }

  private init(_ part: Part) {
    pending = [part]
    while let next = pending.popLast() {
      switch next {
      case .predicate(let predicate): add(predicate)
      case .expression(let expression): add(expression)
      case .collection(let collection): add(collection)
      }
    }
  }

  /// Whether it reads only the object's own values.
  var isOwn: Bool { !hasMembers && paths.allSatisfy(\.hops.isEmpty) }

  private mutating func add(_ predicate: ResolvedPredicate) {
    switch predicate {
    case .constant: break
    case .and(let parts), .or(let parts): for part in parts { pending.append(.predicate(part)) }
    case .not(let inner): pending.append(.predicate(inner))
    case .comparison(let left, _, let right, _), .dynamic(_, let left, let right): add([left, right])
    case .between(let value, let low, let high, _): add([value, low, high])
    case .member(let value, of: let collection, _):
      add([value])
      pending.append(.collection(collection))
    case .exists(let collection, variable: _, let inner):
      pending.append(.collection(collection))
      pending.append(.predicate(inner))
    }
  }

  private mutating func add(_ expressions: [ResolvedExpression]) {
    for expression in expressions { pending.append(.expression(expression)) }
  }

  private mutating func add(_ expression: ResolvedExpression) {
    switch expression {
    case .constant: break
    case .path(let path):
      paths.append(path)
      relationships += path.hops
      if path.variable == 0 && !path.hops.isEmpty { ways.append(path.hops) }
    case .function(_, let operands), .dynamic(_, let operands): add(operands)
    case .collection(let collection): pending.append(.collection(collection))
    case .conditional(let condition, let yes, let no):
      pending.append(.predicate(condition))
      add([yes, no])
    case .aggregate(_, let collection), .end(let collection, _): pending.append(.collection(collection))
    case .element(let collection, let index):
      pending.append(.collection(collection))
      add([index])
    }
  }

  private mutating func add(_ collection: ResolvedCollection) {
    switch collection {
    case .constants: break
    case .list(let elements): add(elements)
    case .elements(of: let operand, _): add([operand])
    case .members(let variable, let hops):
      hasMembers = true
      relationships += hops
      if variable == 0 { ways.append(hops) }
    case .following(let base, let hops):
      hasMembers = true
      relationships += hops
      pending.append(.collection(base))
    case .values(let base, let path):
      relationships += path.hops
      pending.append(.collection(base))
    case .distinct(let base): pending.append(.collection(base))
    case .filtered(let base, variable: _, let condition):
      pending.append(.collection(base))
      pending.append(.predicate(condition))
    case .set(_, let left, let right):
      pending.append(.collection(left))
      pending.append(.collection(right))
    }
  }
}

extension ResolvedPredicate {
  /// All paths of single values that it reads, including those from elements of collections.
  public var paths: [SlotPath] { ResolvedWalk(self).paths }

  /// The sequences of relationships that it follows from the object itself.
  public var ways: [[Relationship]] { ResolvedWalk(self).ways }

  /// All relationships that it follows, from any object.
  public var relationships: [Relationship] { ResolvedWalk(self).relationships }

  /// Whether it reads only the object's own values.
  public var isOwn: Bool { ResolvedWalk(self).isOwn }

  /// Whether it follows no to-many relationship, as required for groups.
  var staysInTable: Bool { !ResolvedWalk(self).hasMembers }
}

extension ResolvedExpression {
  /// See ``ResolvedPredicate/paths``.
  public var paths: [SlotPath] { ResolvedWalk(self).paths }

  /// See ``ResolvedPredicate/ways``.
  public var ways: [[Relationship]] { ResolvedWalk(self).ways }

  /// See ``ResolvedPredicate/isOwn``.
  public var isOwn: Bool { ResolvedWalk(self).isOwn }

  /// See `ResolvedPredicate.staysInTable`.
  var staysInTable: Bool { !ResolvedWalk(self).hasMembers }
}
