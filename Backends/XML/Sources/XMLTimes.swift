import PropertyLists

/// XML property lists have no fractions of seconds. The metadata therefore gets an additional list with the exact value
/// of all its times, in the order of their occurrence. Apple's readers ignore this entry and keep it.
enum XMLTimes {
  private static let key = "OpenCoreDataTimes"
  /// Times nested deeper than this keep whole seconds only.
  private static let depthLimit = 64

  /// The entries with the list of exact times. The list is added only if some time has a fraction.
  static func adding(to entries: [String: PropertyList]) -> [String: PropertyList] {
    var times: [Double] = []
    _ = replaced(.dictionary(entries), depth: 0) { time in
      times.append(time)
      return time
    }
    var entries = entries
    if times.contains(where: { $0 != $0.rounded() }) { entries[key] = .array(times.map(PropertyList.real)) }
    return entries
  }

  /// The entries with their exact times. A time that was changed by at least a second since then stays as it is.
  static func restoring(_ list: PropertyList) -> PropertyList {
    guard var entries = list.dictionaryValue, let times = entries.removeValue(forKey: key)?.arrayValue else {
      return list
    }
    var rest = times[...]
    return replaced(.dictionary(entries), depth: 0) { time in
      guard case .real(let exact)? = rest.popFirst(), abs(exact - time) < 1 else { return time }
      return exact
    }
  }

  private static func replaced(_ list: PropertyList, depth: Int, _ time: (Double) -> Double) -> PropertyList {
    if depth > depthLimit { return list }
    switch list {
    case .date(let x): return .date(time(x))
    case .array(let elements): return .array(elements.map { replaced($0, depth: depth + 1, time) })
    case .dictionary(var entries):
      for key in entries.keys.sorted() { entries[key] = entries[key].map { replaced($0, depth: depth + 1, time) } }
      return .dictionary(entries)
    default: return list
    }
  }
}
