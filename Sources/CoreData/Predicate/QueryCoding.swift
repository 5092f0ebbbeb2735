import Foundation
import ModelFiles
import StoreQuery

/// Between predicates, expressions and sort descriptors, and their archives.
enum QueryCoding {
  // MARK: Writing

  static func content(_ predicate: NSPredicate) throws -> QueryArchive.Content {
    guard let tree = PredicateTree.of(predicate) else {
      throw unwritable("The predicate \(predicate) evaluates a block, or is nested too deep")
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

  /// Gives a coder of other objects the whole archive as bytes. A block stops the program, as a coder cannot refuse an
  /// object.
  static func encode(_ coder: NSCoder, _ content: () throws -> QueryArchive.Content) {
    do {
      try write(content()).withUnsafeBytes {
        coder.encodeBytes(
          $0.bindMemory(to: UInt8.self).baseAddress, length: $0.count, forKey: QueryArchive.ownKey)
      }
    } catch { misuse("\(error.localizedDescription)") }
  }

  // MARK: Reading

  /// What an archive holds, as an object that must not be evaluated yet.
  static func read(_ data: Data) throws -> NSObject {
    do { return object(try QueryArchive.read(data)) } catch {
      throw self.error(.coderReadCorrupt, "The archive cannot be read: \(error.message).", error)
    }
  }

  static func read<Result>(_ data: Data, as type: Result.Type) throws -> Result {
    let object = try read(data)
    guard let result = object as? Result else {
      throw error(.coderReadCorrupt, "The archive holds no \(type) but \(object).")
    }
    return result
  }

  /// Nil where a coder of other objects has no archive, or one that cannot be read.
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

  /// The archive of an expression; see the one of predicates.
  public static func archivedData(withRootObject object: NSExpression, requiringSecureCoding: Bool) throws -> Data {
    try QueryCoding.write(.expression(ExpressionTree.of(object)))
  }

  /// The archive of a sort descriptor. Throws `CocoaError.coderInvalidValue` for one with a comparator.
  public static func archivedData(withRootObject object: NSSortDescriptor, requiringSecureCoding: Bool) throws -> Data {
    try QueryCoding.write(QueryCoding.content(object))
  }
}

extension NSKeyedUnarchiver {
  /// Reads an archive of a predicate: one of ``NSKeyedArchiver`` here, or of Apple's Foundation. It must not be
  /// evaluated before `allowEvaluation()` is called.
  ///
  /// No object of a class that the archive names is made, and its size in memory is limited: archives from outside can
  /// be read. Throws `CocoaError.coderReadCorrupt` for a damaged archive, for one of something else than `cls`, and for
  /// one with parts that are not known here.
  /// (https://developer.apple.com/documentation/foundation/nskeyedunarchiver/unarchivedobject(ofclass:from:))
  public static func unarchivedObject<Decoded: NSPredicate>(ofClass cls: Decoded.Type, from data: Data) throws
    -> Decoded?
  {
    try QueryCoding.read(data, as: cls)
  }

  /// Reads an archive of an expression; see the one of predicates.
  public static func unarchivedObject<Decoded: NSExpression>(ofClass cls: Decoded.Type, from data: Data) throws
    -> Decoded?
  {
    try QueryCoding.read(data, as: cls)
  }

  /// Reads an archive of a sort descriptor. It can be used at once: it only reads values by key.
  public static func unarchivedObject<Decoded: NSSortDescriptor>(
    ofClass cls: Decoded.Type, from data: Data
  ) throws -> Decoded? {
    try QueryCoding.read(data, as: cls)
  }
}

// MARK: - Among other objects

/// Predicates, expressions and sort descriptors in archives of other objects have one form, which only this library
/// reads: their archive, as bytes. A block stops the program when it is encoded; what cannot be read decodes to nil,
/// which Foundation reports as an error.
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
