import Foundation

/// Why a text is no pattern of MATCHES.
public struct PatternError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The pattern as given.
  public var pattern: String
  /// The reason as one sentence.
  public var message: String

  public var description: String { message }
}

/// The pattern of a MATCHES, compiled once. It has ICU's syntax and must match the whole text.
///
/// `[c]` matches without case; `[d]` removes marks from text and pattern first; `[n]` turns both off. Hostile patterns can
/// take exponential time, as they can with Apple's framework: patterns should not come from strangers.
public struct RegularExpression: Sendable {
  /// The longest pattern, in UTF-16 code units.
  public static let patternLimit = 10_000
  /// The longest text that is searched, in UTF-16 code units; a longer one matches nothing.
  public static let textLimit = 1_000_000

  private let expression: NSRegularExpression
  private let folding: Folding

  /// Compiles a pattern; throws if it is too long or not a regular expression.
  public init(_ pattern: String, options: Predicate.Options = []) throws(PatternError) {
    let wanted = Folding(options)
    guard pattern.utf16.count <= Self.patternLimit else {
      let message = "The pattern is longer than \(Self.patternLimit) UTF-16 code units."
      throw PatternError(pattern: pattern, message: message)
    }
    folding = wanted.marksOnly
    let flags: NSRegularExpression.Options = wanted.ignoresCase ? .caseInsensitive : []
    let folded = folding.folded(pattern)
    do {
      // Compiled by itself first, so that it cannot close the group below.
      if !folded.isEmpty { _ = try NSRegularExpression(pattern: folded, options: flags) }
      expression = try NSRegularExpression(pattern: "(?:\(folded))\\z", options: flags)
    } catch {
      throw PatternError(pattern: pattern, message: "'\(pattern)' is not a regular expression.")
    }
  }

  /// Whether the whole text matches.
  public func matches(_ text: String) -> Bool {
    let text = folding.folded(text)
    let length = text.utf16.count
    guard length <= Self.textLimit else { return false }
    let range = NSRange(location: 0, length: length)
    return expression.firstMatch(in: text, options: .anchored, range: range) != nil
  }
}

extension Folding {
  fileprivate var marksOnly: Folding {
    var folding = self
    folding.ignoresCase = false
    return folding
  }
}
