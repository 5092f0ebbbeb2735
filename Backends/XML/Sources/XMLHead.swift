import Foundation
import PropertyLists
import StoreProtocol

/// The beginning of a document, up to its first object.
enum XMLHead {
  /// The version in all samples from 2006 to 2024.
  static let version: Int64 = 134_481_920

  static func text(_ metadata: StoreMetadata, _ highestNumber: Int64) throws(StoreError) -> String {
    // The format does not list the type and the UUID among the entries.
    var entries = metadata.propertyList(isNew: false)
    entries["NSStoreType"] = nil
    entries["NSStoreUUID"] = nil
    let list: String
    do { list = try XMLPropertyListWriter.write(.dictionary(XMLTimes.adding(to: entries)), indent: 12) } catch {
      throw StoreError(.invalidArgument, "The metadata cannot be written in XML.", cause: "\(error)")
    }
    guard metadata.identifier.utf8.allSatisfy({ $0 > 0x20 && !"<>&".utf8.contains($0) }) else {
      throw StoreError(.invalidArgument, "The store's UUID cannot be written in XML.")
    }
    return """
      <?xml version="1.0" standalone="yes"?>
      <!DOCTYPE database SYSTEM "\(XMLScan.documentType)">

      <database>
          <databaseInfo>
              <version>\(version)</version>
              <UUID>\(metadata.identifier)</UUID>
              <nextObjectID>\(highestNumber)</nextObjectID>
              <metadata>
      \(list)        </metadata>
          </databaseInfo>

      """
  }

  /// The part of an existing document behind `databaseInfo`: the objects.
  ///
  /// Throws `unsupported` if a search of bytes cannot find that part reliably: the document has another encoding than
  /// UTF-8, or comments or sections, which may contain any text, before it.
  static func rest(_ document: Data) throws(StoreError) -> Data {
    guard let end = document.range(of: Data("</databaseInfo>".utf8)) else { throw unclear }
    let head = document[..<end.lowerBound]
    for text in ["<!--", "<![CDATA[", "<?"] {
      let found = head.range(of: Data(text.utf8), options: .backwards)
      if let found, text != "<?" || found.lowerBound != head.range(of: Data("<?xml".utf8))?.lowerBound { throw unclear }
    }
    let declaration = head.prefix(while: { $0 != UInt8(ascii: ">") })
    if let position = declaration.range(of: Data("encoding".utf8)) {
      let name = String(decoding: declaration[position.upperBound...], as: UTF8.self).uppercased()
      if !name.contains("UTF-8") && !name.contains("US-ASCII") { throw unclear }
    }
    return document[end.upperBound...].drop { $0 == 0x0A || $0 == 0x0D || $0 == 0x20 || $0 == 0x09 }
  }

  private static let unclear = StoreError(
    .unsupported,
    "The metadata of this document cannot be replaced without its objects. Open the store with its model, and save.")
}
