import Foundation
import RuntimeAccess
import StoreProtocol
import StoreQuery
import StoreSchema

/// Results of type dictionary: values directly from the stores, without objects. They do not include unsaved changes
/// (https://developer.apple.com/documentation/coredata/nsfetchrequest/includespendingchanges). So a child context gets
/// the ones of its root.
extension ContextCore {
  func fetchDictionaries(_ parameters: FetchParameters) throws -> [NSDictionary] {
    endEventToRead()
    if let parent { return try parent.runForChild { try parent.fetchDictionaries(parameters) } }
    if let dictionaries = try dictionariesOfObjects(parameters) { return dictionaries }
    let fetch = try ResolvedFetch(parameters, self)
    let table = try ResolvedTable(fetch, self)
    let origins = self.origins(for: fetch)
    var rows: [TableAnswer] = []
    let views: [any StoreSnapshot]
    do {
      views = try run(fetch, table.plan, origins) { rows.append(TableAnswer(values: $0, store: origins[$1].store)) }
    } catch { throw CoreDataError.make(error) }
    // The rows of these views own the objects among the values.
    return try withExtendedLifetime(views) { try dictionaries(rows, table) }
  }

  func dictionaries(_ rows: [TableAnswer], _ table: ResolvedTable) throws -> [NSDictionary] {
    let maker = DictionaryMaker(self, table.entries)
    do { return try rows.map { (row) throws(StoreError) in try maker.dictionary(row.values, row.store) } } catch {
      throw CoreDataError.make(error)
    }
  }

  /// The number of dictionaries of a request.
  func countDictionaries(_ parameters: FetchParameters) throws -> Int {
    endEventToRead()
    if let parent { return try parent.runForChild { try parent.countDictionaries(parameters) } }
    if let dictionaries = try dictionariesOfObjects(parameters) { return dictionaries.count }
    let fetch = try ResolvedFetch(parameters, self)
    let table = try ResolvedTable(fetch, self)
    var count = 0
    do { _ = try run(fetch, table.plan, origins(for: fetch)) { _, _ in count += 1 } } catch {
      throw CoreDataError.make(error)
    }
    return count
  }

  /// Runs the plan on all stores, and returns the views that were read.
  private func run(
    _ fetch: ResolvedFetch, _ plan: TablePlan, _ origins: [RowOrigin], _ body: ([Value], Int) -> Void
  ) throws(StoreError) -> [any StoreSnapshot] {
    var views: [any StoreSnapshot] = []
    for origin in origins {
      // A fetch reads the newest state.
      origin.dropView()
      views.append(try origin.read(self) { $0.snapshot })
    }
    let predicates = origins.map { fetch.predicate(at: $0.index, in: self) }
    try TableExecution(views, predicates: predicates).run(plan, body)
    return views
  }
}

/// A row of a table, and the store of the references in it.
struct TableAnswer {
  let values: [Value]
  let store: NSPersistentStore
}

/// Makes dictionaries from the rows of a table.
private struct DictionaryMaker {
  private let core: ContextCore
  private let entries: [ResolvedTable.Entry]
  private let keys: [NSString]

  init(_ core: ContextCore, _ entries: [ResolvedTable.Entry]) {
    self.core = core
    self.entries = entries
    keys = entries.map { NSString(string: $0.name) }
  }

  /// Keys whose value is nil are left out.
  func dictionary(_ values: [Value], _ store: NSPersistentStore) throws(StoreError) -> NSDictionary {
    var (present, objects) = ([NSObject](), [AnyObject]())
    present.reserveCapacity(entries.count)
    objects.reserveCapacity(entries.count)
    for (entry, key) in zip(entries, keys) {
      guard let value = try value(of: entry, values, store) else { continue }
      present.append(key)
      objects.append(Self.object(value))
    }
    return NSDictionary(objects: objects, forKeys: present, count: present.count)
  }

  /// The value as an object. Numbers are objects already, and most other values are texts. Both need no cast, which
  /// would take longer than the rest of a row.
  private static func object(_ value: Any) -> AnyObject {
    if let address = ObjectInAny.address(in: value) {
      return withExtendedLifetime(value) { Unmanaged<AnyObject>.fromOpaque(address).takeUnretainedValue() }
    }
    if type(of: value) == String.self, let text = value as? String { return NSString(string: text) }
    return value as AnyObject
  }

  private func value(
    of entry: ResolvedTable.Entry, _ values: [Value], _ store: NSPersistentStore
  ) throws(StoreError) -> Any? {
    let value = values[entry.column]
    switch (entry.form, value) {
    case (.composite(let composite), _):
      var leaves = values[entry.column...].makeIterator()
      return CompositeCoding.dictionary(composite) { _ in leaves.next() ?? .null }
    case (_, .null): return nil
    case (_, .reference(let reference)): return id(of: reference, in: store)
    case (.transformable(let description), .data(let data)): return TransformableCoding.decode(data, description)
    case (.externalData, .data(let data)):
      return data.first == 2 ? try store.requireEngine().externalData(data.dropFirst()) : Data(data.dropFirst())
    case (.attribute(let type), _): return AttributeCoding.decode(value, type)
    case (.expression(let type), _): return ExpressionResult.decode(value, type)
    default: return nil
    }
  }

  private func id(of reference: ObjectReference, in store: NSPersistentStore) -> NSManagedObjectID? {
    (core.frozen?.infos[reference.entity]).map {
      NSManagedObjectID($0, key: reference.key, store: store, family: 0)
    }
  }
}

/// Converts the value of an expression to the result type of its description. A value that cannot be converted stays
/// unchanged.
private enum ExpressionResult {
  static func decode(_ value: Value, _ type: NSAttributeType) -> Any? {
    let known = StoreSchema.AttributeType(rawValue: Int32(type.rawValue)) ?? .undefined
    let cast = cast(value, type)
    return AttributeCoding.decode(cast.isNull ? value : cast, cast.isNull ? .undefined : known)
  }

  private static func cast(_ value: Value, _ type: NSAttributeType) -> Value {
    switch type {
    case .integer16AttributeType: return whole(value, Int64(Int16.min)...Int64(Int16.max))
    case .integer32AttributeType: return whole(value, Int64(Int32.min)...Int64(Int32.max))
    case .integer64AttributeType, .booleanAttributeType: return whole(value, .min ... .max)
    case .doubleAttributeType, .floatAttributeType: return real(CastKernel.number(value))
    case .decimalAttributeType: return CastKernel.decimal(value)
    case .dateAttributeType: return CastKernel.date(value)
    case .stringAttributeType: return CastKernel.string(value)
    case .UUIDAttributeType: return CastKernel.uuid(value)
    case .URIAttributeType: return CastKernel.url(value)
    default: return value
    }
  }

  /// The value without its fraction; null if it is out of range.
  private static func whole(_ value: Value, _ range: ClosedRange<Int64>) -> Value {
    let number: Int64? =
      switch CastKernel.number(value) {
      case .bool(let x): x ? 1 : 0
      case .int(let x): x
      case .double(let x): Int64(exactly: x.rounded(.towardZero))
      // A double has too few digits for a decimal.
      case .decimal(let x): Int64(DecimalText.format(x).prefix { $0 != "." })
      default: nil
      }
    return number.flatMap { range.contains($0) ? .int($0) : nil } ?? .null
  }

  private static func real(_ number: Value) -> Value {
    switch number {
    case .bool(let x): .double(x ? 1 : 0)
    case .int(let x): .double(Double(x))
    case .double: number
    case .decimal(let x): .double(NSDecimalNumber(decimal: x).doubleValue)
    default: .null
    }
  }
}
