import CXMLParser
import Foundation
import StoreProtocol

/// What a document says, piece by piece. Whoever throws ends the scan.
protocol XMLHandler: AnyObject {
  /// Whether enough was read.
  var isDone: Bool { get }
  func start(_ element: XMLElement) throws(StoreError)
  func text(_ bytes: UnsafeRawBufferPointer) throws(StoreError)
  func end(_ name: XMLName) throws(StoreError)
}

/// The name of an element, valid during the call.
struct XMLName {
  let start: UnsafePointer<CChar>

  var string: String { String(cString: start) }

  static func == (name: XMLName, text: StaticString) -> Bool {
    text.utf8Start.withMemoryRebound(to: CChar.self, capacity: text.utf8CodeUnitCount + 1) {
      strcmp(name.start, $0) == 0
    }
  }
}

/// The start of an element, valid during the call.
struct XMLElement {
  let name: XMLName
  let attributes: UnsafeBufferPointer<cxml_attribute>

  /// The bytes of an attribute's value, nil where there is none.
  func value(_ name: StaticString) -> UnsafeRawBufferPointer? {
    for attribute in attributes where XMLName(start: attribute.name) == name {
      return UnsafeRawBufferPointer(start: attribute.value, count: attribute.length)
    }
    return nil
  }

  func text(_ name: StaticString) -> String? { value(name).map { String(decoding: $0, as: UTF8.self) } }
}

/// Reads a document. Its type may be the one that Core Data writes, which is not fetched; any other is refused.
enum XMLScan {
  static let documentType = "file:///System/Library/DTDs/CoreData.dtd"

  static func run(_ file: Data, _ handler: some XMLHandler) throws(StoreError) {
    let state = State(handler)
    var events = events
    guard
      let parser = cxml_make(&events, Unmanaged.passUnretained(state).toOpaque(), "database", documentType)
    else { throw StoreError(.io, "There is no memory for reading the store.") }
    state.parser = parser
    defer { cxml_free(parser) }
    let result = file.withUnsafeBytes { bytes in
      var rest = bytes.bindMemory(to: CChar.self)[...]
      var result: Int32 = 0
      repeat {
        let part = UnsafeBufferPointer(rebasing: rest.prefix(1 << 16))
        rest = rest.dropFirst(part.count)
        result = cxml_parse(parser, part.baseAddress, Int32(part.count), rest.isEmpty ? 1 : 0)
      } while result == 0 && !rest.isEmpty && !state.hasEnded
      return result
    }
    if let failure = state.failure { throw failure }
    if result != 0 && !handler.isDone {
      let cause = cxml_error(parser).map { String(cString: $0).trimmingCharacters(in: .whitespacesAndNewlines) }
      throw StoreError(
        state.hasRoot ? .corrupt : .notAStore, "The file is no XML document of Core Data, or a damaged one.",
        context: ["line": String(cxml_line(parser))], cause: cause)
    }
  }

  /// What the parser's functions find behind their pointer.
  private final class State {
    private let handler: any XMLHandler
    var parser: OpaquePointer?
    private(set) var failure: StoreError?
    private(set) var hasRoot = false
    var hasEnded: Bool { failure != nil || handler.isDone }

    init(_ handler: any XMLHandler) { self.handler = handler }

    static func at(_ context: UnsafeMutableRawPointer?) -> State? {
      context.map { Unmanaged<State>.fromOpaque($0).takeUnretainedValue() }
    }

    @inline(__always)
    func call(_ body: (any XMLHandler) throws(StoreError) -> Void) {
      // After the end the parser calls no more.
      if failure != nil { return }
      hasRoot = true
      do { try body(handler) } catch { failure = error }
      if hasEnded { cxml_stop(parser) }
    }

    func refuse(_ what: String) {
      failure = failure ?? StoreError(.notAStore, "The document \(what), which Core Data does not write.")
    }
  }

  private static let events = cxml_events(
    start: { context, name, attributes, count in
      guard let name else { return }
      let element = XMLElement(
        name: XMLName(start: name), attributes: UnsafeBufferPointer(start: attributes, count: Int(count)))
      State.at(context)?.call { (handler) throws(StoreError) in try handler.start(element) }
    },
    text: { context, bytes, count in
      State.at(context)?.call { (handler) throws(StoreError) in
        try handler.text(UnsafeRawBufferPointer(start: bytes, count: Int(count)))
      }
    },
    end: { context, name in
      guard let name else { return }
      State.at(context)?.call { (handler) throws(StoreError) in try handler.end(XMLName(start: name)) }
    },
    refuse: { context, what in State.at(context)?.refuse(what.map { String(cString: $0) } ?? "") })
}
