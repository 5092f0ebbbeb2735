import Foundation
import TestSupport
import Testing

/// `coredata store apply`: every operation, and that it applies all or nothing.
@Suite struct ApplyTests {
  private struct Copy {
    let url: URL
    let model: [String]

    init(_ name: String) throws {
      let fixture = try Fixture(name)
      url = try fixture.copy()
      model = fixture.modelArgument
    }

    func remove() { try? FileManager.default.removeItem(at: url.deletingLastPathComponent()) }

    func apply(_ operations: String) throws -> ToolRun {
      try ToolRun(["store", "apply", url.path, "-"] + model, input: operations)
    }

    func dump() throws -> [String: String] {
      let lines = try ToolRun(["store", "dump", url.path] + model).lines
      return Dictionary(
        lines.compactMap { line in
          guard let object = try? JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any] else {
            return nil
          }
          return ("\(object["entity"] ?? "")/p\(object["key"] ?? "")", String(line))
        }, uniquingKeysWith: { $1 })
    }
  }

  @Test func everyOperationIsCarriedOut() throws {
    let store = try Copy("links")
    defer { store.remove() }
    let before = try store.dump()
    let run = try store.apply(
      """
      {"op":"insert","entity":"Library","as":"l","values":{"name":"Alexandria"}}

      {"op":"insert","entity":"Shelf","as":"s1","values":{"name":"scrolls"}}
      {"op":"insert","entity":"Shelf","as":"s2"}
      {"op":"relate","object":"l","relationship":"shelves","to":["s2","s1"]}
      {"op":"set","object":"City/p1","values":{"name":null}}
      {"op":"relate","object":"Person/p1","relationship":"city","to":"City/p2"}
      {"op":"relate","object":"Person/p1","relationship":"friends","add":["Person/p7"],"remove":["Person/p1551"]}
      {"op":"delete","object":"Photo/p1"}
      """)
    #expect(run.status == 0, "\(run.errors)")
    #expect(run.lines.count == 3)
    #expect(run.lines.first?.hasPrefix(#"{"as":"l","objectID":"x-coredata://"#) == true)
    let after = try store.dump()
    func uri(_ line: Int) -> String {
      let text = run.lines[line].split(separator: "\"").last { $0.hasPrefix("x-coredata") } ?? ""
      return text.split(separator: "/").suffix(2).joined(separator: "/")
    }
    #expect(after[uri(0)]?.contains(#""shelves":["\#(uri(2))","\#(uri(1))"]"#) == true)
    #expect(after["City/p1"]?.contains(#""name""#) == false)
    #expect(after["Person/p1"]?.contains(#""city":"City/p2""#) == true)
    #expect(after["Person/p1"]?.contains(#""Person/p7""#) == true)
    // A pair that the file had in the other direction.
    #expect(before["Person/p1"]?.contains(#""Person/p1551""#) == true)
    #expect(after["Person/p1"]?.contains(#""Person/p1551""#) == false)
    #expect(before["Photo/p1"] != nil && after["Photo/p1"] == nil)
    let verdict = try Python.result(
      ["coredata_format/check_store.py", store.url.path] + store.model + ["--before", Fixture("links").store.path])
    #expect(verdict.status == 0, "\(verdict.output)")
  }

  /// Every kind of value in a dump is read back as the same value.
  @Test func valuesAreThoseOfTheDump() throws {
    let store = try Copy("types")
    defer { store.remove() }
    let before = try store.dump()
    var operations = ""
    var expected: [String] = []
    for (id, line) in before.sorted(by: { $0.key < $1.key }).prefix(300) {
      let object = try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
      let entity = try #require(object["entity"] as? String)
      let start = try #require(line.range(of: #"{"attributes":"#)?.upperBound)
      let end = try #require(line.range(of: #","entity":"#, options: .backwards)?.lowerBound)
      operations += #"{"op":"insert","entity":"\#(entity)","as":"\#(id)","values":\#(line[start..<end])}"# + "\n"
      expected.append(String(line[start..<end]))
    }
    let run = try store.apply(operations)
    #expect(run.status == 0, "\(run.errors)")
    let after = try store.dump()
    let made = try run.lines.map { line -> String in
      let object = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
      let uri = (object?["objectID"] as? String ?? "").split(separator: "/").suffix(2).joined(separator: "/")
      return after[uri] ?? ""
    }
    #expect(made.count == expected.count)
    for (line, attributes) in zip(made, expected) { #expect(line.hasPrefix(#"{"attributes":"# + attributes + ",")) }
  }

  @Test(arguments: [
    (#"{"op":"explode"}"#, "no operation"), (#"{"op":"set","object":"City/p1","value":{}}"#, "no field \"value\""),
    ("[1]", "not a JSON object"), ("{", "not a JSON object"), (#"{"op":"set","object":"City/p999999"}"#, "no object"),
    (#"{"op":"set","object":"x","values":{}}"#, "not an object"), (#"{"op":"insert","entity":"Nothing"}"#, "no entity"),
    (#"{"op":"set","object":"City/p1","values":{"name":5}}"#, "not of its type"),
    (#"{"op":"set","object":"City/p1","values":{"nothing":5}}"#, "no attribute nothing"),
    (#"{"op":"relate","object":"Person/p1","relationship":"city","to":"Person/p2"}"#, "is not a City"),
    (#"{"op":"relate","object":"Person/p1","relationship":"city","add":["City/p2"]}"#, "use \"to\""),
    (#"{"op":"relate","object":"Person/p1","relationship":"friends","to":"Person/p2"}"#, "must be an array"),
    (#"{"op":"relate","object":"Person/p1","relationship":"nothing","to":null}"#, "no relationship"),
  ])
  func anErrorInTheLastLineChangesNothing(_ line: String, _ message: String) throws {
    let links = try Copy("links")
    defer { links.remove() }
    let folder = links.url.deletingLastPathComponent()
    // SQLite makes files beside a store that is opened for writing, and removes them again.
    func content() throws -> [String: Data] {
      let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
      return Dictionary(try names.map { ($0, try Data(contentsOf: folder.appending(path: $0))) }) { $1 }
    }
    let before = try content()
    let run = try links.apply(#"{"op":"delete","object":"Photo/p1"}"# + "\n" + line)
    #expect(run.status == 1 && run.output.isEmpty)
    #expect(run.errors.contains("Line 2") && run.errors.contains(message), "\(run.errors)")
    #expect(try content() == before)
  }

  @Test func whatTheModelForbidsIsNotSaved() throws {
    let store = try Copy("types")
    defer { store.remove() }
    let before = try store.dump()
    let run = try store.apply(
      #"{"op":"set","object":"\#(before.keys.filter { $0.hasPrefix("Numbers") }.min() ?? "")","values":{"count":null}}"#
    )
    #expect(run.status == 1 && run.errors.contains("cannot be saved"), "\(run.errors)")
    #expect(try store.dump() == before)
  }

  @Test func withoutAModelNothingIsWritten() throws {
    let store = try Copy("legacy")
    defer { store.remove() }
    let run = try ToolRun(["store", "apply", store.url.path, "-"], input: #"{"op":"delete","object":"Show/p1"}"#)
    #expect(run.status == 1 && run.errors.contains("--model"))
  }
}
