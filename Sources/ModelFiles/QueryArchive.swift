import Foundation
import PropertyLists
import StoreQuery

/// Predicates, expressions and sort descriptors outside models: keyed archives with the records that Apple's Foundation
/// writes of `NSPredicate`, `NSExpression` and `NSSortDescriptor`, as compiled models have them too.
public enum QueryArchive {
  /// The content of an archive.
  public enum Content: Hashable, Sendable {
    /// An `NSPredicate`.
    case predicate(StoreQuery.Predicate)
    /// An `NSExpression`.
    case expression(StoreQuery.Expression)
    /// An `NSSortDescriptor`.
    case sortDescriptor(SortRecord)
  }

  /// The archive of a predicate, an expression or a sort descriptor. Equal ones give equal bytes.
  ///
  /// Throws `unsupported` for objects and blocks, for a `$name` in place of a predicate, and beyond 200 levels: they
  /// have no archived form.
  public static func write(_ content: Content) throws(ModelFileError) -> Data {
    var encoding = CompiledEncoding(ModelRecord(entities: []))
    let root =
      switch content {
      case .predicate(let predicate): try encoding.encode(predicate, depth: 0)
      case .expression(let expression): try encoding.encode(expression, depth: 0)
      case .sortDescriptor(let record): encoding.encode(record)
      }
    return encoding.writer.archive(root: root)
  }

  /// Reads an archive without making any object of the classes that it names.
  ///
  /// The number of records, their nesting and the size of their texts are limited. Throws `notAModel` for an archive of
  /// something else, `malformed` for a damaged one, and `unsupported` for unknown records.
  public static func read(_ data: Data) throws(ModelFileError) -> Content {
    let archive: KeyedArchiveReader
    do { archive = try KeyedArchiveReader(data) } catch { throw ModelFileError(error) }
    guard let root = archive.root() else { throw ModelFileError(.malformed, "the archive has no root object") }
    // The query may be an object of a larger archive, which then contains it as data: an archive of its own.
    if let own = root[ownKey]?.data {
      guard let inner = try? KeyedArchiveReader(own), let root = inner.root(), root[ownKey] == nil else {
        throw ModelFileError(.malformed, "an archive within the archive is damaged")
      }
      return try content(root, CompiledDecoding(objects: inner.objects.count, bytes: own.count))
    }
    return try content(root, CompiledDecoding(objects: archive.objects.count, bytes: data.count))
  }

  /// The key of this archive in the archive of a larger object.
  public static let ownKey = "archive"

  private static func content(
    _ root: ArchivedObject, _ decoding: CompiledDecoding
  ) throws(ModelFileError) -> Content {
    var decoding = decoding
    if root.isKind(of: "NSPredicate") { return .predicate(try decoding.predicate(root, depth: 0)) }
    if root.isKind(of: "NSExpression") { return .expression(try decoding.expression(root, depth: 0)) }
    if root.isKind(of: "NSSortDescriptor") { return .sortDescriptor(try decoding.sortDescriptor(root)) }
    throw ModelFileError(
      .notAModel, "the archive holds a \(root.className ?? "value"), no predicate, expression or sort descriptor")
  }
}
