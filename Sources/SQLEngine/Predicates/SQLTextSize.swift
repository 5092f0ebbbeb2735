/// What SQLite needs for a piece of SQL, none of it less than it really is: a predicate that needs too much is
/// evaluated elsewhere, where the same piece as a statement would be an error.
struct SQLTextSize {
  /// In bytes, without values.
  var length = 0
  /// How many symbols SQLite's parser has on its stack at most, besides those of the innermost leaf.
  private var stack = 0
  /// The height of the tree of an expression, subselects included.
  var height = 0
  /// The sum of the heights of the subselects around each other, which SQLite adds to that of what is around them.
  private var selects = 0

  /// SQLite takes a stack of 100 symbols and a height of 1000; the rest is for the statement around a condition, its
  /// joins and leaves. A length of 1 MB is a limit of ours: nobody means that.
  var isTaken: Bool { stack <= 78 && height + selects <= 850 && length <= 1 << 20 }

  /// Adds what a piece needs that stands behind so many symbols of the same expression.
  mutating func contain(_ piece: SQLTextSize, behind symbols: Int) {
    length += piece.length
    stack = max(stack, symbols + piece.stack)
    height = max(height, piece.height)
    selects = max(selects, piece.selects)
  }

  mutating func isSelect() { selects += height }

  /// The words, operators and brackets of a text: at most so many symbols are on the stack behind it. CASE has an empty
  /// one too, for what it may compare.
  static func symbols(_ text: String) -> Int {
    var (count, isInWord) = (text.hasPrefix("CASE") ? 1 : 0, false)
    for byte in text.utf8 {
      switch byte {
      case UInt8(ascii: " "): isInWord = false
      case UInt8(ascii: "("), UInt8(ascii: ")"), UInt8(ascii: ","):
        count += 1
        isInWord = false
      default:
        if !isInWord { count += 1 }
        isInWord = true
      }
    }
    return count
  }
}
