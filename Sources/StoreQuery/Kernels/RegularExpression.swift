import Foundation
import Synchronization

/// The reason why a text is not a pattern of MATCHES.
public struct PatternError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The given pattern.
  public var pattern: String
  /// The reason as one sentence.
  public var message: String

  public var description: String { message }
}

/// The pattern of a MATCHES, compiled once. It has ICU's syntax and must match the whole text.
///
/// `[c]` ignores case; `[d]` removes marks from text and pattern first; `[n]` turns both off. Some patterns try
/// exponentially many ways to match. If a text needs more than about a million steps, and a hundred more for each code
/// unit, it does not match.
public struct RegularExpression: Sendable {
  /// The longest pattern, in UTF-16 code units.
  public static let patternLimit = 10_000
  /// The longest text that is searched, in UTF-16 code units; a longer one matches nothing.
  public static let textLimit = 1_000_000

  /// The number of progress reports, one for each ten thousand steps, after which the search is cancelled; one more for
  /// each hundred code units.
  private static let stepLimit = 100

  private let expression: NSRegularExpression
  private let folding: Folding

  /// Compiles a pattern; throws if it is too long or not a regular expression.
  public init(_ pattern: String, options: Predicate.Options = []) throws(PatternError) {
    let required = Folding(options)
    guard pattern.utf16.count <= Self.patternLimit else {
      let message = "The pattern is longer than \(Self.patternLimit) UTF-16 code units."
      throw PatternError(pattern: pattern, message: message)
    }
    folding = required.marksOnly
    let flags: NSRegularExpression.Options = required.ignoresCase ? .caseInsensitive : []
    let folded = folding.folded(pattern)
    do {
      // Compiled alone first, so that it cannot close the group below.
      if !folded.isEmpty { _ = try NSRegularExpression(pattern: folded, options: flags) }
      expression = try NSRegularExpression(pattern: "(?:\(folded))\\z", options: flags)
    } catch {
      throw PatternError(pattern: pattern, message: "'\(pattern)' is not a regular expression.")
    }
  }

  private struct Source: Hashable {
    let pattern: String
    let options: UInt
  }

  /// Compiled patterns of predicates that are evaluated for single objects. Without them, each evaluation would compile
  /// its pattern.
  private static let compiled = Mutex<[Source: RegularExpression]>([:])

  /// The same as the initializer. The result is cached among the last patterns.
  static func shared(_ pattern: String, options: Predicate.Options) throws(PatternError) -> RegularExpression {
    let source = Source(pattern: pattern, options: options.rawValue)
    if let known = compiled.withLock({ $0[source] }) { return known }
    let made = try RegularExpression(pattern, options: options)
    compiled.withLock { known in
      if known.count >= 64 { known.removeAll() }
      known[source] = made
    }
    return made
  }

  /// Whether the whole text matches.
  public func matches(_ text: String) -> Bool {
    let text = folding.folded(text)
    let length = text.utf16.count
    guard length <= Self.textLimit else { return false }
    var (isMatch, reports) = (false, 0)
    let range = NSRange(location: 0, length: length)
    expression.enumerateMatches(in: text, options: [.anchored, .reportProgress], range: range) { match, _, stop in
      isMatch = match != nil
      reports += 1
      if isMatch || reports > Self.stepLimit + length / 100 { stop.pointee = true }
    }
    return isMatch
  }
}

extension Folding {
  fileprivate var marksOnly: Folding {
    var folding = self
    folding.ignoresCase = false
    return folding
  }
}
