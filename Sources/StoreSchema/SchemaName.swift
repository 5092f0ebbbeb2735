/// The rule for names of entities and properties. Stores use them in names of tables, columns and files.
public enum SchemaName {
  /// Whether a name has only letters, digits and underscores. Characters outside of ASCII are all allowed.
  public static func isWord(_ name: String) -> Bool {
    name.utf8.allSatisfy {
      $0 >= 0x80 || $0 == UInt8(ascii: "_") || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0)
        || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains($0 | 0x20)
    }
  }
}
