extension FormatParser {
  /// A parsed expression or predicate, the height of its tree, and its position.
  struct Node {
    enum Content {
      case expression(Expression)
      case predicate(Predicate)
    }

    var content: Content
    var height: Int
    var position: Int
  }

  enum Prefix: Equatable {
    case not, negate, complement, plus, any, all, none
  }

  /// An operator or opening with the operands parsed so far.
  struct Frame {
    enum Kind: Equatable {
      case prefix(Prefix)
      case infix(Infix)
      case group, aggregate, element
      case call(String)
    }

    var kind: Kind
    var position: Int
    var nodes: [Node]
    var options: Predicate.Options = []

    init(_ kind: Kind, at position: Int, nodes: [Node] = []) {
      self.kind = kind
      self.position = position
      self.nodes = nodes
    }

    /// The loosest operator that may be part of the operand on its right; nil for an opening, which accepts all.
    var binding: Precedence? {
      switch kind {
      case .prefix(.negate), .prefix(.complement), .prefix(.plus): .unary
      case .prefix: .comparison
      case .infix(let infix): infix.rightBinding
      default: nil
      }
    }

    var closing: Token.Sign? {
      switch kind {
      case .group, .call: .closeParenthesis
      case .aggregate: .closeBrace
      case .element: .closeBracket
      default: nil
      }
    }

    var isList: Bool {
      switch kind {
      case .aggregate, .call: true
      default: false
      }
    }
  }
}

extension [FormatParser.Frame] {
  /// A description of the valid ends of the innermost opening.
  var expectedEnd: String {
    guard let frame = last(where: { $0.closing != nil }), let closing = frame.closing else {
      return "an operator or the end"
    }
    return "an operator, \(frame.isList ? "',' or " : "")'\(closing.rawValue)'"
  }
}
