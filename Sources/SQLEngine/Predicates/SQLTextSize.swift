/// An upper bound of SQLite's limits that a piece of SQL uses up. A predicate that uses too much is evaluated in
/// memory, because SQLite would reject its statement.
struct SQLTextSize {
  /// The length in bytes, without values.
  var length = 0
  /// The greatest number of symbols on the stack of SQLite's parser, without those of the innermost leaf.
  private var stack = 0
  /// The height of an expression, subselects included.
  var height = 0
  /// The sum of the heights of nested subselects. SQLite adds it to the height of the expression around them.
  private var selects = 0

  /// SQLite allows a stack of 100 symbols and a height of 1000; the rest is for the statement around a condition, its
  /// joins and leaves. The length of 1 MB is our own limit.
  var isTaken: Bool { stack <= 78 && height + selects <= 850 && length <= 1 << 20 }

  /// Adds the size of a piece that stands behind `symbols` symbols of the same expression.
  mutating func contain(_ piece: SQLTextSize, behind symbols: Int) {
    length += piece.length
    stack = max(stack, symbols + piece.stack)
    height = max(height, piece.height)
    selects = max(selects, piece.selects)
  }

  /// Adds a condition to those of a conjunction, which are `count` then; false where they are too large together.
  mutating func join(_ condition: SQLTextSize, _ count: Int) -> Bool {
    contain(condition, behind: 2)
    length += " AND ".utf8.count
    var enclosed = self
    enclosed.height += count + 4
    enclosed.stack += 2
    return enclosed.isTaken
  }

  mutating func isSelect() { selects += height }

  /// The number of words, operators and parentheses of a text, an upper bound of the symbols on the stack behind it.
  /// CASE counts an empty symbol too, for its optional operand.
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
