import StoreQuery
import StoreSchema

/// Formats that must not be resolved.
enum PredicateCheck {
  /// Why a format is refused, with a key path for `%K` where one is given; nil where it is not refused.
  static func refusal(
    _ format: String, _ s: Session, key: String? = nil, of entity: String = "Person"
  ) throws -> String? {
    let resolver = PredicateResolver(s.schema, try s.entity(entity))
    let tree = try Predicate(format: format, arguments: key.map { [.value(.string($0))] } ?? [])
    do throws(ResolutionError) { _ = try resolver.resolve(tree) } catch { return error.message }
    return nil
  }
}
