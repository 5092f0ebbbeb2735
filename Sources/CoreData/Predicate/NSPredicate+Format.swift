import Foundation
import StoreQuery
import StoreSchema

/// Lets `NSPredicate(format:)` return an object of a subclass. An initializer of a protocol can do that; an initializer
/// of a class cannot.
public protocol _PredicateFormat {}

extension NSPredicate: _PredicateFormat {}

extension _PredicateFormat {
  /// Parses a predicate. Arguments replace `%@`, `%K`, `%d` and the like.
  ///
  /// A format that cannot be parsed stops the program. The message has the position and what was expected there. Put
  /// text from users into arguments, never into the format.
  public init(format predicateFormat: String, _ args: Any?...) {
    self.init(format: predicateFormat, argumentArray: args as [Any?])
  }

  /// Parses a predicate with arguments from `withVaList(_:_:)`. The format names their types, as in `printf`: `%d` is
  /// an `Int32`, `%ld` an `Int`, `%f` a `Double`, `%@` an object.
  ///
  /// The behavior is undefined, as in C, if an argument has another type or if there are too few arguments.
  public init(format predicateFormat: String, arguments argList: CVaListPointer) {
    self.init(format: predicateFormat, argumentArray: VariableArguments.read(argList, for: predicateFormat))
  }

  /// Parses a predicate with arguments, as ``init(format:_:)`` does. Nil stands for no arguments.
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
  /// Parses a predicate. The error has the position in the text and the reason.
  public static func parse(_ format: String, _ arguments: [Any?]) throws(FormatError) -> NSPredicate {
    PredicateTree.predicate(
      try StoreQuery.Predicate(format: format, arguments: arguments.map(PredicateArgument.make)))
  }

  /// The predicate with its `$variables` replaced by values; `NSNull` stands for nil. Blocks do not change, nor do
  /// variables that the predicate assigns itself (`$name := value`).
  public func withSubstitutionVariables(_ variables: [String: Any]) -> Self {
    if let tree = PredicateTree.of(self) {
      let result = Substitution.bind(tree, variables)
      // A predicate that is `$name` alone keeps its class.
      let predicate =
        self is SyntaxPredicate
        ? SyntaxPredicate(result, evaluationPermission) : PredicateTree.predicate(result, evaluationPermission)
      return predicate as? Self ?? self
    }
    guard let compound = self as? NSCompoundPredicate else { return self }
    let parts = compound.subpredicates.map { $0.withSubstitutionVariables(variables) }
    return NSCompoundPredicate(type: compound.compoundPredicateType, subpredicates: parts) as? Self ?? self
  }

  /// The text of the first part that stops the program when the predicate is evaluated in memory: an unknown function,
  /// class of `CAST` or collection operator, or a `$variable` without a value. Nil if there is no such part.
  ///
  /// Use it for predicates that were parsed from text of users. A fetch with such a part throws.
  public var unevaluablePart: String? { PredicateTree.of(self).flatMap(PredicateWalk.obstacle) }
}

extension NSExpression {
  /// Parses an expression. The error has the position in the text and the reason.
  public static func parse(_ format: String, _ arguments: [Any?]) throws(FormatError) -> NSExpression {
    ExpressionTree.expression(
      try StoreQuery.Expression(format: format, arguments: arguments.map(PredicateArgument.make)))
  }
}

/// Converts the arguments of a format to the parser's form.
enum PredicateArgument {
  /// A value of a class that no attribute can have is kept as an object. In memory it is compared as that object; for a
  /// store it is equal to nothing.
  static func make(_ value: Any?) -> FormatArgument {
    guard let value else { return .value(.null) }
    // Bridging to Objective-C makes an NSNull of nil within an `Any`.
    guard let value = AttributeCoding.flattened(value) else { return .expression(.nullObject) }
    func list(_ elements: some Sequence<Any?>) -> FormatArgument {
      .array(
        elements.map { element in
          // A dictionary stands for its values. As an element of a collection it stays a dictionary.
          let dictionary = element.flatMap { $0 as? NSDictionary ?? ($0 as? [AnyHashable: Any]).map(NSDictionary.init) }
          return dictionary.map { .expression(.object(ObjectConstant(ObjectInPredicate.other(.init($0))))) }
            ?? make(element)
        })
    }
    switch value {
    case let x as NSPredicate:
      guard let tree = PredicateTree.part(x) else { misuse("A block cannot be an argument of a predicate's format.") }
      return .predicate(tree)
    case let x as NSExpression: return .expression(ExpressionTree.part(x))
    case let x as NSSet: return list(x.allObjects)
    case let x as NSOrderedSet: return list(x.array)
    case let x as [Any?]: return list(x)
    case let x as NSDictionary: return list(location(x as? [AnyHashable: Any]) ?? x.allValues)
    case let x as [AnyHashable: Any]: return list(location(x) ?? Array(x.values))
    case let x as Set<AnyHashable>: return list(x.map(\.base))
    default: return single(value)
    }
  }

  /// The values of a dictionary that is a location, in the order in which `distanceToLocation` takes them.
  private static func location(_ dictionary: [AnyHashable: Any]?) -> [Any]? {
    guard let dictionary, dictionary.count == LocationKernel.keys.count else { return nil }
    let values = LocationKernel.keys.compactMap { dictionary[$0] }
    return values.count == dictionary.count ? values : nil
  }

  private static func single(_ value: Any) -> FormatArgument {
    if let object = ObjectInPredicate(value) { return .expression(.object(ObjectConstant(object))) }
    if let constant = constant(value) { return .value(constant) }
    return .expression(.object(ObjectConstant(ObjectInPredicate.other(.init(value)))))
  }

  /// The constant for a value. Nil for objects, for their IDs, and for a value of a type that no attribute can have.
  static func constant(_ value: Any) -> Value? {
    switch value {
    // Before the Swift numbers: an NSNumber casts to all of them.
    case let x as NSNumber where type(of: value) is AnyClass && !(x is NSDecimalNumber): return number(x)
    case let x as String: return .string(x)
    case let x as Bool where type(of: value) == Bool.self: return .bool(x)
    case let x as Decimal: return .decimal(x)
    case let x as NSDecimalNumber: return .decimal(x.decimalValue)
    case let x as any FixedWidthInteger: return integer(x)
    case let x as Double where type(of: value) == Double.self: return .double(x)
    case let x as Float where type(of: value) == Float.self: return .double(Double(x))
    case let x as NSNumber: return number(x)
    case let x as Date: return .date(x.timeIntervalSinceReferenceDate)
    case let x as UUID: return .uuid(x)
    case let x as URL: return .uri(x.absoluteString)
    case let x as Data: return .data(x)
    case let x as NSEntityDescription: return x.name.map(Value.string)
    case let x as any BinaryFloatingPoint: return .double(Double(x))
    case let x as Substring: return .string(String(x))
    case let x as Character: return .string(String(x))
    case let x as any RawRepresentable: return constant(x.rawValue)
    case let x as AnyHashable where type(of: value) == AnyHashable.self: return constant(x.base)
    default: return nil
    }
  }

  /// An integer, or a decimal where the number does not fit 64 bits with a sign.
  private static func integer(_ number: some FixedWidthInteger) -> Value {
    Int64(exactly: number).map(Value.int) ?? Decimal(string: String(number)).map(Value.decimal)
      ?? .double(Double(number))
  }

  /// The two objects for truth values. Their type code is that of small integers, so only identity tells them apart.
  private static let truthValues = (NSNumber(value: false), NSNumber(value: true))

  private static func number(_ number: NSNumber) -> Value {
    if number === truthValues.0 || number === truthValues.1 { return .bool(number.boolValue) }
    return switch number.objCType.pointee {
    case CChar(bitPattern: UInt8(ascii: "d")), CChar(bitPattern: UInt8(ascii: "f")): .double(number.doubleValue)
    case CChar(bitPattern: UInt8(ascii: "Q")), CChar(bitPattern: UInt8(ascii: "L")): integer(number.uint64Value)
    default: .int(number.int64Value)
    }
  }
}
