/// Copies of objects as archives of their own.
extension KeyedArchiveBytes {
  /// The value of one object of the property list. References in it are not resolved.
  func value(of object: BinaryObject) throws(PropertyListError) -> PropertyList {
    guard object.isContainer else { return try scalar(object) }
    let width = table.referenceWidth
    try visit(object.count)
    var values: [PropertyList] = []
    for offset in stride(from: object.payload, to: object.payload + object.payloadCount, by: width) {
      let number = try table.reference(at: offset)
      let child = try table.object(number)
      values.append(child.isContainer ? try contents(child, number) : try scalar(child))
    }
    return try Self.assembled(object, values)
  }

  private func scalar(_ object: BinaryObject) throws(PropertyListError) -> PropertyList {
    try visit(1 + object.payloadCount / 16)
    return try object.scalar(table.source)
  }

  /// The value of a container. A container that holds others is decoded with its whole content.
  private func contents(_ object: BinaryObject, _ number: Int) throws(PropertyListError) -> PropertyList {
    let width = table.referenceWidth
    try visit(object.count)
    var values: [PropertyList] = []
    for offset in stride(from: object.payload, to: object.payload + object.payloadCount, by: width) {
      let child = try table.object(try table.reference(at: offset))
      if child.isContainer { return try tree(number) }
      values.append(try scalar(child))
    }
    return try Self.assembled(object, values)
  }

  private func tree(_ number: Int) throws(PropertyListError) -> PropertyList {
    if decoding == nil { decoding = BinaryDecoding(table, fileSize: fileSize) }
    return try decoding?.value(of: number) ?? .null
  }

  private static func assembled(
    _ object: BinaryObject, _ values: [PropertyList]
  ) throws(PropertyListError) -> PropertyList {
    object.isDictionary ? try BinaryDecoding.dictionary(values, at: object.offset) : .array(values)
  }

  /// An object with everything that it refers to, in an archive of its own.
  public func takeOut(_ item: Item) throws(PropertyListError) -> ArchivedObject? {
    guard let first = item.uid else {
      return ArchivedObject(try value(of: item.object), in: KeyedArchiveReader(objects: [], top: [:]))
    }
    var numbers: [UInt64: UInt64] = [first: 1]
    var pending = [first]
    var taken: [PropertyList] = [.string("$null")]
    while taken.count <= pending.count {
      guard let object = try self.item(uid: pending[taken.count - 1])?.object else {
        taken.append(.string("$null"))
        continue
      }
      try visit(1)
      taken.append(
        try value(of: object).translatingReferences { reference in
          if reference == 0 { return 0 }
          if let known = numbers[reference] { return known }
          pending.append(reference)
          numbers[reference] = UInt64(pending.count)
          return UInt64(pending.count)
        })
    }
    return ArchivedObject(.uid(1), in: KeyedArchiveReader(objects: taken, top: [:]))
  }
}
