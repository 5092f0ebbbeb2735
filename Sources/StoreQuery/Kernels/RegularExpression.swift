import Foundation
import Synchronization

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
/// `[c]` matches without case; `[d]` removes marks from text and pattern first; `[n]` turns both off. Some patterns try
/// exponentially many ways to match: a text on which one needs more than about a million steps, and a hundred for each
/// code unit, does not match.
public struct RegularExpression: Sendable {
  /// The longest pattern, in UTF-16 code units.
  public static let patternLimit = 10_000
  /// The longest text that is searched, in UTF-16 code units; a longer one matches nothing.
  public static let textLimit = 1_000_000

  /// How often the search tells of its progress, every ten thousand steps, before it is given up; once more for each
  /// hundred code units.
  private static let stepLimit = 100

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

  private struct Source: Hashable {
    let pattern: String
    let options: UInt
  }

  /// The patterns of predicates that are evaluated one object at a time, which would compile them for each.
  private static let compiled = Mutex<[Source: RegularExpression]>([:])

  /// The same as the initialiser's, compiled once while it is one of the last few that were asked for.
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
