import Foundation
import Synchronization

/// The name under which a transformer is registered.
public struct NSValueTransformerName: RawRepresentable, Hashable, Sendable, ExpressibleByStringLiteral {
  /// The name as text.
  public let rawValue: String
  /// The name of that text.
  public init(rawValue: String) { self.rawValue = rawValue }
  /// The name of that text.
  public init(_ rawValue: String) { self.rawValue = rawValue }
  /// The name of that text.
  public init(stringLiteral value: String) { rawValue = value }

  /// Archives with secure coding; reads back the classes of
  /// `NSSecureUnarchiveFromDataTransformer.allowedTopLevelClasses`.
  public static let secureUnarchiveFromDataTransformerName = Self("NSSecureUnarchiveFromData")
  /// The name of an older transformer. It gives the one of ``secureUnarchiveFromDataTransformerName``, which reads the
  /// same archives.
  public static let keyedUnarchiveFromDataTransformerName = Self("NSKeyedUnarchiveFromData")
}

/// Turns the values of transformable attributes into data and back.
///
/// Foundation has none here. A transformer named `…UnarchiveFromData` is applied in reverse: storing a value calls
/// `reverseTransformedValue`, reading calls `transformedValue`, as on Apple's platforms.
open class ValueTransformer: NSObject {
  /// A transformer that returns every value as it is.
  public override init() { super.init() }

  /// The allocating entry that ``make(_:)`` calls, so that a subclass needs no `required` initialiser.
  public convenience init(_cdMake: Void) { self.init() }

  private static let registry = Mutex(Registry())

  private struct Registry {
    // A transformer is registered once and then only called.
    struct Box: @unchecked Sendable { let transformer: ValueTransformer }

    var transformers: [String: Box] = [:]
    /// Names that are no class's either.
    var unknown: Set<String> = []
  }

  /// Registers a transformer under a name, from any thread; nil removes the one of that name.
  open class func setValueTransformer(_ transformer: ValueTransformer?, forName name: NSValueTransformerName) {
    let box = transformer.map(Registry.Box.init)
    registry.withLock {
      $0.transformers[name.rawValue] = box
      $0.unknown.remove(name.rawValue)
    }
  }

  /// The transformer registered under `name`, or an object of the transformer class of that name, which is registered
  /// from then on (https://developer.apple.com/documentation/foundation/valuetransformer/init(forname:)). Nil where
  /// there is neither.
  ///
  /// The name of a class is that of its type, with its module or without. The class must have the initialiser `init()`.
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
    let made = (ProcessClasses.only(name) as? ValueTransformer.Type).map { Registry.Box(transformer: make($0)) }
    let found = registry.withLock { (registry) -> Registry.Box? in
      // Another thread may have been quicker.
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

  /// The class of what ``transformedValue(_:)`` returns; `NSObject` unless overridden.
  open class func transformedValueClass() -> AnyClass { NSObject.self }
  /// Whether ``reverseTransformedValue(_:)`` works; true unless overridden
  /// (https://developer.apple.com/documentation/foundation/valuetransformer/allowsreversetransformation()). A save
  /// refuses a transformer without: its data could not be read.
  open class func allowsReverseTransformation() -> Bool { true }
  /// Transforms a value; returns it as it is unless overridden. Nil where the value cannot be transformed.
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

  /// The data to store for a value; nil where the transformer gives none, or could not read it again.
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
  /// The classes a stored value may have at its top.
  open class var allowedTopLevelClasses: [AnyClass] {
    [
      NSArray.self, NSDictionary.self, NSSet.self, NSString.self, NSNumber.self, NSDate.self, NSData.self, NSURL.self,
      NSUUID.self, NSNull.self,
    ]
  }

  open override class func transformedValueClass() -> AnyClass { NSObject.self }
  open override class func allowsReverseTransformation() -> Bool { true }

  /// Data to value.
  open override func transformedValue(_ value: Any?) -> Any? {
    guard let data = value as? Data else { return nil }
    return SecureArchive.read(data, Self.allowedTopLevelClasses)
  }

  /// Value to data. Nil for a value whose class is not allowed: it could not be read again.
  open override func reverseTransformedValue(_ value: Any?) -> Any? {
    guard let value, SecureArchive.allows(value, Self.allowedTopLevelClasses) else { return nil }
    return SecureArchive.write(value)
  }
}

/// Lets `ValueTransformer(forName:)` give an object of a subclass, which an initialiser of the class itself cannot.
public protocol _ValueTransformerLookup {}

extension ValueTransformer: _ValueTransformerLookup {}

extension _ValueTransformerLookup {
  /// The transformer registered under `name`.
  public init?(forName name: NSValueTransformerName) {
    guard let found = ValueTransformer.named(name) as? Self else { return nil }
    self = found
  }
}
