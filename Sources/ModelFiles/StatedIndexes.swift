/// The indexes of an entity as a source states them. A record has each of them in all its forms.
struct StatedIndexes {
  /// The properties that are flagged as indexed.
  private(set) var flags: Set<String> = []
  /// The compound indexes of older models.
  private(set) var compounds: [[String]] = []
  /// All others.
  private(set) var fetchIndexes: [FetchIndexRecord]

  /// The form is the oldest that reads back as the entity. A compiled model does not have the form of its source.
  init(_ entity: EntityRecord) {
    let properties = Dictionary(
      entity.properties.map { ($0.name, $0.isIndexed) }, uniquingKeysWith: { first, _ in first })
    fetchIndexes = entity.fetchIndexes
    while let index = fetchIndexes.last, let names = index.plainNames, names == [index.name],
      properties[index.name] == true, flags.insert(index.name).inserted
    {
      fetchIndexes.removeLast()
    }
    let known = Set(entity.compoundIndexes)
    while let index = fetchIndexes.last, let names = index.plainNames, names.count > 1,
      index.name == names.joined(separator: "_"), known.contains(names)
    {
      compounds.append(names)
      fetchIndexes.removeLast()
    }
    compounds.reverse()
    if isRead(as: entity) { return }
    (compounds, fetchIndexes) = ([], entity.fetchIndexes)
    // An index of one property has its flag, too.
    let single = Set(fetchIndexes.filter { $0.elements.count == 1 }.compactMap { $0.elements[0].propertyName })
    flags = Set(properties.filter { $0.value && !single.contains($0.key) }.keys)
  }

  private func isRead(as entity: EntityRecord) -> Bool {
    var read = entity
    (read.fetchIndexes, read.compoundIndexes) = (fetchIndexes, compounds)
    for index in read.properties.indices {
      read.properties[index].isIndexed = flags.contains(read.properties[index].name)
    }
    read.repeatIndexes()
    return read == entity
  }
}

extension FetchIndexRecord {
  /// The names of the properties where the index is binary, ascending, and of all rows.
  fileprivate var plainNames: [String]? {
    guard partialPredicate == nil, elements.allSatisfy({ $0.type == 0 && $0.isAscending }) else { return nil }
    let names = elements.compactMap(\.propertyName)
    return names.count == elements.count ? names : nil
  }
}
