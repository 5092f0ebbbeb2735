import Foundation

/// Errors of migration, none of which can be done yet.
enum MigrationError {
  static func notYet(_ code: CocoaError.Code, _ what: String) -> CocoaError {
    CocoaError(code, userInfo: [NSLocalizedDescriptionKey: "\(what) is not supported yet."])
  }
}
