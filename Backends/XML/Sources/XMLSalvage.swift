import AtomicEngine
import Foundation
import StoreProtocol

/// Reads the objects of a damaged document, each as a document of its own: one that is no element costs nothing but itself.
///
/// Text is escaped in what Core Data writes, so that `<object ` stands nowhere but where an object begins.
struct XMLSalvage {
  private let salvage: Salvage
  private let numbering: AtomicNumbering
  private var reader: XMLGraphReader
  private static let start = Data("<object ".utf8)
  private static let end = Data("</object>".utf8)
  private static let head = Data("<database><databaseInfo></databaseInfo>".utf8)
  private static let tail = Data("</database>".utf8)

  init(_ salvage: Salvage, _ numbering: AtomicNumbering) {
    self.salvage = salvage
    self.numbering = numbering
    reader = XMLGraphReader(salvage, numbering)
  }

  mutating func run(_ document: Data) {
    var next = document.range(of: Self.start)
    if next == nil { salvage.lose(StoreFinding(.integrity, "There is no object in the document.")) }
    while let place = next {
      next = document.range(of: Self.start, in: place.upperBound..<document.endIndex)
      read(document[place.lowerBound..<(next?.lowerBound ?? document.endIndex)])
    }
  }

  private mutating func read(_ text: Data) {
    let end = text.range(of: Self.end, options: .backwards)?.upperBound ?? text.endIndex
    let document = Self.head + text[..<end] + Self.tail
    do {
      try XMLScan.run(reader) { (body) throws(StoreError) in
        let result: Result<Bool, StoreError> = document.withUnsafeBytes { bytes in
          Result { () throws(StoreError) in try body(bytes, true) }
        }
        _ = try result.get()
      }
    } catch {
      let beginning = String(decoding: text.prefix(80).prefix { $0 != UInt8(ascii: ">") }, as: UTF8.self)
      salvage.lose(StoreFinding(.integrity, "\(beginning)> cannot be read: \(error.cause ?? error.message)"))
      // It stands within an element that never ended.
      reader = XMLGraphReader(salvage, numbering)
    }
  }
}
