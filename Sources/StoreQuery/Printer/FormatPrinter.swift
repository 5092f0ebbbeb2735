/// Writes trees as format strings. It uses a worklist of pieces instead of recursion, so that a tree of any depth can
/// be printed.
struct FormatPrinter {
  /// A piece that is still to be written. A precedence is the loosest one that needs no parentheses there.
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
  /// The predicate in the style of Apple's `predicateFormat`. Parsing it gives the predicate again.
  ///
  /// The parsed tree has no compound of fewer than two members, no key path of `SELF` or of a key path, and no cast of
  /// a literal that is a constant; a tree that contains these is parsed to the simpler form. Truth values are written
  /// as 1 and 0, as in Apple's framework, and are parsed to these numbers, to which they are equal.
  public var format: String { FormatPrinter.print(.predicate(self, .lowest)) }
}

extension Expression {
  /// The expression in the style of Apple's `NSExpression.description`; see `Predicate.format`.
  public var format: String { FormatPrinter.print(.expression(self, .lowest)) }
}
