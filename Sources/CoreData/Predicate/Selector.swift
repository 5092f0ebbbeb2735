import StoreQuery

/// The name of a method. Without the Objective-C runtime the compiler refuses `#selector`, and a name alone cannot be
/// called. So a selector may contain its method:
///
/// ```swift
/// Selector("localizedStandardCompare:")               // for a sort descriptor
/// Selector("contextDidSave:", Stack.contextDidSave)   // for an observer of notifications
/// ```
///
/// Rewritten sources contain the second form in place of `#selector(Stack.contextDidSave(_:))`. Two selectors are equal
/// if their names are.
public struct Selector: Hashable, Sendable, ExpressibleByStringLiteral, CustomStringConvertible {
  public let description: String
  private let call: MethodCall?

  /// Makes the selector with a name.
  public init(_ str: String) { (description, call) = (str, nil) }
  public init(stringLiteral value: String) { self.init(value) }

  /// Makes the selector of a method without parameters.
  public init<Object, Result>(_ name: String, _ method: @escaping (Object) -> () -> Result) {
    description = name
    call = MethodCall { object, _ in if let object = object as? Object { _ = method(object)() } }
  }

  /// Makes the selector of a method with one parameter.
  public init<Object, Argument, Result>(_ name: String, _ method: @escaping (Object) -> (Argument) -> Result) {
    description = name
    call = MethodCall { object, argument in
      if let object = object as? Object, let argument = argument as? Argument { _ = method(object)(argument) }
    }
  }

  /// Makes the selector of a method of the main actor without parameters. Calling it on another thread stops the
  /// program.
  @_disfavoredOverload
  public init<Object, Result>(_ name: String, _ method: @escaping (Object) -> @MainActor () -> Result) {
    description = name
    call = MethodCall { object, _ in
      guard let object = object as? Object else { return }
      nonisolated(unsafe) let (target, function) = (object, method)
      MainActor.assumeIsolated { _ = function(target)() }
    }
  }

  /// Makes the selector of a method of the main actor with one parameter. Calling it on another thread stops the
  /// program.
  @_disfavoredOverload
  public init<Object, Argument, Result>(
    _ name: String, _ method: @escaping (Object) -> @MainActor (Argument) -> Result
  ) {
    description = name
    call = MethodCall { object, argument in
      guard let object = object as? Object, let argument = argument as? Argument else { return }
      nonisolated(unsafe) let (target, value, function) = (object, argument, method)
      MainActor.assumeIsolated { _ = function(target)(value) }
    }
  }

  /// Makes a selector of a method that is not called, because it has several parameters. The compiler checks that there
  /// is such a method.
  public init<Method>(_ name: String, checking method: @autoclosure () -> Method) { self.init(name) }

  /// Whether the method can be called.
  var isCallable: Bool { call != nil }

  /// Calls the method of an object.
  func perform(on object: Any, with argument: Any?) { call?.run(object, argument) }

  public static func == (one: Selector, other: Selector) -> Bool { one.description == other.description }
  public func hash(into hasher: inout Hasher) { hasher.combine(description) }
}

/// A method of any object. It is called where the program sends the message, as by Objective-C.
private struct MethodCall: @unchecked Sendable {
  let run: (Any, Any?) -> Void
  init(_ run: @escaping (Any, Any?) -> Void) { self.run = run }
}

/// Makes the selector with a name.
public func NSSelectorFromString(_ aSelectorName: String) -> Selector { Selector(aSelectorName) }
/// The name of a selector.
public func NSStringFromSelector(_ aSelector: Selector) -> String { aSelector.description }

extension SortComparison.TextOrder {
  /// The order of a comparison method of strings; nil for a method that no store knows. The known methods are those of
  /// Apple's stores
  /// (https://developer.apple.com/library/archive/documentation/Cocoa/Conceptual/CoreData/PersistentStoreFeatures.html).
  init?(selector: Selector?) {
    switch selector?.description {
    case nil, "compare:": self = .literal
    case "caseInsensitiveCompare:": self = .caseInsensitive
    case "localizedCompare:": self = .localized
    case "localizedCaseInsensitiveCompare:": self = .localizedCaseInsensitive
    case "localizedStandardCompare:": self = .localizedStandard
    default: return nil
    }
  }

  var selector: Selector {
    switch self {
    case .literal: "compare:"
    case .caseInsensitive: "caseInsensitiveCompare:"
    case .localized: "localizedCompare:"
    case .localizedCaseInsensitive: "localizedCaseInsensitiveCompare:"
    case .localizedStandard: "localizedStandardCompare:"
    }
  }
}
