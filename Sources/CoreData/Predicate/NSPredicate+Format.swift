import Foundation
import StoreQuery
import StoreSchema

/// A predicate with a syntax tree. `NSPredicate(format:)` makes these.
public final class SyntaxPredicate: NSPredicate {
  let tree: StoreQuery.Predicate

  init(_ tree: StoreQuery.Predicate) {
    self.tree = tree
    super.init(value: true)
  }

  public required init?(coder: NSCoder) { nil }

  public override func copy(with zone: NSZone?) -> Any { self }

  public override func evaluate(with object: Any?) -> Bool { evaluate(with: object, substitutionVariables: nil) }

  public override func evaluate(with object: Any?, substitutionVariables bindings: [String: Any]?) -> Bool {
    let bound = bindings.map { Substitution.replace(tree, $0) } ?? tree
    return ObjectEvaluator.evaluate(bound, object)
  }

  public override var hash: Int { tree.hashValue }

  public override func isEqual(_ object: Any?) -> Bool { (object as? SyntaxPredicate)?.tree == tree }

  public override var description: String { tree.format }
}

/// Lets `NSPredicate(format:)` give an object of a subclass, which an initialiser of the class itself cannot.
public protocol _PredicateFormat {}

extension NSPredicate: _PredicateFormat {}

extension _PredicateFormat {
  /// Parses a predicate. Arguments take the places of `%@`, `%K`, `%d` and the like.
  ///
  /// A format that cannot be parsed stops the program with the position and what was expected there; text from users
  /// goes into arguments, never into the format.
  public init(format predicateFormat: String, _ args: Any?...) {
    self.init(format: predicateFormat, argumentArray: args as [Any?])
  }

  public init(format predicateFormat: String, argumentArray arguments: [Any?]?) {
    let predicate: NSPredicate
    do {
      predicate = try NSPredicate.parse(predicateFormat, arguments ?? [])
    } catch { misuse("Unable to parse the format string \"\(predicateFormat)\": \(error.message)") }
    guard let result = predicate as? Self else {
      misuse("\(Self.self)(format:) gives a \(type(of: predicate)); use NSPredicate(format:).")
    }
    self = result
  }
}

extension NSPredicate {
  /// Parses a predicate. Throws where and why the text cannot be one.
  public static func parse(_ format: String, _ arguments: [Any?]) throws(FormatError) -> NSPredicate {
    SyntaxPredicate(try StoreQuery.Predicate(format: format, arguments: arguments.map(PredicateArgument.make)))
  }

  /// The predicate with its `$variables` replaced by values; `NSNull` stands for nil.
  public func withSubstitutionVariables(_ variables: [String: Any]) -> Self {
    guard let tree = PredicateTree.of(self),
      let result = SyntaxPredicate(Substitution.replace(tree, variables)) as? Self
    else { return self }
    return result
  }

  /// The predicate in the format language; a block has none.
  public var predicateFormat: String { PredicateTree.of(self)?.format ?? "BLOCKPREDICATE(\(hash))" }
}

/// Arguments of formats as the parser takes them.
enum PredicateArgument {
  static func make(_ value: Any?) -> FormatArgument {
    guard let value = AttributeCoding.flattened(value) else { return .value(.null) }
    switch value {
    case let x as NSPredicate: return PredicateTree.of(x).map(FormatArgument.predicate) ?? .value(.null)
    case let x as NSSet: return .array(x.allObjects.map(make))
    case let x as NSOrderedSet: return .array(x.array.map(make))
    case let x as [Any?]: return .array(x.map(make))
    case let x as Set<AnyHashable>: return .array(x.map { make($0.base) })
    default: return .value(constant(value))
    }
  }

  static func constant(_ value: Any) -> Value {
    switch value {
    case let x as String: return .string(x)
    case let x as Bool where type(of: value) == Bool.self: return .bool(x)
    case let x as Decimal: return .decimal(x)
    case let x as NSDecimalNumber: return .decimal(x.decimalValue)
    case let x as UInt64: return Int64(exactly: x).map(Value.int) ?? .double(Double(x))
    case let x as any FixedWidthInteger: return .int(Int64(truncatingIfNeeded: x))
    case let x as Double where type(of: value) == Double.self: return .double(x)
    case let x as Float where type(of: value) == Float.self: return .double(Double(x))
    case let x as NSNumber: return number(x)
    case let x as Date: return .date(x.timeIntervalSinceReferenceDate)
    case let x as UUID: return .uuid(x)
    case let x as URL: return .uri(x.absoluteString)
    case let x as Data: return .data(x)
    case let x as NSManagedObject: return .reference(x.reference)
    case let x as NSManagedObjectID: return .reference(x.reference)
    case let x as any RawRepresentable: return constant(x.rawValue)
    default: return .null
    }
  }

  private static func number(_ number: NSNumber) -> Value {
    switch number.objCType.pointee {
    case CChar(bitPattern: UInt8(ascii: "d")), CChar(bitPattern: UInt8(ascii: "f")): .double(number.doubleValue)
    default: .int(number.int64Value)
    }
  }
}

/// Syntax trees of predicate objects.
enum PredicateTree {
  /// Nil for predicates whose meaning is a block.
  static func of(_ predicate: NSPredicate) -> StoreQuery.Predicate? {
    if let predicate = predicate as? SyntaxPredicate { return predicate.tree }
    guard let compound = predicate as? NSCompoundPredicate else { return nil }
    var parts: [StoreQuery.Predicate] = []
    for part in compound.subpredicates {
      guard let tree = of(part) else { return nil }
      parts.append(tree)
    }
    switch compound.compoundPredicateType {
    case .and: return .and(parts)
    case .or: return .or(parts)
    case .not: return parts.first.map(StoreQuery.Predicate.not)
    @unknown default: return nil
    }
  }
}

/// Replaces `$variables` by values.
enum Substitution {
  static func replace(_ predicate: StoreQuery.Predicate, _ values: [String: Any]) -> StoreQuery.Predicate {
    switch predicate {
    case .value: return predicate
    case .and(let parts): return .and(parts.map { replace($0, values) })
    case .or(let parts): return .or(parts.map { replace($0, values) })
    case .not(let inner): return .not(replace(inner, values))
    case .comparison(var comparison):
      comparison.left = replace(comparison.left, values)
      comparison.right = replace(comparison.right, values)
      return .comparison(comparison)
    case .variable(let name):
      if let value = values[name] as? NSPredicate, let tree = PredicateTree.of(value) { return tree }
      return predicate
    }
  }

  private static func replace(_ expression: StoreQuery.Expression, _ values: [String: Any]) -> StoreQuery.Expression {
    switch expression {
    case .variable(let name):
      guard let value = values[name] else { return expression }
      return literal(PredicateArgument.make(value))
    case .keyPathOf(let base, let path): return .keyPathOf(replace(base, values), path)
    case .aggregate(let elements): return .aggregate(elements.map { replace($0, values) })
    case .function(let name, let arguments, let target):
      return .function(name, arguments.map { replace($0, values) }, target: target.map { replace($0, values) })
    default: return expression
    }
  }

  private static func literal(_ argument: FormatArgument) -> StoreQuery.Expression {
    switch argument {
    case .value(let value): .constant(value)
    case .array(let elements): .aggregate(elements.map(literal))
    case .keyPath(let path): .keyPath(path)
    case .expression(let expression): expression
    case .predicate(let predicate): .conditional(predicate, .constant(.bool(true)), .constant(.bool(false)))
    }
  }
}
