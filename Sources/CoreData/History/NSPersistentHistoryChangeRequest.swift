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

  private let bound: Bound
  private let deletes: Bool
  open var resultType = NSPersistentHistoryResultType.transactionsAndChanges
  /// Which transactions or changes to give.
  open var fetchRequest: NSFetchRequest<any NSFetchRequestResult>?
  open var token: NSPersistentHistoryToken? { if case .token(let token) = bound { token } else { nil } }

  private init(_ bound: Bound, deletes: Bool) {
    self.bound = bound
    self.deletes = deletes
    super.init()
    if case .fetch(let request) = bound { fetchRequest = request }
    if deletes { resultType = .statusOnly }
  }

  open class func fetchHistory(after date: Date) -> NSPersistentHistoryChangeRequest {
    NSPersistentHistoryChangeRequest(.date(date), deletes: false)
  }

  /// All history for a nil token.
  open class func fetchHistory(after token: NSPersistentHistoryToken?) -> NSPersistentHistoryChangeRequest {
    NSPersistentHistoryChangeRequest(.token(token), deletes: false)
  }

  open class func fetchHistory(after transaction: NSPersistentHistoryTransaction?) -> NSPersistentHistoryChangeRequest {
    NSPersistentHistoryChangeRequest(.transaction(transaction), deletes: false)
  }

  open class func fetchHistory<T: NSFetchRequestResult>(
    withFetch fetchRequest: NSFetchRequest<T>
  ) -> NSPersistentHistoryChangeRequest {
    NSPersistentHistoryChangeRequest(.fetch(fetchRequest.retyped(as: (any NSFetchRequestResult).self)), deletes: false)
  }

  open class func deleteHistory(before date: Date) -> NSPersistentHistoryChangeRequest {
    NSPersistentHistoryChangeRequest(.date(date), deletes: true)
  }

  open class func deleteHistory(before token: NSPersistentHistoryToken?) -> NSPersistentHistoryChangeRequest {
    NSPersistentHistoryChangeRequest(.token(token), deletes: true)
  }

  open class func deleteHistory(
    before transaction: NSPersistentHistoryTransaction?
  ) -> NSPersistentHistoryChangeRequest {
    NSPersistentHistoryChangeRequest(.transaction(transaction), deletes: true)
  }
}

/// What a history request gives, by `resultType`.
open class NSPersistentHistoryResult: NSPersistentStoreResult {
  public let result: Any?
  public let resultType: NSPersistentHistoryResultType

  init(_ result: Any?, _ type: NSPersistentHistoryResultType) {
    self.result = result
    resultType = type
  }
}
