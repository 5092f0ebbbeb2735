import Foundation
import ModelCompiler
import TestSupport

/// A temporary folder that lasts as long as a test.
final class TestFolder: Sendable {
  let url: URL

  init() throws {
    url = FileManager.default.temporaryDirectory.appending(path: "models-\(UUID())")
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(at: url) }
}

/// Source models that tests write.
enum TestModels {
  /// The text of a `contents` file with `body` in it.
  static func contents(_ body: String, model: String = #"sourceLanguage="Swift""#) -> String {
    """
    <?xml version="1.0" encoding="UTF-8" standalone="yes"?>
    <model type="com.apple.IDECoreDataModeler.DataModel" documentVersion="1.0" \(model) \
    userDefinedModelVersionIdentifier="">
    \(body)
    </model>
    """
  }

  /// Writes an `.xcdatamodel` folder.
  static func write(_ text: String, to url: URL) throws {
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    try Data(text.utf8).write(to: url.appending(path: "contents"))
  }

  /// Writes a bundle of versions, each with one entity that has its name, and `current` as the current one.
  static func writeBundle(_ versions: [String], current: String?, to url: URL) throws {
    for version in versions {
      let text = contents(
        #"<entity name="\#(version)" syncable="YES"><attribute name="a" attributeType="String"/></entity>"#)
      try write(text, to: url.appending(path: version + ".xcdatamodel"))
    }
    guard let current else { return }
    let list = """
      <?xml version="1.0" encoding="UTF-8"?>
      <plist version="1.0"><dict><key>_XCCurrentVersionName</key><string>\(current).xcdatamodel</string></dict></plist>
      """
    try Data(list.utf8).write(to: url.appending(path: ".xccurrentversion"))
  }
}
