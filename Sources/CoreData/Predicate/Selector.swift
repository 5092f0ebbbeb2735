import StoreQuery

/// The name of a method, as sort descriptors have one: there are no selectors without Objective-C's runtime, and
/// `#selector` is refused by the compiler. In its place write `Selector("localizedStandardCompare:")`.
public struct Selector: Hashable, Sendable, ExpressibleByStringLiteral, CustomStringConvertible {
  public let description: String

  /// The selector of that name.
  public init(_ str: String) { description = str }
  public init(stringLiteral value: String) { description = value }
}

/// The selector of that name.
public func NSSelectorFromString(_ aSelectorName: String) -> Selector { Selector(aSelectorName) }
/// The name of a selector.
public func NSStringFromSelector(_ aSelector: Selector) -> String { aSelector.description }

extension SortComparison.TextOrder {
  /// The order that a method of strings compares by; nil for methods that no store knows. They are those that Apple's
  /// stores take
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
