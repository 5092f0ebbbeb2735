import StoreQuery
import StoreSchema
import TestSupport
import Testing

@Suite struct CorpusTests {
  /// Lines of the corpus that are refused, each with the reason.
  static let refusals: [String: String] = [
    "": "nothing",
    "FETCH(FUNCTION($manager, ": cut, "FUNCTION($manager, ": cut, "FUNCTION($entityPolicy, ": cut,
    "FUNCTION(": cut, "SUBQUERY(": cut,
    "label == '": cut, "label != '": cut, "label MATCHES '": cut, "value == '": cut,
    #"\(aggrigate ?? "#: cut, #"\(requiresNot ? "#: cut,
    #"(\(eventReference)kind == \(EventKind.report.rawValue) AND "#: joined,
    "(kind = %i OR kind = %i OR kind = %i) AND author = %@ AND author.muted = 0 AND ": joined,
    "SUBQUERY(authors, $a, TRUEPREDICATE).@count = 0 AND ": joined,
    "author.hexadecimalPublicKey = %@ AND ": joined,
    "state == %lud": "a mistake: the substitution is %lu, and a letter follows it",
  ]
  private static let cut = "a literal that ends at an inner quotation mark"
  private static let joined = "the first of two literals that are joined at run time"

  @Test(Corpus.condition)
  func `every line but the documented refusals parses, and prints so that it reads back`() throws {
    let literals = try Corpus.predicateLiterals()
    #expect(literals.count > 1000)
    #expect(Self.refusals.count <= 20)
    for literal in literals {
      let format = SwiftLiteral.format(literal)
      let read = Self.tree(format, Dummy.arguments(of: format))
      guard Self.refusals[literal] == nil else {
        #expect(throws: FormatError.self, "\(literal) is no longer refused") { try read.get() }
        continue
      }
      let tree = try read.get()
      #expect(try Self.tree(tree.format, []).get() == tree, "\(literal) prints as \(tree.format)")
    }
  }

  enum Tree: Equatable {
    case predicate(Predicate)
    case expression(Expression)

    var format: String {
      switch self {
      case .predicate(let predicate): predicate.format
      case .expression(let expression): expression.format
      }
    }
  }

  static func tree(_ format: String, _ arguments: [FormatArgument]) -> Result<Tree, FormatError> {
    do {
      return .success(.predicate(try Predicate(format: format, arguments: arguments)))
    } catch {
      let reason = error
      do {
        return .success(.expression(try Expression(format: format, arguments: arguments)))
      } catch { return .failure(reason) }
    }
  }
}

/// Arguments of the types that the substitutions of a format require.
enum Dummy {
  static func arguments(of format: String) -> [FormatArgument] {
    var arguments: [FormatArgument] = []
    var quote: Character?
    var rest = Substring(format)
    while let character = rest.popFirst() {
      if character == "\"" || character == "'" {
        quote = quote == nil ? character : quote == character ? nil : quote
      }
      guard character == "%", quote == nil else { continue }
      while let letter = rest.first, "hlq".contains(letter) { rest.removeFirst() }
      arguments += rest.popFirst().flatMap(argument).map { [$0] } ?? []
    }
    return arguments
  }

  private static func argument(_ type: Character) -> FormatArgument? {
    switch type {
    case "K": .keyPath("some.path")
    case "@": .value(.string("object"))
    case "d", "i", "u": .value(.int(7))
    case "f", "a": .value(.double(0.5))
    case "s": .value(.string("text"))
    default: nil
    }
  }
}
