import CoreData
import Foundation
import ModelFiles
import StoreProtocol
import StoreQuery
import StoreSchema

/// Converts errors to one sentence for people.
enum ErrorText {
  static func sentence(_ error: any Error) -> String {
    switch error {
    case let error as ToolError: error.message
    case let error as StoreError: sentence(error)
    case let error as CocoaError: cocoa(error)
    default: "\(error)"
    }
  }

  private static func sentence(_ error: StoreError) -> String {
    let fields = ["path", "entity", "table", "attribute"].compactMap { name in
      error.context[name].map { "\(name) \($0)" }
    }
    let details = fields + (error.cause.map { [$0] } ?? [])
    return details.isEmpty ? error.message : "\(error.message) (\(details.joined(separator: "; ")))"
  }

  private static func cocoa(_ error: CocoaError) -> String {
    if let store = error.userInfo[NSUnderlyingErrorKey] as? StoreError { return sentence(store) }
    if let all = error.userInfo[NSDetailedErrorsKey] as? [any Error] {
      return all.map(sentence).joined(separator: " ")
    }
    guard let text = error.userInfo[NSLocalizedDescriptionKey] as? String else { return error.localizedDescription }
    guard let path = error.userInfo[NSFilePathErrorKey] as? String, !text.contains(path) else { return text }
    return "\(text) (path \(path))"
  }
}
