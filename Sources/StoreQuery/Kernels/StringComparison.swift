import Foundation

/// String operators over UTF-8 bytes.
///
/// - `[c]` folds case by Unicode's full case folding (ß becomes ss, final sigma becomes sigma).
/// - `[d]` removes the marks of Latin, Greek and Cyrillic letters.
/// - Both do not depend on the locale: dotless ı differs from i, and İ folds to i only under `[cd]`.
/// - `[n]` states that texts are already normalized, and turns both off.
/// - Without `[c]` and `[d]` bytes are literal: é as one scalar and é as two scalars differ.
/// - `[l]` compares order and equality by the current locale; searches ignore it.
///
/// The literal order is the order of UTF-8 bytes, which is the order of Unicode scalars and SQLite's BINARY order. It
/// differs from UTF-16 order only between U+E000…U+FFFF and the scalars above.
public enum StringComparison {
  /// Whether the texts are equal after folding.
  public static func areEqual(_ a: String, _ b: String, options: Predicate.Options = []) -> Bool {
    if options.isLocal { return compare(a, b, options: options) == .same }
    return withFolded(a, b, options, ByteSearch.areEqual)
  }

  /// The order of the texts after folding.
  public static func compare(_ a: String, _ b: String, options: Predicate.Options = []) -> Ordering {
    options.isLocal ? compareByLocale(a, b, options) : withFolded(a, b, options, ByteSearch.compare)
  }

  /// Whether `part` occurs in `text`. The empty text occurs nowhere, as with `NSString.range(of:)` [K].
  public static func contains(_ text: String, _ part: String, options: Predicate.Options = []) -> Bool {
    withFolded(text, part, options, ByteSearch.contains)
  }

  /// Whether `text` begins with `prefix`, which must not be empty: see ``contains(_:_:options:)``.
  public static func beginsWith(_ text: String, _ prefix: String, options: Predicate.Options = []) -> Bool {
    withFolded(text, prefix, options, ByteSearch.beginsWith)
  }

  /// Whether `text` ends with `suffix`, which must not be empty: see ``contains(_:_:options:)``.
  public static func endsWith(_ text: String, _ suffix: String, options: Predicate.Options = []) -> Bool {
    withFolded(text, suffix, options, ByteSearch.endsWith)
  }

  /// Whether the whole `text` matches `pattern`; see ``LikePattern``.
  public static func like(_ text: String, _ pattern: String, options: Predicate.Options = []) -> Bool {
    LikePattern(pattern, options: options).matches(text)
  }

  /// Whether the regular expression matches the whole `text`; see ``RegularExpression``. Throws if `pattern` is not a
  /// regular expression.
  public static func matches(
    _ text: String, _ pattern: String, options: Predicate.Options = []
  ) throws(PatternError) -> Bool {
    try RegularExpression.shared(pattern, options: options).matches(text)
  }

  private static func withFolded<R>(
    _ a: String, _ b: String, _ options: Predicate.Options,
    _ body: (UnsafeBufferPointer<UInt8>, UnsafeBufferPointer<UInt8>) -> R
  ) -> R {
    let folding = Folding(options)
    return folding.withBytes(of: a) { a in folding.withBytes(of: b) { b in body(a, b) } }
  }

  private static func compareByLocale(_ a: String, _ b: String, _ options: Predicate.Options) -> Ordering {
    var comparison: String.CompareOptions = []
    if options.contains(.caseInsensitive) { comparison.insert(.caseInsensitive) }
    if options.contains(.diacriticInsensitive) { comparison.insert(.diacriticInsensitive) }
    return Ordering(a.compare(b, options: comparison, range: nil, locale: .current))
  }
}

extension Predicate.Options {
  var isLocal: Bool { contains(.localeSensitive) && !contains(.normalized) }
}

extension Ordering {
  init(_ result: ComparisonResult) {
    self = result == .orderedAscending ? .ascending : result == .orderedSame ? .same : .descending
  }
}
