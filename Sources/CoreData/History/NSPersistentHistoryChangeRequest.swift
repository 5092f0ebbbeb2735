import Foundation

/// The kind of result of a history request. History requests do not run yet.
public enum NSPersistentHistoryResultType: Int, Sendable {
  /// Whether it succeeded: a `Bool`.
  case statusOnly = 0
  /// The IDs of the changed objects.
  case objectIDs = 1
  /// The number of changes.
  case count = 2
  /// Transactions without their changes.
  case transactionsOnly = 3
  /// Changes without their transactions.
  case changesOnly = 4
  /// Transactions with their changes.
  case transactionsAndChanges = 5
}

/// Reads or deletes persistent history. Not supported yet: executing it throws 134091. Stores that track history write
/// it.
open class NSPersistentHistoryChangeRequest: NSPersistentStoreRequest {
  private enum Bound {
    case date(Date)
    case token(NSPersistentHistoryToken?)
    case transaction(NSPersistentHistoryTransaction?)
    case fetch(NSFetchRequest<any NSFetchRequestResult>)
  }

  private var bound = Bound.token(nil)
  private var deletes = false
  /// The kind of result: transactions with their changes unless set; for a request that deletes, only whether it
  /// succeeded.
  open var resultType = NSPersistentHistoryResultType.transactionsAndChanges
  /// The transactions or changes to return.
  open var fetchRequest: NSFetchRequest<any NSFetchRequestResult>?
  /// The token that the request was made with; nil where it was made with something else.
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

  /// A request for the transactions after a date.
  open class func fetchHistory(after date: Date) -> Self { make(.date(date), deletes: false) }

  /// A request for the transactions after a token; all history with nil.
  open class func fetchHistory(after token: NSPersistentHistoryToken?) -> Self { make(.token(token), deletes: false) }

  /// A request for the transactions after another one; for all history with nil.
  open class func fetchHistory(after transaction: NSPersistentHistoryTransaction?) -> Self {
    make(.transaction(transaction), deletes: false)
  }

  /// A request for the transactions or changes that a fetch request selects.
  open class func fetchHistory(withFetch fetchRequest: NSFetchRequest<any NSFetchRequestResult>) -> Self {
    make(.fetch(fetchRequest), deletes: false)
  }

  /// The same for a request that names the type of its results.
  public final class func fetchHistory<T: NSFetchRequestResult>(withFetch fetchRequest: NSFetchRequest<T>) -> Self {
    make(.fetch(fetchRequest.retyped()), deletes: false)
  }

  /// A request that deletes the history before a date.
  open class func deleteHistory(before date: Date) -> Self { make(.date(date), deletes: true) }

  /// A request that deletes the history before a token; all history with nil.
  open class func deleteHistory(before token: NSPersistentHistoryToken?) -> Self { make(.token(token), deletes: true) }

  /// A request that deletes the history before a transaction; all history with nil.
  open class func deleteHistory(before transaction: NSPersistentHistoryTransaction?) -> Self {
    make(.transaction(transaction), deletes: true)
  }
}

/// The result of a history request, by `resultType`.
open class NSPersistentHistoryResult: NSPersistentStoreResult {
  private let content: (result: Any?, type: NSPersistentHistoryResultType)
  /// A `Bool`, a number, object IDs, transactions or changes, as ``resultType`` says; nil where there is none.
  open var result: Any? { content.result }
  /// What ``result`` is.
  open var resultType: NSPersistentHistoryResultType { content.type }

  init(_ result: Any?, _ type: NSPersistentHistoryResultType) { content = (result, type) }
}
