import Foundation
import StoreProtocol

extension StoreError.Code {
  /// The code for a call of the system that has failed with an `errno`.
  public init(systemError number: Int32) {
    self =
      switch number {
      case ENOENT, ENOTDIR: .notFound
      case ENOSPC, EDQUOT, EFBIG: .full
      case EACCES, EPERM, EROFS: .readOnly
      default: .io
      }
  }
}

extension StoreError {
  /// The error for a system call on `path` that has just failed, by `errno`. `what` is a sentence without its full
  /// stop.
  public static func system(_ what: String, _ path: String) -> StoreError { system(errno, what, path) }

  /// The same for an `errno` that was kept.
  public static func system(_ number: Int32, _ what: String, _ path: String) -> StoreError {
    StoreError(
      Code(systemError: number), what + ".", context: ["path": path, "errno": String(number)],
      cause: String(cString: strerror(number)))
  }

  /// The error of an open store whose file was removed, or replaced by another store.
  public static func replaced(_ path: String) -> StoreError {
    StoreError(
      .replaced,
      "The store's file was removed, or replaced by another store. Nothing was saved. Remove the store from its coordinator, and add the store that is at the URL now.",
      context: ["path": path])
  }
}
