import StoreQuery

/// The name of a method, for sort descriptors. Without the Objective-C runtime there are no selectors, and the compiler
/// refuses `#selector`. Write `Selector("localizedStandardCompare:")` instead.
public struct Selector: Hashable, Sendable, ExpressibleByStringLiteral, CustomStringConvertible {
  public let description: String

  /// Makes the selector with a name.
  public init(_ str: String) { description = str }
  public init(stringLiteral value: String) { description = value }
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
