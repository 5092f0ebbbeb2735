/// Writes trees as format strings, from a worklist of pieces rather than by recursion, so that a tree of any depth can
/// be printed.
struct FormatPrinter {
  /// What is still to be written. A precedence is the loosest that may stand there without parentheses.
  enum Piece {
    case text(String)
    case expression(Expression, Precedence)
    case predicate(Predicate, Precedence)
  }

  static func print(_ piece: Piece) -> String {
    var output = ""
    var pending = [piece]
    while let piece = pending.popLast() {
      switch piece {
      case .text(let text): output += text
      case .expression(let expression, let minimum):
        pending += enclosed(pieces(of: expression), if: precedence(of: expression) < minimum).reversed()
      case .predicate(let predicate, let minimum):
        let predicate = essence(of: predicate)
        pending += enclosed(pieces(of: predicate), if: precedence(of: predicate) < minimum).reversed()
      }
    }
    return output
  }

  private static func enclosed(_ pieces: [Piece], if needed: Bool) -> [Piece] {
    needed ? [.text("(")] + pieces + [.text(")")] : pieces
  }

  /// The pieces with a separator between each two.
  static func joined(_ pieces: [Piece], by separator: String) -> [Piece] {
    var result: [Piece] = []
    for piece in pieces {
      if !result.isEmpty { result.append(.text(separator)) }
      result.append(piece)
    }
    return result
  }
}

extension Predicate {
  /// The predicate in the style of Apple's `predicateFormat`; reading it gives the predicate back.
  ///
  /// The tree that reading gives has no compound of fewer than two members, no key path of `SELF` or of a key path, and
  /// no cast of a literal that is a constant; a tree that has them comes back in that form. Truth values are
  /// written 1 and 0, as Apple's framework writes them, and come back as these numbers, which they are equal to.
  public var format: String { FormatPrinter.print(.predicate(self, .lowest)) }
}

extension Expression {
  /// The expression in the style of Apple's `NSExpression.description`; see `Predicate.format`.
  public var format: String { FormatPrinter.print(.expression(self, .lowest)) }
}
