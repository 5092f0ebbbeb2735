import AtomicEngine
import Foundation
import StoreProtocol
import StoreSupport

/// Reads the objects of a damaged document, each as a document of its own. An object that cannot be parsed is lost; the
/// others are not affected.
///
/// Core Data escapes text, so `<object ` and `</object>` occur only where an object begins and ends.
struct XMLSalvage {
  private let salvage: Salvage
  private let numbering: AtomicNumbering
  private var reader: XMLGraphReader
  private static let start = Data("<object ".utf8)
  private static let end = Data("</object>".utf8)
  private static let infoEnd = Data("</databaseInfo>".utf8)
  private static let head = Data("<database><databaseInfo></databaseInfo>".utf8)
  private static let tail = Data("</database>".utf8)
  /// The number of bytes that are parsed at once.
  private static let partSize = 3 << 15

  init(_ salvage: Salvage, _ numbering: AtomicNumbering) {
    self.salvage = salvage
    self.numbering = numbering
    reader = XMLGraphReader(salvage, numbering)
  }

  mutating func run(_ document: Data) {
    var next = document.range(of: Self.start)
    let first = next?.lowerBound ?? document.endIndex
    // A `databaseInfo` without an end was reported with the metadata.
    if let end = document[..<first].range(of: Self.infoEnd)?.upperBound {
      lookBetween(document[end..<first], isLast: next == nil)
    } else if next == nil {
      lose("There is no object in the document", "")
    }
    while let position = next {
      next = document.range(of: Self.start, in: position.upperBound..<document.endIndex)
      let text = document[position.lowerBound..<(next?.lowerBound ?? document.endIndex)]
      let end = text.range(of: Self.end)?.upperBound
      read(text[..<(end ?? text.endIndex)])
      if let end { lookBetween(text[end...], isLast: next == nil) }
    }
  }

  private mutating func read(_ text: Data) {
    let document = Self.head + text + Self.tail
    do {
      try XMLScan.run(reader) { (body) throws(StoreError) in
        let result: Result<Void, StoreError> = document.withUnsafeBytes { bytes in
          Result { () throws(StoreError) in
            for start in stride(from: 0, to: bytes.count, by: Self.partSize) {
              let end = min(start + Self.partSize, bytes.count)
              if try !body(UnsafeRawBufferPointer(rebasing: bytes[start..<end]), end == bytes.count) { return }
            }
          }
        }
        try result.get()
      }
    } catch {
      lose(Self.beginning(text), error.cause ?? error.message)
      // The reader is inside an element that never ended, so a new one is needed.
      reader = XMLGraphReader(salvage, numbering)
    }
  }

  /// Reports text between objects, and a missing end of the document.
  private func lookBetween(_ text: Data, isLast: Bool) {
    let rest = text.filter { ![0x20, 0x09, 0x0A, 0x0D].contains($0) }
    if rest.isEmpty && !isLast || isLast && rest == Self.tail { return }
    if rest.isEmpty { return lose("The document", "its end is missing") }
    lose(Self.beginning(rest), "it is no object")
  }

  private static func beginning(_ text: Data) -> String {
    String(decoding: text.prefix(80).prefix { $0 != UInt8(ascii: ">") }, as: UTF8.self) + ">"
  }

  private func lose(_ what: String, _ why: String) {
    salvage.lose(StoreFinding(.integrity, why.isEmpty ? "\(what)." : "\(what) cannot be read: \(why)."))
  }
}
