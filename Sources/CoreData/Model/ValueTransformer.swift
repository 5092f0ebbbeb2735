import Foundation
import Synchronization

/// The name under which a transformer is registered.
public struct NSValueTransformerName: RawRepresentable, Hashable, Sendable, ExpressibleByStringLiteral {
  /// The name as text.
  public let rawValue: String
  /// Makes a name from its text.
  public init(rawValue: String) { self.rawValue = rawValue }
  /// Makes a name from its text.
  public init(_ rawValue: String) { self.rawValue = rawValue }
  /// Makes a name from a literal.
  public init(stringLiteral value: String) { rawValue = value }

  /// Archives with secure coding; reads back the classes of
  /// `NSSecureUnarchiveFromDataTransformer.allowedTopLevelClasses`.
  public static let secureUnarchiveFromDataTransformerName = Self("NSSecureUnarchiveFromData")
  /// The name of an older transformer. It refers to the transformer of ``secureUnarchiveFromDataTransformerName``,
  /// which reads the same archives.
  public static let keyedUnarchiveFromDataTransformerName = Self("NSKeyedUnarchiveFromData")
}

/// Turns the values of transformable attributes into data and back.
///
/// Foundation has no such class here. A transformer named `…UnarchiveFromData` is applied in reverse: storing a value
/// calls `reverseTransformedValue`, reading calls `transformedValue`, as on Apple's platforms.
open class ValueTransformer: NSObject {
  /// A transformer that returns every value unchanged.
  public override init() { super.init() }

  /// The allocating initializer that ``make(_:)`` calls, so that a subclass needs no `required` initializer.
  public convenience init(_cdMake: Void) { self.init() }

  private static let registry = Mutex(Registry())

  private struct Registry {
    // A transformer is registered once and then only called.
    struct Box: @unchecked Sendable { let transformer: ValueTransformer }

    var transformers: [String: Box] = [:]
    /// Names for which there is no transformer class either.
    var unknown: Set<String> = []
  }

  /// Registers a transformer under a name, on any thread; nil removes the name.
  open class func setValueTransformer(_ transformer: ValueTransformer?, forName name: NSValueTransformerName) {
    let box = transformer.map(Registry.Box.init)
    registry.withLock {
      $0.transformers[name.rawValue] = box
      $0.unknown.remove(name.rawValue)
    }
  }

  /// The transformer registered under `name`. Without one, an object of the transformer class of that name, which is
  /// registered from then on (https://developer.apple.com/documentation/foundation/valuetransformer/init(forname:)).
  /// Nil where there is neither.
  ///
  /// The class is named by its type, with its module or without. It must have the initializer `init()`.
  open class func named(_ name: NSValueTransformerName) -> ValueTransformer? {
    let (found, isUnknown) = registry.withLock {
      ($0.transformers[name.rawValue], $0.unknown.contains(name.rawValue))
    }
    if let found { return found.transformer }
    switch name {
    case .secureUnarchiveFromDataTransformerName, .keyedUnarchiveFromDataTransformerName:
      return NSSecureUnarchiveFromDataTransformer()
    default: return isUnknown ? nil : registered(classNamed: name.rawValue)
    }
  }

  private static func registered(classNamed name: String) -> ValueTransformer? {
    let made = (ManagedObjectClass.only(name) as? ValueTransformer.Type).map { Registry.Box(transformer: make($0)) }
    let found = registry.withLock { (registry) -> Registry.Box? in
      // Another thread may have registered one first.
      if let known = registry.transformers[name] { return known }
      if made == nil { registry.unknown.insert(name) } else { registry.transformers[name] = made }
      return made
    }
    return found?.transformer
  }

  private static func make(_ type: ValueTransformer.Type) -> ValueTransformer { type.allocate(()) }

  /// See ``NSManagedObject/make(_:)``.
  @_silgen_name("$s8CoreData16ValueTransformerC7_cdMakeACyt_tcfC")
  private static func allocate(_: Void) -> ValueTransformer

  /// The registered names, in ascending order.
  open class func valueTransformerNames() -> [NSValueTransformerName] {
    registry.withLock { $0.transformers.keys.sorted().map { NSValueTransformerName(rawValue: $0) } }
  }

  /// The class of the values that ``transformedValue(_:)`` returns; `NSObject` unless overridden.
  open class func transformedValueClass() -> AnyClass { NSObject.self }
  /// Whether ``reverseTransformedValue(_:)`` works; true unless overridden
  /// (https://developer.apple.com/documentation/foundation/valuetransformer/allowsreversetransformation()). With
  /// false, a save throws an error, because the data could not be read again.
  open class func allowsReverseTransformation() -> Bool { true }
  /// Transforms a value; returns it unchanged unless overridden. Nil where the value cannot be transformed.
  open func transformedValue(_ value: Any?) -> Any? { value }
  /// Reverses ``transformedValue(_:)``; calls it unless overridden. Stops the program where
  /// ``allowsReverseTransformation()`` is false.
  open func reverseTransformedValue(_ value: Any?) -> Any? {
    if !type(of: self).allowsReverseTransformation() { misuse("\(type(of: self)) allows no reverse transformation.") }
    return transformedValue(value)
  }

  /// The transformer of an attribute: the named one, or the secure default.
  static func forAttribute(_ attribute: NSAttributeDescription) -> ValueTransformer? {
    guard let name = attribute.valueTransformerName, !name.isEmpty else {
      return named(.secureUnarchiveFromDataTransformerName)
    }
    return named(NSValueTransformerName(name))
  }

  /// The data to store for a value; nil where the transformer returns none, or could not read it again.
  final func forward(_ value: Any) -> Data? {
    guard type(of: self).allowsReverseTransformation() else { return nil }
    return (isReversed ? reverseTransformedValue(value) : transformedValue(value)) as? Data
  }

  final func reverse(_ data: Data) -> Any? {
    guard type(of: self).allowsReverseTransformation() else { return nil }
    return isReversed ? transformedValue(data) : reverseTransformedValue(data)
  }

  private var isReversed: Bool { self is NSSecureUnarchiveFromDataTransformer }
}

/// Archives values with secure coding and reads back only classes that are allowed.
open class NSSecureUnarchiveFromDataTransformer: ValueTransformer {
  /// The classes that a stored value may have at its top level.
  open class var allowedTopLevelClasses: [AnyClass] {
    [
      NSArray.self, NSDictionary.self, NSSet.self, NSString.self, NSNumber.self, NSDate.self, NSData.self, NSURL.self,
      NSUUID.self, NSNull.self,
    ]
  }

  open override class func transformedValueClass() -> AnyClass { NSObject.self }
  open override class func allowsReverseTransformation() -> Bool { true }

  /// Converts data to a value.
  open override func transformedValue(_ value: Any?) -> Any? {
    guard let data = value as? Data else { return nil }
    return SecureArchive.read(data, Self.allowedTopLevelClasses)
  }

  /// Converts a value to data. Nil for a value whose class is not allowed, because it could not be read again.
  open override func reverseTransformedValue(_ value: Any?) -> Any? {
    guard let value, SecureArchive.allows(value, Self.allowedTopLevelClasses) else { return nil }
    return SecureArchive.write(value)
  }
}

/// Lets `ValueTransformer(forName:)` return an object of a subclass, which an initializer of the class itself cannot
/// do.
public protocol _ValueTransformerLookup {}

extension ValueTransformer: _ValueTransformerLookup {}

extension _ValueTransformerLookup {
  /// The transformer registered under `name`.
  public init?(forName name: NSValueTransformerName) {
    guard let found = ValueTransformer.named(name) as? Self else { return nil }
    self = found
  }
}
