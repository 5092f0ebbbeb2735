import Foundation

/// The text of object URIs, `x-coredata://STORE/Entity/pN`.
public enum ObjectURI {
  /// What stands for itself in every part of a URI (RFC 3986, 2.3).
  private static let unreserved = CharacterSet(
    charactersIn: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")

  /// The identifier of a store as the host of the URI, percent-encoded: a file may have any text there.
  public static func host(_ identifier: String) -> String {
    identifier.addingPercentEncoding(withAllowedCharacters: unreserved) ?? ""
  }
}
