import Foundation

/// Reads archives of `NSKeyedArchiver` without creating any object of the archived classes.
///
/// Objects are resolved one reference at a time, on request. Cyclic graphs are therefore harmless as long as the caller
/// does not follow them for ever.
public final class KeyedArchiveReader: Sendable {
  /// The archive's `$objects`; UIDs index into it.
  public let objects: [PropertyList]
  /// The archive's `$top`: usually one reference under "root".
  public let top: [String: PropertyList]

  /// Reads the binary property list `data` and checks that it is a keyed archive.
  public convenience init(_ data: Data) throws(PropertyListError) {
    try self.init(BinaryPropertyListReader.read(data))
  }

  /// Uses a property list that was read already. Throws unless it is a keyed archive.
  public init(_ list: PropertyList) throws(PropertyListError) {
    guard list["$archiver"]?.stringValue == "NSKeyedArchiver", let objects = list["$objects"]?.arrayValue,
      let top = list["$top"]?.dictionaryValue
    else { throw PropertyListError(.malformed, "the property list is not a keyed archive") }
    self.objects = objects
    self.top = top
  }

  init(objects: [PropertyList], top: [String: PropertyList]) {
    self.objects = objects
    self.top = top
  }

  /// The object archived under `key` of the top level, or nil when there is none.
  public func root(_ key: String = "root") -> ArchivedObject? {
    top[key].flatMap { ArchivedObject($0, in: self) }
  }
}

extension KeyedArchiveReader {
  /// The object at an index of ``objects``; nil for the first one, which stands for nil.
  public func object(at position: Int) -> ArchivedObject? { ArchivedObject(.uid(UInt64(position)), in: self) }
}

/// One value of a keyed archive: an object with keyed values, or a scalar.
///
/// A nil reference ("$null") is never represented: the accessors return nil for it.
public struct ArchivedObject: Sendable {
  let archive: KeyedArchiveReader
  /// The value itself; references inside it are not resolved.
  public let value: PropertyList
  /// The index in ``KeyedArchiveReader/objects``, which is the object's identity; nil for a value that is stored
  /// inline.
  public let uid: UInt64?

  init?(_ raw: PropertyList, in archive: KeyedArchiveReader) {
    self.archive = archive
    guard case .uid(let uid) = raw else {
      value = raw
      self.uid = nil
      return
    }
    guard uid != 0, let index = Int(exactly: uid), archive.objects.indices.contains(index) else { return nil }
    value = archive.objects[index]
    self.uid = uid
  }

  /// The name of the archived class, or nil for a plain value.
  public var className: String? { classDescription?["$classname"]?.stringValue }

  /// The names of the archived class and its superclasses, the class itself first.
  public var classNames: [String] {
    classDescription?["$classes"]?.arrayValue?.compactMap(\.stringValue) ?? className.map { [$0] } ?? []
  }

  private var classDescription: PropertyList? {
    guard let reference = value["$class"] else { return nil }
    return ArchivedObject(reference, in: archive)?.value
  }

  /// Whether the archived class is `name` or one of its subclasses.
  public func isKind(of name: String) -> Bool {
    // Most questions are about the class itself.
    guard let description = classDescription else { return false }
    if description["$classname"]?.stringValue == name { return true }
    return description["$classes"]?.arrayValue?.contains { $0.stringValue == name } ?? false
  }

  /// The value under `key` with its reference resolved; nil when the key is absent or its value is nil.
  public subscript(key: String) -> ArchivedObject? {
    value[key].flatMap { ArchivedObject($0, in: archive) }
  }

  /// The keys of the object, without the archiver's own.
  public var keys: [String] {
    value.dictionaryValue.map { $0.keys.filter { $0 != "$class" }.sorted() } ?? []
  }

  func elements(_ key: String) -> [ArchivedObject?]? {
    value[key]?.arrayValue?.map { ArchivedObject($0, in: archive) }
  }
}
