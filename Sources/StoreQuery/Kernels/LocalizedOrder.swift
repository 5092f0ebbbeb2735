import Foundation

/// The order of texts by the current locale. It is total over all texts, so every sort gives the same order.
///
/// Foundation's own comparison is not a total order.
/// - Where one text begins with the other, it always puts the longer one last, even if the rest consists of characters
///   that no locale weighs, such as U+0000 or a soft hyphen. So あ, ア and ア followed by U+0000 are equal, but あ followed
///   by U+0000 comes after あ.
/// - Without regard to case it treats ß as equal to ss, but only in some texts.
///
/// Here a different ignored character is put before each text. The texts then differ at once, and the locale's
/// collation compares both completely.
enum LocalizedOrder {
  static func compare(_ a: String, _ b: String, _ options: String.CompareOptions = []) -> Ordering {
    Ordering(("\u{1}" + a).compare("\u{2}" + b, options: options, range: nil, locale: .current))
  }

  /// As `localizedStandardCompare(_:)`: digits by their numeric value. Texts without another difference are ordered by
  /// case, length and bytes. Only equal texts compare as `same`.
  static func compareStandard(_ a: String, _ b: String) -> Ordering {
    for options: String.CompareOptions in [[.numeric, .caseInsensitive, .widthInsensitive], .numeric] {
      let order = compare(a, b, options)
      if order != .same { return order }
    }
    let lengths = Ordering.of(a.utf8.count, b.utf8.count)
    return lengths == .same ? StringComparison.compare(a, b) : lengths
  }
}
