import Foundation

/// Builds an archive that `NSKeyedUnarchiver` reads.
///
/// Cyclic graphs are written by reserving an object's reference before its values are known. The bytes depend only on
/// the sequence of calls.
public struct KeyedArchiveWriter {
  /// A reference to an object of the archive, to be used as a keyed value.
  public struct Reference: Hashable, Sendable {
    /// The index into the archive's `$objects`.
    public let uid: UInt64

    /// A reference to an index that is known to exist.
    public init(uid: UInt64) { self.uid = uid }

    /// The nil object.
    public static let null = Reference(uid: 0)

    /// The reference as a keyed value.
    public var value: PropertyList { .uid(uid) }
  }

  private var objects: [PropertyList] = [.string("$null")]
  private var plainReferences: [PropertyList: Reference] = [:]
  private var classReferences: [String: Reference] = [:]

  /// An archive that holds nothing but the nil object.
  public init() {}

  /// Reserves an index for an object that ``fill(_:classes:values:)`` supplies later; until then it is "$null".
  public mutating func reserve() -> Reference {
    objects.append(.string("$null"))
    return Reference(uid: UInt64(objects.count - 1))
  }

  /// Gives the object `reference` its class and its keyed values.
  ///
  /// `classes` has the class name first and then the names of its superclasses. References among the values are written
  /// as `reference.value`; scalars stand inline.
  public mutating func fill(_ reference: Reference, classes: [String], values: [String: PropertyList]) {
    var entries = values
    entries["$class"] = classReference(classes).value
    set(reference, to: .dictionary(entries))
  }

  /// Sets the value of a reserved index, its class reference included.
  mutating func set(_ reference: Reference, to value: PropertyList) {
    guard let index = Int(exactly: reference.uid), index > 0, objects.indices.contains(index) else { return }
    objects[index] = value
  }

  /// Adds an object whose values are known.
  public mutating func add(classes: [String], values: [String: PropertyList]) -> Reference {
    let reference = reserve()
    fill(reference, classes: classes, values: values)
    return reference
  }

  /// Adds a plain string, number, date or data. Equal values are added once.
  public mutating func add(_ scalar: PropertyList) -> Reference {
    if let known = plainReferences[scalar] { return known }
    let reference = reserve()
    objects[objects.endIndex - 1] = scalar
    plainReferences[scalar] = reference
    return reference
  }

  private mutating func classReference(_ classes: [String]) -> Reference {
    let key = classes.joined(separator: "\u{0}")
    if let known = classReferences[key] { return known }
    let reference = reserve()
    objects[objects.endIndex - 1] = .dictionary([
      "$classname": .string(classes.first ?? "NSObject"), "$classes": .array(classes.map(PropertyList.string)),
    ])
    classReferences[key] = reference
    return reference
  }

  /// The archive with `root` as its top object.
  public func archive(root: Reference) -> Data { archive(top: ["root": root]) }

  /// The archive with several objects, or one under another name, at its top.
  public func archive(top: [String: Reference]) -> Data {
    BinaryPropertyListWriter.write(
      .dictionary([
        "$archiver": .string("NSKeyedArchiver"), "$version": .integer(100_000),
        "$top": .dictionary(top.mapValues(\.value)), "$objects": .array(objects),
      ]))
  }
}
