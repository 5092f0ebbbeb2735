import Foundation
import ModelFiles
import StoreQuery

/// Converts predicates, expressions and sort descriptors to archives and back.
enum QueryCoding {
  // MARK: Writing

  static func content(_ predicate: NSPredicate) throws -> QueryArchive.Content {
    guard let tree = PredicateTree.of(predicate) else {
      throw unwritable("The predicate \(predicate) evaluates a block, or is nested too deeply")
    }
    return .predicate(tree)
  }

  static func content(_ descriptor: NSSortDescriptor) throws -> QueryArchive.Content {
    guard let record = FetchRequestCoding.record(descriptor) else {
      throw unwritable("The sort descriptor \(descriptor) sorts by a comparator")
    }
    return .sortDescriptor(record)
  }

  static func write(_ content: QueryArchive.Content) throws -> Data {
    do { return try QueryArchive.write(content) } catch {
      throw unwritable("The archive holds what has no form in one (\(error.message))", error)
    }
  }

  private static func unwritable(_ reason: String, _ cause: (any Error)? = nil) -> CocoaError {
    error(
      .coderInvalidValue,
      reason + ". Only constants, key paths, variables, functions and comparisons of them can be archived.", cause)
  }

  /// Encodes the whole archive as bytes into a coder of other objects. A block stops the program, because
  /// `encode(with:)` cannot throw.
  static func encode(_ coder: NSCoder, _ content: () throws -> QueryArchive.Content) {
    do {
      try write(content()).withUnsafeBytes {
        coder.encodeBytes(
          $0.bindMemory(to: UInt8.self).baseAddress, length: $0.count, forKey: QueryArchive.ownKey)
      }
    } catch { misuse("\(error.localizedDescription)") }
  }

  // MARK: Reading

  /// The object of an archive. It must not be evaluated before it is allowed.
  static func read(_ data: Data) throws -> NSObject {
    do { return object(try QueryArchive.read(data)) } catch {
      throw self.error(.coderReadCorrupt, "The archive cannot be read: \(error.message).", error)
    }
  }

  static func read<Result>(_ data: Data, as type: Result.Type) throws -> Result {
    let object = try read(data)
    guard let result = object as? Result else {
      throw error(.coderReadCorrupt, "The archive has \(object) instead of a \(type).")
    }
    return result
  }

  /// The object in a coder of other objects. Nil if the coder has no archive, or an archive that cannot be read.
  static func decode(_ coder: NSCoder) -> NSObject? {
    let data = coder.withDecodedUnsafeBufferPointer(forKey: QueryArchive.ownKey) { $0.map { Data($0) } }
    return data.flatMap { try? read($0) }
  }

  private static func object(_ content: QueryArchive.Content) -> NSObject {
    switch content {
    case .predicate(let tree): PredicateTree.predicate(tree, EvaluationPermission())
    case .expression(let tree): ExpressionTree.expression(tree, EvaluationPermission())
    case .sortDescriptor(let record): FetchRequestCoding.descriptor(record)
    }
  }

  private static func error(_ code: CocoaError.Code, _ text: String, _ cause: (any Error)? = nil) -> CocoaError {
    var userInfo: [String: Any] = [NSLocalizedDescriptionKey: text]
    userInfo[NSUnderlyingErrorKey] = cause
    return CocoaError(code, userInfo: userInfo)
  }
}

// MARK: - Whole archives

extension NSKeyedArchiver {
  /// The archive of a predicate, in the records of Apple's Foundation. Throws `CocoaError.coderInvalidValue` for one
  /// that has no form in an archive: a block, a managed object, an object ID. It is secure whatever
  /// `requiringSecureCoding` says.
  public static func archivedData(withRootObject object: NSPredicate, requiringSecureCoding: Bool) throws -> Data {
    try QueryCoding.write(QueryCoding.content(object))
  }

  /// The archive of an expression. The same rules hold as for a predicate.
  public static func archivedData(withRootObject object: NSExpression, requiringSecureCoding: Bool) throws -> Data {
    try QueryCoding.write(.expression(ExpressionTree.of(object)))
  }

  /// The archive of a sort descriptor. Throws `CocoaError.coderInvalidValue` for one with a comparator.
  public static func archivedData(withRootObject object: NSSortDescriptor, requiringSecureCoding: Bool) throws -> Data {
    try QueryCoding.write(QueryCoding.content(object))
  }
}

extension NSKeyedUnarchiver {
  /// Reads an archive of a predicate, made here or by Apple's Foundation. Call `allowEvaluation()` before the predicate
  /// is evaluated.
  ///
  /// Archives from outside can be read: no object of a class that the archive names is made, and the size in memory is
  /// limited. Throws `CocoaError.coderReadCorrupt` if the archive is damaged, has another object than `cls`, or has
  /// parts that are unknown here.
  /// (https://developer.apple.com/documentation/foundation/nskeyedunarchiver/unarchivedobject(ofclass:from:))
  public static func unarchivedObject<Decoded: NSPredicate>(ofClass cls: Decoded.Type, from data: Data) throws
    -> Decoded?
  {
    try QueryCoding.read(data, as: cls)
  }

  /// Reads an archive of an expression. The same rules hold as for a predicate.
  public static func unarchivedObject<Decoded: NSExpression>(ofClass cls: Decoded.Type, from data: Data) throws
    -> Decoded?
  {
    try QueryCoding.read(data, as: cls)
  }

  /// Reads an archive of a sort descriptor. No permission is needed, because a sort descriptor only reads values by
  /// key.
  public static func unarchivedObject<Decoded: NSSortDescriptor>(
    ofClass cls: Decoded.Type, from data: Data
  ) throws -> Decoded? {
    try QueryCoding.read(data, as: cls)
  }
}

// MARK: - Among other objects

/// Within archives of other objects a predicate, expression or sort descriptor is encoded as the bytes of its own
/// archive. Only this library reads that form. Encoding a block stops the program. Bytes that cannot be read decode to
/// nil, which Foundation reports as an error.
extension NSPredicate: @retroactive NSSecureCoding {
  public static var supportsSecureCoding: Bool { true }
  public func encode(with coder: NSCoder) { QueryCoding.encode(coder) { try QueryCoding.content(self) } }
}

extension _PredicateFormat {
  /// The predicate that was encoded. Nil where it cannot be read.
  public init?(coder: NSCoder) {
    guard let decoded = QueryCoding.decode(coder) as? Self else { return nil }
    self = decoded
  }
}

extension NSExpression: @retroactive NSSecureCoding {
  public static var supportsSecureCoding: Bool { true }
  public func encode(with coder: NSCoder) { QueryCoding.encode(coder) { .expression(ExpressionTree.of(self)) } }
}

extension _ExpressionMaking {
  /// The expression that was encoded. Nil where it cannot be read.
  public init?(coder: NSCoder) {
    guard let decoded = QueryCoding.decode(coder) as? Self else { return nil }
    self = decoded
  }
}

/// Lets `NSSortDescriptor(coder:)` give the object that was decoded.
public protocol _SortDescriptorCoding {}

extension NSSortDescriptor: _SortDescriptorCoding {}

extension NSSortDescriptor: @retroactive NSSecureCoding {
  public static var supportsSecureCoding: Bool { true }
  public func encode(with coder: NSCoder) { QueryCoding.encode(coder) { try QueryCoding.content(self) } }
}

extension _SortDescriptorCoding {
  /// The sort descriptor that was encoded. Nil where it cannot be read.
  public init?(coder: NSCoder) {
    guard let decoded = QueryCoding.decode(coder) as? Self else { return nil }
    self = decoded
  }
}
