import Foundation
import Testing

@testable import SourceRewriter

/// Sources that were cut and changed at random.
@Suite struct MutationTests {
  private static let source = """
    import CoreData
    import UIKit
    @objc(Student) @objcMembers public class Student: NSManagedObject {
      /* a /* nested */ comment */ @NSManaged public var name: String?, ages: [String: [Int]]!
      @objc(insertObject:inItemsAtIndex:) @NSManaged func insert(_ value: Item, at idx: Int)
      #if os(iOS)
      dynamic var x = "\\(#keyPath(Student.name.count)) \\("inner \\(y)")"
      #else
      var x = #"raw \\#(z) "quoted" "#
      #endif
      let text = \"""
        many \\(lines) "here"
        \"""
      let regex = /a[/]b\\/c/
    }
    extension Student { override public func awakeFromInsert() throws { f(#selector(NSString.compare(_:))) } }
    """

  /// The lines of the source above and of each file of Tests/Constructs.
  private static func originals() throws -> [[Substring]] {
    let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .appending(path: "Constructs/Sources/Constructs/Layer")
    let names = try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
    let texts = try names.map { try String(contentsOf: folder.appending(path: $0), encoding: .utf8) }
    return ([source] + texts).map { $0.split(separator: "\n", omittingEmptySubsequences: false) }
  }

  /// The tokens are in order, in bounds, and on their lines, and the rewriter ends. With OPENCOREDATA_REWRITING, a file
  /// has each source with the changes that are reported and the result: `Scripts/rewriting` compares them.
  @Test func `no source stops the rewriter`() throws {
    let originals = try Self.originals()
    #expect(originals.count > 10)
    var generator = Seed(state: 25)
    var records = Data()
    let file = ProcessInfo.processInfo.environment["OPENCOREDATA_REWRITING"]
    for _ in 0..<10_000 {
      let lines = originals.randomElement(using: &generator)!
      let start = Int.random(in: 0..<lines.count, using: &generator)
      let window = lines[start...].prefix(Int.random(in: 1...40, using: &generator))
      let bytes = mutated(Array(window.joined(separator: "\n").utf8), &generator)
      check(bytes)
      let output = Rewriter([.init(path: "a.swift", bytes: bytes)]).outputs[0]
      guard file != nil else { continue }
      let record = Record(
        source: Data(bytes), result: Data(output.bytes),
        changes: output.changes.map {
          .init(start: $0.range.lowerBound, end: $0.range.upperBound, text: Data($0.text.utf8))
        })
      records += try JSONEncoder().encode(record) + [0x0A]
    }
    if let file { try records.write(to: URL(filePath: file)) }
  }

  private struct Record: Encodable {
    struct Change: Encodable {
      var start, end: Int
      var text: Data
    }

    var source, result: Data
    var changes: [Change]
  }

  private func mutated(_ original: [UInt8], _ generator: inout Seed) -> [UInt8] {
    var bytes = original
    for _ in 0..<Int.random(in: 1...6, using: &generator) where !bytes.isEmpty {
      let index = Int.random(in: 0..<bytes.count, using: &generator)
      switch Int.random(in: 0..<9, using: &generator) {
      case 0, 1: bytes.remove(at: index)
      case 2, 3: bytes[index] = UInt8.random(in: 0...255, using: &generator)
      case 4, 5: bytes.insert(original.randomElement(using: &generator)!, at: index)
      case 6, 7: bytes.removeSubrange(index..<min(index + 30, bytes.count))
      default: bytes.removeSubrange(index...)
      }
    }
    return bytes
  }

  private func check(_ bytes: [UInt8]) {
    var (end, line, position) = (0, 1, 0)
    for token in Lexer.tokens(bytes) {
      guard token.range.lowerBound >= end, token.range.upperBound <= bytes.count, !token.range.isEmpty else {
        Issue.record("the token \(token) of \(String(decoding: bytes, as: UTF8.self))")
        return
      }
      line += bytes[position..<token.range.lowerBound].count { $0 == UInt8(ascii: "\n") }
      position = token.range.lowerBound
      end = token.range.upperBound
      if token.line != line { Issue.record("\(token) is on line \(line)") }
    }
  }

  @Test(arguments: [
    "extension A { override func l()-", "extension A { override func l()->", "extension A { override func l() where",
    "class A: NSManagedObject { @NSManaged func addToX(_ a: A)-", "@objc class A: NSManagedObject { @NSManaged var",
    "class A: NSManagedObject { @NSManaged var a:", "let a = #keyPath(", "f(#selector(", "extension A { func f<",
    "extension A { override func f(_ a = x ? 1 : 2) {} }\nclass A: NSManagedObject {}",
  ])
  func `a source that ends too early, or is none, does not stop the rewriter`(_ text: String) {
    let output = Rewriter([.init(path: "a.swift", text: text)]).outputs[0]
    #expect(String(decoding: output.bytes, as: UTF8.self).contains("#sourceLocation(file: \"a.swift\", line: 1)"))
  }
}

/// Numbers that a seed determines.
private struct Seed: RandomNumberGenerator {
  var state: UInt64

  mutating func next() -> UInt64 {
    state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
    return state ^ (state >> 29)
  }
}
