import Foundation
import StoreConformance

/// The command line: a command, what it is about, and options.
struct Arguments {
  var command = ""
  var operands: [String] = []
  private var options: [String: [String]] = [:]

  /// Options that stand alone.
  private static let flags: Set<String> = [
    "--all", "--json", "--in-process", "--quiet", "--help", "--operators",
  ]
  private static let valued: Set<String> = [
    "--backend", "--at", "--option", "--only", "--profile", "--seed", "--jobs", "--format", "--output", "--size",
    "--package", "--timeout", "--operations", "--expectations", "--case", "--url", "--harness", "--replay-to",
    "--count", "--n", "--show", "--least-pushed",
  ]

  init(_ words: [String]) throws(UsageError) {
    var rest = words[...]
    while let word = rest.popFirst() {
      if Self.flags.contains(word) {
        options[word, default: []].append("")
      } else if Self.valued.contains(word) {
        guard let value = rest.popFirst() else { throw UsageError("\(word) needs a value") }
        options[word, default: []].append(value)
      } else if word.hasPrefix("--") {
        throw UsageError("there is no option \(word)")
      } else if command.isEmpty {
        command = word
      } else {
        operands.append(word)
      }
    }
  }

  func has(_ option: String) -> Bool { options[option] != nil }
  func values(_ option: String) -> [String] { options[option] ?? [] }
  func value(_ option: String) -> String? { options[option]?.last }

  func number<N: FixedWidthInteger>(_ option: String, default standard: N) throws(UsageError) -> N {
    guard let text = value(option) else { return standard }
    guard let number = N(text) else { throw UsageError("\(option) is to be a number, not \(text)") }
    return number
  }

  /// The harnesses that `--backend` and `--all` select.
  func harnesses(of all: [any StoreHarness]) throws(UsageError) -> [any StoreHarness] {
    let names = values("--backend")
    if names.isEmpty || has("--all") { return all }
    return try names.map { (name) throws(UsageError) in
      guard let found = all.first(where: { $0.name == name }) else {
        throw UsageError("there is no store \(name); there are \(all.map(\.name).joined(separator: ", "))")
      }
      return found
    }
  }

  func profiles() throws(UsageError) -> [Profile] {
    let names = values("--profile")
    if names.isEmpty || names == ["all"] { return Profile.allCases }
    return try names.map { (name) throws(UsageError) in
      guard let profile = Profile(rawValue: name) else {
        throw UsageError(
          "there is no profile \(name); there are \(Profile.allCases.map(\.rawValue).joined(separator: ", "))")
      }
      return profile
    }
  }

  func size() throws(UsageError) -> Size {
    guard let name = value("--size") else { return .small }
    guard let size = Size(rawValue: name) else { throw UsageError("--size is S, M or L") }
    return size
  }
}

/// A wrong command line, with what is wrong.
struct UsageError: Error, CustomStringConvertible {
  let description: String
  init(_ description: String) { self.description = description }
}
