import AtomicEngine
import CXMLParser
import Foundation
import StoreProtocol

/// Receives the content of a document, piece by piece. An error thrown by a handler ends the scan.
protocol XMLHandler: AnyObject {
  /// Whether the scan may end.
  var isDone: Bool { get }
  /// Whether the handler needs the types of properties.
  var wantsTypes: Bool { get }
  /// The start of an element outside of objects. `text` and `end` follow.
  func start(_ name: XMLName) throws(StoreError)
  func text(_ bytes: UnsafeRawBufferPointer) throws(StoreError)
  func end(_ name: XMLName) throws(StoreError)
  /// An object in the root element. An object with many properties comes in several parts. Valid during the call.
  func object(_ object: cxml_object) throws(StoreError)
}

/// The name of an element. Valid during the call.
struct XMLName {
  let start: UnsafePointer<CChar>

  var string: String { String(cString: start) }

  static func == (name: XMLName, text: StaticString) -> Bool {
    text.utf8Start.withMemoryRebound(to: CChar.self, capacity: text.utf8CodeUnitCount + 1) {
      strcmp(name.start, $0) == 0
    }
  }
}

extension cxml_text {
  /// The bytes, nil for an absent text.
  @inline(__always)
  var value: UnsafeRawBufferPointer? { bytes.map { UnsafeRawBufferPointer(start: $0, count: count) } }

  var string: String? { value.map { String(decoding: $0, as: UTF8.self) } }
}

/// Reads a document. The document type that Core Data writes is allowed and not fetched; any other is refused.
enum XMLScan {
  static let documentType = "file:///System/Library/DTDs/CoreData.dtd"

  /// A function that passes a document to `body`, part by part, until the last part or until `body` returns false.
  typealias Parts = (
    _ body: (_ part: UnsafeRawBufferPointer, _ isLast: Bool) throws(StoreError) -> Bool
  ) throws(StoreError) -> Void

  /// Reads part by part, until the handler is done.
  static func run(_ file: AtomicFileContent, _ handler: some XMLHandler) throws(StoreError) {
    try run(handler) { (body) throws(StoreError) in try file.forEachPart(body) }
  }

  static func run(_ handler: some XMLHandler, _ parts: Parts) throws(StoreError) {
    let state = State(handler)
    var events = events
    guard
      let parser = cxml_make(
        &events, Unmanaged.passUnretained(state).toOpaque(), "database", documentType, handler.wantsTypes ? 1 : 0)
    else {
      throw StoreError(
        .io, "There is not enough memory to read the store. Close other stores, or read on a machine with more memory.")
    }
    state.parser = parser
    defer { cxml_free(parser) }
    var result: Int32 = 0
    try parts { (part, isLast) in
      let bytes = part.bindMemory(to: CChar.self)
      result = cxml_parse(parser, bytes.baseAddress, Int32(bytes.count), isLast ? 1 : 0)
      return result == 0 && !state.hasEnded
    }
    if let failure = state.failure { throw failure }
    if result != 0 && !handler.isDone {
      let cause = cxml_error(parser).map { String(cString: $0).trimmingCharacters(in: .whitespacesAndNewlines) }
      throw StoreError(
        state.hasRoot ? .corrupt : .notAStore, "The file is no XML document of Core Data, or a damaged one.",
        context: ["line": String(cxml_line(parser))], cause: cause)
    }
  }

  /// The state behind the context pointer of the parser's callbacks.
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
      // The parser makes no calls after it was stopped.
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
    start: { context, name in
      guard let name else { return }
      State.at(context)?.call { (handler) throws(StoreError) in try handler.start(XMLName(start: name)) }
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
    object: { context, object in
      guard let object else { return }
      State.at(context)?.call { (handler) throws(StoreError) in try handler.object(object.pointee) }
    },
    too_deep: { context in
      State.at(context)?.call { (_) throws(StoreError) in
        throw StoreError(.corrupt, "The elements of the store are nested too deeply.")
      }
    },
    refuse: { context, what in State.at(context)?.refuse(what.map { String(cString: $0) } ?? "") })
}
