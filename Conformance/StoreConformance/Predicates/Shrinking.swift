/// Simplifies a fetch that fails.
extension PredicateGenerator.Fetch {
  /// A shorter fetch that still `isWrong`: single parts of the predicate, without sorts, offset and limit where they do
  /// not matter.
  func shrunk(_ isWrong: (Self) throws -> Bool) rethrows -> Self {
    var best = self
    while let next = try best.shorter.first(where: isWrong) { best = next }
    return best
  }

  private var shorter: [Self] {
    var result: [Self] = []
    func add(_ change: (inout Self) -> Void) {
      var fetch = self
      change(&fetch)
      result.append(fetch)
    }
    for part in predicate.shorter { add { $0.predicate = part } }
    for position in sort.indices { add { $0.sort.remove(at: position) } }
    if offset > 0 { add { $0.offset = 0 } }
    if limit != nil { add { $0.limit = nil } }
    return result
  }
}

extension GeneratedPredicate {
  /// Its parts, and itself without one of them.
  fileprivate var shorter: [GeneratedPredicate] {
    switch self {
    case .and(let parts): parts + Self.without(one: parts).map(Self.and)
    case .or(let parts): parts + Self.without(one: parts).map(Self.or)
    case .not(let inner): [inner] + inner.shorter.map(Self.not)
    default: []
    }
  }

  private static func without(one parts: [GeneratedPredicate]) -> [[GeneratedPredicate]] {
    parts.count < 3 ? [] : parts.indices.map { Array(parts[..<$0] + parts[($0 + 1)...]) }
  }
}
