import Foundation

/// The text of object URIs, `x-coredata://STORE/Entity/pN`.
public enum ObjectURI {
  /// The identifier of a store as the host of the URI. A file may have any text there; what a host may not have is
  /// percent-encoded.
  public static func host(_ identifier: String) -> String {
    identifier.addingPercentEncoding(withAllowedCharacters: .urlHostAllowed) ?? ""
  }
}
