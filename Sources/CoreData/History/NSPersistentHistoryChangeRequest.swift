import Foundation

public enum NSPersistentHistoryResultType: Int, Sendable {
  case statusOnly = 0
  case objectIDs = 1
  case count = 2
  case transactionsOnly = 3
  case changesOnly = 4
  case transactionsAndChanges = 5
}

/// Reads or deletes persistent history. Not yet: executing it throws 134091. History is written where a store has it.
open class NSPersistentHistoryChangeRequest: NSPersistentStoreRequest {
  private enum Bound {
    case date(Date)
    case token(NSPersistentHistoryToken?)
    case transaction(NSPersistentHistoryTransaction?)
    case fetch(NSFetchRequest<any NSFetchRequestResult>)
  }

  private var bound = Bound.token(nil)
  private var deletes = false
  open var resultType = NSPersistentHistoryResultType.transactionsAndChanges
  /// Which transactions or changes to give.
  open var fetchRequest: NSFetchRequest<any NSFetchRequestResult>?
  open var token: NSPersistentHistoryToken? { if case .token(let token) = bound { token } else { nil } }

  /// A request for all history.
  public required override init() { super.init() }

  private static func make(_ bound: Bound, deletes: Bool) -> Self {
    let request = self.init()
    (request.bound, request.deletes) = (bound, deletes)
    if case .fetch(let fetch) = bound { request.fetchRequest = fetch }
    if deletes { request.resultType = .statusOnly }
    return request
  }

  open class func fetchHistory(after date: Date) -> Self { make(.date(date), deletes: false) }

  /// All history for a nil token.
  open class func fetchHistory(after token: NSPersistentHistoryToken?) -> Self { make(.token(token), deletes: false) }

  open class func fetchHistory(after transaction: NSPersistentHistoryTransaction?) -> Self {
    make(.transaction(transaction), deletes: false)
  }

  open class func fetchHistory(withFetch fetchRequest: NSFetchRequest<any NSFetchRequestResult>) -> Self {
    make(.fetch(fetchRequest), deletes: false)
  }

  /// The same for a request that names the type of its results.
  public final class func fetchHistory<T: NSFetchRequestResult>(withFetch fetchRequest: NSFetchRequest<T>) -> Self {
    make(.fetch(fetchRequest.retyped()), deletes: false)
  }

  open class func deleteHistory(before date: Date) -> Self { make(.date(date), deletes: true) }

  open class func deleteHistory(before token: NSPersistentHistoryToken?) -> Self { make(.token(token), deletes: true) }

  open class func deleteHistory(before transaction: NSPersistentHistoryTransaction?) -> Self {
    make(.transaction(transaction), deletes: true)
  }
}

/// What a history request gives, by `resultType`.
open class NSPersistentHistoryResult: NSPersistentStoreResult {
  private let content: (result: Any?, type: NSPersistentHistoryResultType)
  open var result: Any? { content.result }
  open var resultType: NSPersistentHistoryResultType { content.type }

  init(_ result: Any?, _ type: NSPersistentHistoryResultType) { content = (result, type) }
}
