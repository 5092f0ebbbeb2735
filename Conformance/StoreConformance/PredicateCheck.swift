import StoreQuery
import StoreSchema

/// Checks of formats that must be refused.
enum PredicateCheck {
  /// Why a format is refused, nil where it is accepted. `%K` stands for the key path, if one is given.
  static func refusal(
    _ format: String, _ s: Session, key: String? = nil, of entity: String = "Person"
  ) throws -> String? {
    let resolver = PredicateResolver(s.schema, try s.entity(entity))
    let tree = try Predicate(format: format, arguments: key.map { [.value(.string($0))] } ?? [])
    do throws(ResolutionError) { _ = try resolver.resolve(tree) } catch { return error.message }
    return nil
  }
}
