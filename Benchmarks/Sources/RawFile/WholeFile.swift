import Foundation

/// A file that is replaced as a whole and durably, as a store does it.
enum WholeFile {
  /// Writes `body`'s bytes beside the file at `path`, syncs them, gives them its name and syncs the folder.
  static func replace(_ path: String, _ body: (Int32) throws -> Void) throws {
    let file = open(path + ".new", O_WRONLY | O_CREAT | O_TRUNC, 0o600)
    guard file >= 0 else { throw BenchmarkError("\(path).new cannot be made.") }
    defer { close(file) }
    try body(file)
    let folder = open(URL(fileURLWithPath: path).deletingLastPathComponent().path, O_RDONLY)
    defer { close(folder) }
    guard fsync(file) == 0, rename(path + ".new", path) == 0, fsync(folder) == 0 else {
      throw BenchmarkError("\(path) cannot be replaced.")
    }
  }

  static func write(_ bytes: UnsafeRawBufferPointer, to file: Int32) throws {
    var rest = bytes
    while let start = rest.baseAddress, !rest.isEmpty {
      let count = Foundation.write(file, start, rest.count)
      guard count > 0 else { throw BenchmarkError("The file cannot be written.") }
      rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst(count))
    }
  }

  static func read(_ path: String) throws -> Data { try Data(contentsOf: URL(fileURLWithPath: path)) }
}

/// What all raw files hold: the employees with the keys of their tags, and how many departments and tags there are.
struct RawGraph {
  var employees: [RawEmployee] = []
  var tags: [(Int64, Int64)] = []
  let departments: Int
  let tagCount: Int

  init(_ data: [EmployeeData], _ scale: Scale) {
    employees = data.enumerated().map { RawEmployee($1, key: Int64($0) + 1) }
    tags = data.map(\.tags)
    (departments, tagCount) = (scale.departments, scale.tags)
  }

  init(departments: Int, tagCount: Int) { (self.departments, self.tagCount) = (departments, tagCount) }
}
