import Foundation

/// A keyed archive whose objects are looked at one by one, where they stand: no tree is made of it.
///
/// Valid as long as the bytes are. Whoever reads counts what is visited: where objects are shared so often that this
/// goes beyond what the size of the archive justifies, reading ends with ``PropertyListError/Code/tooLarge``.
///
/// Used by one caller at a time, so its fields are free of exclusivity checks.
public final class KeyedArchiveBytes {
  let table: BinaryObjectTable
  /// The archive's `$objects`.
  private let objects: BinaryObject
  private let top: BinaryObject
  let fileSize: Int
  @exclusivity(unchecked) private var visitsLeft: Int
  /// What was found of classes, at a place that the class's number gives.
  @exclusivity(unchecked) private var classes: [(number: Int, traits: ArchivedClass)]
  let classField = KeyedFields(["$class"])
  let listFields = KeyedFields(["NS.keys", "NS.objects"])
  let dateFields = KeyedFields(["$class", "NS.time"])
  let uuidFields = KeyedFields(["NS.uuidbytes"])
  let urlFields = KeyedFields(["$class", "NS.base", "NS.relative"])
  /// See ``place(_:in:)``.
  @exclusivity(unchecked) var numberedPlaces: [[Int]] = []
  /// Made where an object has containers in containers, which archives of Foundation never have.
  @exclusivity(unchecked) var decoding: BinaryDecoding?
  /// See ``items(of:)``.
  @exclusivity(unchecked) private var found = UnsafeMutableBufferPointer<Item?>(start: nil, count: 0)
  /// The NSNull object that was found last.
  @exclusivity(unchecked) var nullOffset = -1
  /// What was given back; see ``giveBack(from:)``.
  private let gap: UnsafeMutablePointer<ByteGap>
  private let giveBack: ((Range<Int>) -> Void)?
  @exclusivity(unchecked) private var gapFloor = 0

  /// One value of an archive, where it stands. A reference has been followed.
  public struct Item {
    let object: BinaryObject
    /// The object's place in the archive, nil for a value that is stored inline.
    let uid: UInt64?
  }

  /// Where an object refers to a value.
  public struct Place {
    let offset: Int
  }

  /// Looks at the frame of the archive. Throws unless it is one.
  ///
  /// `giveBack` is told of bytes that are of no use any more, as far as somebody calls ``giveBack(from:)``.
  public init(
    _ bytes: UnsafeRawBufferPointer, giveBack: ((Range<Int>) -> Void)? = nil
  ) throws(PropertyListError) {
    gap = .allocate(capacity: 1)
    gap.initialize(to: ByteGap(start: .max, end: .max))
    self.giveBack = giveBack
    let table = try BinaryObjectTable(bytes, gap)
    let notAnArchive = PropertyListError(.malformed, "the property list is not a keyed archive")
    let frame = try table.object(table.top)
    guard frame.isDictionary else { throw notAnArchive }
    let places = try KeyedFields.find(["$archiver", "$objects", "$top"], in: frame, table)
    func object(_ place: Int) throws(PropertyListError) -> BinaryObject {
      guard let offset = places[place] else { throw notAnArchive }
      return try table.object(try table.reference(at: frame.payload + offset))
    }
    let archiver = try object(0)
    objects = try object(1)
    top = try object(2)
    self.table = table
    fileSize = bytes.count
    visitsLeft = PropertyListLimits.nodes(fileSize: fileSize)
    classes = Array(repeating: (number: -1, traits: []), count: 64)
    guard !archiver.isContainer, try archiver.scalar(table.source).stringValue == "NSKeyedArchiver",
      objects.marker >> 4 == 0xA, top.isDictionary
    else { throw notAnArchive }
  }

  deinit {
    gap.deallocate()
    found.deallocate()
  }

  /// The object archived under `key` of the top level, nil where there is none.
  public func root(_ key: String) throws(PropertyListError) -> Item? {
    guard let place = try KeyedFields.find([key], in: top, table)[0] else { return nil }
    return try item(at: Place(offset: top.payload + place))
  }

  // MARK: Following

  func visit(_ count: Int) throws(PropertyListError) {
    visitsLeft -= count
    if visitsLeft < 0 { throw PropertyListError(.tooLarge, "shared objects unfold beyond all proportion") }
  }

  /// The value that is referred to. Nil for a reference to nil. Throws `malformed` for a reference beyond the archive.
  @inline(__always)
  public func item(at place: Place) throws(PropertyListError) -> Item? {
    let object = try table.object(try table.reference(at: place.offset))
    if object.isUID { return try item(uid: try table.uid(object)) }
    return Item(object: object, uid: nil)
  }

  private static let beyond = PropertyListError(.malformed, "a reference leads beyond the archive's objects")

  @inline(__always)
  func item(uid: UInt64) throws(PropertyListError) -> Item? {
    if uid == 0 { return nil }
    guard uid < UInt64(objects.count) else { throw Self.beyond }
    let number = try table.reference(at: objects.payload &+ Int(uid) &* table.referenceWidth)
    return Item(object: try table.object(number), uid: uid)
  }

  /// The values of all elements, nil for references to nil. They are valid until the next call.
  public func items(of elements: Elements) throws(PropertyListError) -> UnsafeBufferPointer<Item?> {
    if elements.count > found.count {
      found.deallocate()
      found = .allocate(capacity: elements.count)
    }
    for index in 0..<elements.count {
      found.initializeElement(at: index, to: try item(at: place(index, in: elements)))
    }
    return UnsafeBufferPointer(rebasing: found[..<elements.count])
  }

  /// The number in the property list of the value, or of its reference. Equal numbers mean the same value; two numbers
  /// may.
  @inline(__always)
  public func number(at place: Place) throws(PropertyListError) -> Int { try table.reference(at: place.offset) }

  /// What the class that an object names is. None without a class.
  @inline(__always)
  func traits(_ place: Place?) throws(PropertyListError) -> ArchivedClass {
    guard let place else { return [] }
    let number = try table.reference(at: place.offset)
    let known = classes[number & 63]
    if known.number == number { return known.traits }
    return try otherTraits(place, number)
  }

  /// Those of a class that has not the place that its number gives: one of the next, as long as there is a free one.
  @inline(never)
  private func otherTraits(_ place: Place, _ number: Int) throws(PropertyListError) -> ArchivedClass {
    var index = number & 63
    for _ in 0..<64 {
      if classes[index].number == number { return classes[index].traits }
      if classes[index].number < 0 { break }
      index = (index + 1) & 63
    }
    let traits = try describe(place)
    classes[index] = (number, traits)
    return traits
  }

  private func describe(_ place: Place) throws(PropertyListError) -> ArchivedClass {
    guard let item = try item(at: place), item.object.isDictionary else { return [] }
    let list = try value(of: item.object)
    return ArchivedClass(
      list["$classname"]?.stringValue, list["$classes"]?.arrayValue?.compactMap(\.stringValue) ?? [])
  }
}

/// Archives whose bytes go while they are read.
extension KeyedArchiveBytes {
  /// Says that nothing will be asked for that begins at `item` or behind it, but for lists that were found before:
  /// `lists`, and what the frame of the archive has. To be called from the last item to the first.
  public func giveBack(from item: Item, but lists: [Elements]) {
    guard let giveBack else { return }
    let from = item.object.offset
    if gap.pointee.start == .max { findGap(before: from, lists) }
    // In pieces that are worth a call.
    let start = max(from, gapFloor)
    if start > gap.pointee.start - 1 << 20 { return }
    giveBack(start..<gap.pointee.start)
    gap.pointee.start = start
  }

  /// Whether something was asked for that was given back, so that all has to be read again.
  public var wasGivenBackTooEarly: Bool { gap.pointee.wasMissed }

  /// Finds between which of the lists the bytes are that can go.
  private func findGap(before offset: Int, _ lists: [Elements]) {
    let kept =
      lists.map { $0.start..<$0.start + $0.count * $0.width }
      + [objects, top].map { $0.offset..<$0.payload + $0.payloadCount }
    let end = kept.map(\.lowerBound).filter { $0 > offset }.min() ?? table.table
    gapFloor = kept.map(\.upperBound).filter { $0 <= end }.max() ?? 0
    gap.pointee = ByteGap(start: end, end: end)
  }
}

/// What readers of an archive ask of a class.
struct ArchivedClass: OptionSet {
  let rawValue: UInt8
  static let mapNode = ArchivedClass(rawValue: 1)
  static let null = ArchivedClass(rawValue: 2)
  static let date = ArchivedClass(rawValue: 4)
  static let url = ArchivedClass(rawValue: 8)

  init(rawValue: UInt8) { self.rawValue = rawValue }

  /// By its own name and those of its superclasses.
  init(_ name: String?, _ names: [String]) {
    self = name == "NSNull" ? .null : []
    for (known, trait) in [("NSStoreMapNode", Self.mapNode), ("NSDate", .date), ("NSURL", .url)]
    where name == known || names.contains(known) { insert(trait) }
  }
}
