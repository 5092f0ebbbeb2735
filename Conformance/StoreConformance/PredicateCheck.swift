import StoreQuery
import StoreSchema

/// Formats that must not be resolved.
enum PredicateCheck {
  /// Why a format is refused.
  struct Refusal: Error {
    let text: String
  }

  /// Resolves a format, with a key path for `%K` where one is given; throws ``Refusal`` where it is refused.
  static func resolve(_ format: String, _ key: String?, _ s: Session, _ entity: String = "Person") throws {
    let resolver = PredicateResolver(s.schema, try s.entity(entity))
    let tree = try Predicate(format: format, arguments: key.map { [.value(.string($0))] } ?? [])
    do throws(ResolutionError) { _ = try resolver.resolve(tree) } catch { throw Refusal(text: error.message) }
  }
}
