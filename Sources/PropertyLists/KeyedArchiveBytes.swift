import Foundation

/// Reads the objects of a keyed archive one by one from its bytes, without decoding the whole archive.
///
/// Valid as long as the bytes are. The number of visited objects is limited by the size of the archive. Beyond that
/// limit, which only objects with very many references reach, reading throws ``PropertyListError/Code/tooLarge``.
///
/// Used by one caller at a time.
public final class KeyedArchiveBytes {
  let table: BinaryObjectTable
  /// The archive's `$objects`.
  private let objects: BinaryObject
  private let top: BinaryObject
  let fileSize: Int
  private var visitsLeft: Int
  /// A hash table of the classes that were described, by the number of the class.
  private var classes: [(number: Int, traits: ArchivedClass)]
  let classField = KeyedFields(["$class"])
  let listFields = KeyedFields(["NS.keys", "NS.objects"])
  let dateFields = KeyedFields(["$class", "NS.time"])
  let uuidFields = KeyedFields(["NS.uuidbytes"])
  let urlFields = KeyedFields(["$class", "NS.base", "NS.relative"])
  /// The offsets of numbered elements, for ``location(_:in:)``.
  var numberedPositions: [[Int]] = []
  /// Created for the first object with containers in containers. Archives of Foundation have no such objects.
  var decoding: BinaryDecoding?
  /// The memory of the result of ``items(of:)``.
  private var found = UnsafeMutableBufferPointer<Item?>(start: nil, count: 0)
  /// The offset of the NSNull object that was found last.
  var nullOffset = -1
  /// The range of bytes that were released; see ``giveBack(from:but:)``.
  private let gap: UnsafeMutablePointer<ByteGap>
  private let giveBack: ((Range<Int>) -> Void)?
  private var gapFloor = 0

  /// One value of an archive, with its reference resolved.
  public struct Item {
    let object: BinaryObject
    /// The index in `$objects`, nil for a value that is stored inline.
    let uid: UInt64?
  }

  /// The offset of a reference to a value.
  public struct Location {
    let offset: Int
  }

  /// Reads the top level of the archive. Throws unless the bytes are a keyed archive.
  ///
  /// `giveBack` gets ranges of bytes that are not needed any more, when the caller uses ``giveBack(from:but:)``.
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
    let locations = try KeyedFields.find(["$archiver", "$objects", "$top"], in: frame, table)
    func object(_ location: Int) throws(PropertyListError) -> BinaryObject {
      guard let offset = locations[location] else { throw notAnArchive }
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
    guard let location = try KeyedFields.find([key], in: top, table)[0] else { return nil }
    return try item(at: Location(offset: top.payload + location))
  }

  // MARK: Resolving references

  func visit(_ count: Int) throws(PropertyListError) {
    visitsLeft -= count
    if visitsLeft < 0 { throw PropertyListError(.tooLarge, "shared objects expand to more than is allowed") }
  }

  /// The value of a reference. Nil for a reference to nil. Throws `malformed` for a reference beyond the archive.
  @inline(__always)
  public func item(at location: Location) throws(PropertyListError) -> Item? {
    let object = try table.object(try table.reference(at: location.offset))
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
      found.initializeElement(at: index, to: try item(at: location(index, in: elements)))
    }
    return UnsafeBufferPointer(rebasing: found[..<elements.count])
  }

  /// The number of the value, or of its reference, in the property list. Equal numbers mean the same value; different
  /// numbers may mean it, too.
  @inline(__always)
  public func number(at location: Location) throws(PropertyListError) -> Int {
    try table.reference(at: location.offset)
  }

  /// The traits of the class at `location`. Empty without a class.
  @inline(__always)
  func traits(_ location: Location?) throws(PropertyListError) -> ArchivedClass {
    guard let location else { return [] }
    let number = try table.reference(at: location.offset)
    let known = classes[number & 63]
    if known.number == number { return known.traits }
    return try otherTraits(location, number)
  }

  /// The traits of a class whose first slot of the hash table has another class: searches the next slots, and describes
  /// the class if it is in none.
  @inline(never)
  private func otherTraits(_ location: Location, _ number: Int) throws(PropertyListError) -> ArchivedClass {
    var index = number & 63
    for _ in 0..<64 {
      if classes[index].number == number { return classes[index].traits }
      if classes[index].number < 0 { break }
      index = (index + 1) & 63
    }
    let traits = try describe(location)
    // Replaced as a whole: see decision 075.
    var known = classes
    known[index] = (number, traits)
    classes = known
    return traits
  }

  private func describe(_ location: Location) throws(PropertyListError) -> ArchivedClass {
    guard let item = try item(at: location), item.object.isDictionary else { return [] }
    let list = try value(of: item.object)
    return ArchivedClass(
      list["$classname"]?.stringValue, list["$classes"]?.arrayValue?.compactMap(\.stringValue) ?? [])
  }
}

/// Releasing the bytes of an archive while it is read.
extension KeyedArchiveBytes {
  /// Declares that no object at or behind `item` is needed any more, except `lists` and the top level of the archive.
  /// Must be called from the last item to the first.
  public func giveBack(from item: Item, but lists: [Elements]) {
    guard let giveBack else { return }
    let from = item.object.offset
    if gap.pointee.start == .max { findGap(before: from, lists) }
    // Releases at least 1 MiB at once.
    let start = max(from, gapFloor)
    if start > gap.pointee.start - 1 << 20 { return }
    giveBack(start..<gap.pointee.start)
    gap.pointee.start = start
  }

  /// Whether a released object was requested. The archive must be read again then.
  public var wasGivenBackTooEarly: Bool { gap.pointee.wasMissed }

  /// Finds the range that can be released: it ends before the first list behind `offset`, and begins behind the list
  /// before it.
  private func findGap(before offset: Int, _ lists: [Elements]) {
    let kept =
      lists.map { $0.start..<$0.start + $0.count * $0.width }
      + [objects, top].map { $0.offset..<$0.payload + $0.payloadCount }
    let end = kept.map(\.lowerBound).filter { $0 > offset }.min() ?? table.table
    gapFloor = kept.map(\.upperBound).filter { $0 <= end }.max() ?? 0
    gap.pointee = ByteGap(start: end, end: end)
  }
}

/// The traits of an archived class that readers distinguish.
struct ArchivedClass: OptionSet {
  let rawValue: UInt8
  static let mapNode = ArchivedClass(rawValue: 1)
  static let null = ArchivedClass(rawValue: 2)
  static let date = ArchivedClass(rawValue: 4)
  static let url = ArchivedClass(rawValue: 8)

  init(rawValue: UInt8) { self.rawValue = rawValue }

  /// Finds the traits by the names of the class and its superclasses.
  init(_ name: String?, _ names: [String]) {
    self = name == "NSNull" ? .null : []
    for (known, trait) in [("NSStoreMapNode", Self.mapNode), ("NSDate", .date), ("NSURL", .url)]
    where name == known || names.contains(known) { insert(trait) }
  }
}
