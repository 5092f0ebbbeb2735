/// What names of entities and properties may be: stores make names of tables, columns and files of them.
public enum SchemaName {
  /// Whether a name has only letters, digits and underscores; of other alphabets anything goes.
  public static func isWord(_ name: String) -> Bool {
    name.utf8.allSatisfy {
      $0 >= 0x80 || $0 == UInt8(ascii: "_") || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0)
        || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains($0 | 0x20)
    }
  }
}
