import Foundation

/// The order of texts by the current locale, total over all texts, so that whoever sorts them gives the same.
///
/// Foundation's own comparison is no such order. Where one text begins with the other it says itself that the longer
/// one comes later, although the rest may be characters that no locale weighs, such as U+0000 or a soft hyphen: あ, ア
/// and ア with U+0000 behind it are the same, and あ with it comes after あ. Without regard to case it makes ß equal to
/// ss, but in some texts only. Here each text is compared with such a character in front, one that the other has not:
/// then they differ at once, and the locale's collation decides about all of both.
enum LocalizedOrder {
  static func compare(_ a: String, _ b: String, _ options: String.CompareOptions = []) -> Ordering {
    Ordering(("\u{1}" + a).compare("\u{2}" + b, options: options, range: nil, locale: .current))
  }

  /// As `localizedStandardCompare(_:)`: digits by their number, and texts that differ in nothing else by case, by
  /// their length, and by their bytes. Only equal texts are the same.
  static func compareStandard(_ a: String, _ b: String) -> Ordering {
    for options: String.CompareOptions in [[.numeric, .caseInsensitive, .widthInsensitive], .numeric] {
      let order = compare(a, b, options)
      if order != .same { return order }
    }
    let lengths = Ordering.of(a.utf8.count, b.utf8.count)
    return lengths == .same ? StringComparison.compare(a, b) : lengths
  }
}
