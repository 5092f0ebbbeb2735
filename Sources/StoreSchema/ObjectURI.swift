import Foundation

/// The text of object URIs, `x-coredata://STORE/Entity/pN`.
public enum ObjectURI {
  /// The characters that are not encoded in any part of a URI (RFC 3986, 2.3).
  private static let unreserved = CharacterSet(
    charactersIn: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")

  /// The URI of a saved object. `name`, after the letter `p`, is its key, or its name in a client's store. All parts
  /// are percent-encoded.
  public static func text(store identifier: String, entity: String, name: String) -> String {
    "x-coredata://\(host(identifier))/\(path(entity))/p\(path(name))"
  }

  /// The URI of an unsaved object. It names no store.
  public static func text(entity: String, temporary number: Int64) -> String {
    "x-coredata:///\(path(entity))/t\(number)"
  }

  /// The identifier of a store as the host of the URI, percent-encoded, because a file may contain any identifier.
  private static func host(_ identifier: String) -> String { encoded(identifier, unreserved) }

  private static func path(_ text: String) -> String { encoded(text, .urlPathAllowed) }

  private static func encoded(_ text: String, _ allowed: CharacterSet) -> String {
    text.addingPercentEncoding(withAllowedCharacters: allowed) ?? ""
  }
}
