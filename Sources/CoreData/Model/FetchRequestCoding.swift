import Foundation
import ModelFiles
import StoreQuery

/// Converts between fetch requests and their records in model files.
///
/// Stores are not part of a model, so `affectedStores` is not recorded.
enum FetchRequestCoding {
  typealias Request = NSFetchRequest<any NSFetchRequestResult>

  /// The record of a request. It leaves out the parts that ``unrecorded(_:)`` lists.
  static func record(of request: Request, name: String? = nil) -> FetchRequestRecord {
    var record = FetchRequestRecord(
      name: name, entityName: request.entityName ?? "", predicate: request.predicate.flatMap(PredicateTree.of),
      resultType: Int(clamping: request.resultType.rawValue))
    record.sortDescriptors = (request.sortDescriptors ?? []).compactMap(self.record)
    record.fetchLimit = request.fetchLimit
    record.fetchOffset = request.fetchOffset
    record.fetchBatchSize = request.fetchBatchSize
    record.includesSubentities = request.includesSubentities
    record.includesPropertyValues = request.includesPropertyValues
    record.includesPendingChanges = request.includesPendingChanges
    record.returnsObjectsAsFaults = request.returnsObjectsAsFaults
    record.returnsDistinctResults = request.returnsDistinctResults
    record.shouldRefreshRefetchedObjects = request.shouldRefreshRefetchedObjects
    record.propertiesToFetch = request.propertiesToFetch?.compactMap(propertyName)
    record.propertiesToGroupBy = (request.propertiesToGroupBy ?? []).compactMap(propertyName)
    record.havingPredicate = request.havingPredicate.flatMap(PredicateTree.of)
    record.relationshipKeyPathsForPrefetching = request.relationshipKeyPathsForPrefetching ?? []
    return record
  }

  static func request(_ record: FetchRequestRecord) -> Request {
    let request = record.entityName.isEmpty ? Request() : Request(entityName: record.entityName)
    request.predicate = record.predicate.map { PredicateTree.predicate($0) }
    request.sortDescriptors = record.sortDescriptors.map(descriptor)
    request.fetchLimit = record.fetchLimit
    request.fetchOffset = record.fetchOffset
    request.fetchBatchSize = record.fetchBatchSize
    request.resultType = NSFetchRequestResultType(rawValue: UInt(clamping: record.resultType))
    request.includesSubentities = record.includesSubentities
    request.includesPropertyValues = record.includesPropertyValues
    request.includesPendingChanges = record.includesPendingChanges
    request.returnsObjectsAsFaults = record.returnsObjectsAsFaults
    request.returnsDistinctResults = record.returnsDistinctResults
    request.shouldRefreshRefetchedObjects = record.shouldRefreshRefetchedObjects
    request.propertiesToFetch = record.propertiesToFetch
    request.propertiesToGroupBy = record.propertiesToGroupBy.isEmpty ? nil : record.propertiesToGroupBy
    request.havingPredicate = record.havingPredicate.map { PredicateTree.predicate($0) }
    request.relationshipKeyPathsForPrefetching =
      record.relationshipKeyPathsForPrefetching.isEmpty ? nil : record.relationshipKeyPathsForPrefetching
    return request
  }

  static func descriptor(_ record: SortRecord) -> NSSortDescriptor {
    NSSortDescriptor(
      key: record.key, ascending: record.isAscending,
      selector: record.selector.flatMap { $0 == "compare:" ? nil : Selector($0) })
  }

  /// Nil for a sort descriptor with a comparator.
  static func record(_ descriptor: NSSortDescriptor) -> SortRecord? {
    guard let key = descriptor.key, !descriptor.comparesByBlock else { return nil }
    return SortRecord(
      key: key, isAscending: descriptor.ascending, selector: descriptor.selector?.description ?? "compare:")
  }

  /// Nil for a value that is neither the name nor the description of a property. An expression with its own name is
  /// one.
  private static func propertyName(_ property: Any) -> String? {
    if property is NSExpressionDescription { return nil }
    return property as? String ?? (property as? NSPropertyDescription)?.name
  }

  // MARK: Coders

  private static let archiveKey = "archive"

  /// Writes a request as the only template of an empty model.
  static func encode(_ request: Request, with coder: NSCoder) {
    if let obstacle = obstacle(request) { misuse("The fetch request cannot be encoded: it \(obstacle).") }
    let archive: Data
    do {
      archive = try CompiledModelWriter.write(
        ModelRecord(entities: [], fetchRequestTemplates: [record(of: request, name: "request")]))
    } catch { misuse("The fetch request cannot be encoded: \(error).") }
    archive.withUnsafeBytes {
      coder.encodeBytes($0.bindMemory(to: UInt8.self).baseAddress, length: $0.count, forKey: archiveKey)
    }
  }

  /// Nil where there is no archive, or one that cannot be read. It decodes bytes, because Foundation stops the program
  /// where an object has another class than expected.
  static func decode(_ coder: NSCoder) -> Request? {
    let archive = coder.withDecodedUnsafeBufferPointer(forKey: archiveKey) { $0.map { Data($0) } }
    guard let archive, let model = try? CompiledModelReader.read(archive) else { return nil }
    return model.fetchRequestTemplates.first.map(request)
  }

  // MARK: Requests without a record

  /// The part of a request that has no record; nil where every part has one.
  static func obstacle(_ request: Request) -> String? {
    let predicates = [request.predicate, request.havingPredicate].compactMap(\.self)
    if predicates.contains(where: { PredicateTree.of($0) == nil }) { return "fetches by a block" }
    if (request.sortDescriptors ?? []).contains(where: { record($0) == nil }) { return "sorts by a comparator" }
    let odd = properties(request).first { propertyName($0) == nil }
    if let expression = odd as? NSExpressionDescription { return "fetches the expression \(expression.name)" }
    return odd.map { "names a property by a \(type(of: $0))" }
  }

  /// The parts of a request that have no record. Two requests are equal if their records and these parts are.
  static func unrecorded(_ request: Request) -> [NSObject] {
    let predicates = [request.predicate, request.havingPredicate].compactMap(\.self)
    return predicates.filter { PredicateTree.of($0) == nil }
      + (request.sortDescriptors ?? []).filter { record($0) == nil }
      + properties(request).filter { propertyName($0) == nil }.compactMap { $0 as? NSObject }
  }

  private static func properties(_ request: Request) -> [Any] {
    (request.propertiesToFetch ?? []) + (request.propertiesToGroupBy ?? [])
  }
}
