import Foundation

/// What `write` leaves beside the stores: what each of them has.
struct Manifest: Codable {
  static let file = "manifest.json"

  var platform: String
  /// The version hashes of the entities of each model, in base 64.
  var hashes: [String: [String: String]]
  var stores: [ProbeStore]

  static func read(_ folder: URL) throws -> Manifest {
    try JSONDecoder().decode(Manifest.self, from: Data(contentsOf: folder.appendingPathComponent(file)))
  }
}

/// What `check` found.
struct Report: Codable {
  var platform: String
  /// The platform that wrote the stores.
  var writer: String
  var models: [ModelReport]
  var stores: [StoreReport]
  var cases: [CaseReport]
}

struct ModelReport: Codable {
  var name: String
  /// Entities whose version hash of the model file, or of the same model made here, is not the one of the writer; of a
  /// compiled model the lines that differ.
  var differences: [String]
}

struct StoreReport: Codable {
  var file: String
  /// Whether all steps were done: opened, read, changed, saved, opened again, read again.
  var isComplete = false
  /// The step that failed, and how.
  var failure: String?
  /// Number of objects, values and links that were compared.
  var compared = 0
  /// What was read otherwise than it was written, or than it was changed to.
  var differences: [String] = []
}

struct CaseReport: Codable {
  var id: String
  var question: String
  /// What happened, in one line.
  var outcome: String
  /// Why the case stopped the program, or the description of the error that ended it. Not compared.
  var note: String?
}

extension Encodable {
  func json() throws -> Data {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
    return try encoder.encode(self)
  }
}
