import PropertyLists

/// The fractions of times in metadata, which XML property lists have no form for: beside the whole seconds there is a
/// list of all times, in the order in which they stand, that Apple's readers do not know and leave alone.
enum XMLTimes {
  private static let key = "OpenCoreDataTimes"
  /// Deeper lists keep their whole seconds.
  private static let depthLimit = 64

  /// The entries with the list of times, where some time is no whole second.
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

  /// The entries as they were before. A time that somebody has changed since stays as it is.
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
