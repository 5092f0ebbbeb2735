/// Rewrites the Swift sources of a module that were written for Apple's Core Data, so that they compile where there is
/// no Objective-C: attributes of Objective-C are removed, `@NSManaged` members get bodies, `#keyPath` becomes a checked
/// text, and so on.
///
/// All sources of the module are given at once, because an override in an extension changes the class, which may be in
/// another file. Lines stay: errors of the compiler stand on the lines of the original.
public struct Rewriter {
  /// A source.
  public struct Source: Hashable, Sendable {
    /// The path that messages name.
    public var path: String
    /// The bytes of the file, UTF-8.
    public var bytes: [UInt8]

    /// A source.
    public init(path: String, bytes: [UInt8]) {
      self.path = path
      self.bytes = bytes
    }

    /// A source by its text.
    public init(path: String, text: String) { self.init(path: path, bytes: Array(text.utf8)) }
  }

  /// A change: bytes of the original, and the text that replaces them. Both have the same number of line ends, or the
  /// text ends with a directive that gives the next line its number.
  public struct Change: Hashable, Sendable {
    /// The bytes of the original that are replaced; empty where text is inserted.
    public var range: Range<Int>
    /// The text that replaces them.
    public var text: String
  }

  /// What a rewritten source is.
  public struct Output: Hashable, Sendable {
    /// The path of the original.
    public var path: String
    /// The changes in the order of their ranges, which do not overlap.
    public var changes: [Change]
    /// The rewritten source: a line that names the original for messages, and the original with the changes. Before it
    /// there may be an import of Core Data, and behind it what the file needs in addition.
    public var bytes: [UInt8]
  }

  /// What has to be changed by hand.
  public struct Finding: Hashable, Sendable, CustomStringConvertible {
    /// The source.
    public var path: String
    /// The line, from 1.
    public var line: Int
    /// What does not work and what to do about it.
    public var message: String

    /// A finding.
    public init(path: String, line: Int, message: String) {
      (self.path, self.line, self.message) = (path, line, message)
    }

    public var description: String { "\(path):\(line): warning: \(message)" }
  }

  /// Modules of Apple's platforms that sources of models import although they can do without. Such an import is
  /// compiled only where there is the module.
  public static let absentModules: Set<String> = [
    "AppKit", "CloudKit", "Cocoa", "Combine", "CoreGraphics", "CoreLocation", "CoreSpotlight", "Darwin", "ImageIO",
    "MapKit", "MobileCoreServices", "OSLog", "ObjectiveC", "Security", "SwiftData", "SwiftUI", "UIKit",
    "UniformTypeIdentifiers", "WidgetKit", "os",
  ]

  /// The rewritten sources, in the order in which they were given.
  public private(set) var outputs: [Output] = []
  /// What has to be changed by hand.
  public private(set) var findings: [Finding] = []
  /// The classes whose names in Objective-C are others than in Swift, by the former: `@objc(Student) class StudentMO`.
  /// A model names classes so.
  public let classNames: [String: String]

  /// Rewrites the sources of a module.
  public init(_ sources: [Source]) {
    let files = sources.map { SourceFile(path: $0.path, bytes: $0.bytes) }
    let module = ModuleClasses(files)
    classNames = module.objectiveCNames
    var changes = files.map { _ in [Change]() }
    for index in files.indices {
      var rewriting = FileRewriting(files[index], module: module, file: index)
      rewriting.run()
      changes[index] += rewriting.changes
      findings += rewriting.findings
    }
    for index in files.indices {
      changes[index] += module.insertions(in: index, &findings)
      outputs.append(Self.output(files[index], changes[index]))
    }
    findings.sort { ($0.path, $0.line, $0.message) < ($1.path, $1.line, $1.message) }
  }

  private static func output(_ file: SourceFile, _ changes: [Change]) -> Output {
    // Insertions come first, and a change comes before those within it, which it replaces.
    let sorted = changes.enumerated().sorted {
      let (one, other) = ($0.element.range, $1.element.range)
      return (one.lowerBound, one.isEmpty ? 0 : 1, -one.upperBound, $0.offset)
        < (other.lowerBound, other.isEmpty ? 0 : 1, -other.upperBound, $1.offset)
    }.map(\.element)
    // What replaces Objective-C is in this module, and so are classes that Apple's Foundation has. There, every other
    // module that imports Core Data shows it, too.
    let imports = file.declarations.filter { $0.keyword == "import" }
    let isImported = imports.contains { file.imported($0) == "CoreData" }
    let support = file.support
    let isNeeded = !changes.isEmpty || !support.isEmpty || !imports.isEmpty
    let head = isNeeded && !isImported ? "import CoreData\n" : ""
    var bytes = Array("\(head)\(file.location(1))\n".utf8)
    // A mark of UTF-8 is one at the beginning of a file only.
    var position = file.bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0
    var applied: [Change] = []
    for change in sorted where change.range.lowerBound >= position {
      bytes += file.bytes[position..<change.range.lowerBound]
      bytes += change.text.utf8
      position = change.range.upperBound
      applied.append(change)
    }
    bytes += file.bytes[position...]
    if !support.isEmpty { bytes += "\n#sourceLocation()\n\(support)".utf8 }
    return Output(path: file.path, changes: applied, bytes: bytes)
  }
}
