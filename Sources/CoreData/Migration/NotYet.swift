import Foundation

/// Errors of migration, which is not supported yet.
enum MigrationError {
  static func notYet(_ code: CocoaError.Code, _ what: String) -> CocoaError {
    CocoaError(code, userInfo: [NSLocalizedDescriptionKey: "\(what) is not supported yet."])
  }
}
