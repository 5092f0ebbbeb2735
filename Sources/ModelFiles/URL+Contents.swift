import Foundation

extension URL {
  var isExistingFile: Bool { FileManager.default.fileExists(atPath: path(percentEncoded: false)) }

  /// Whether there is a file that is no folder.
  package var isFile: Bool {
    var isFolder: ObjCBool = false
    return FileManager.default.fileExists(atPath: path(percentEncoded: false), isDirectory: &isFolder)
      && !isFolder.boolValue
  }

  /// Reads the file.
  func contents() throws(ModelFileError) -> Data {
    do {
      return try Data(contentsOf: self)
    } catch {
      throw ModelFileError(.cannotRead, "the file cannot be read: \(error.localizedDescription)", url: self)
    }
  }

  /// The names of the items in the folder, in ascending byte order.
  func folderNames() throws(ModelFileError) -> [String] {
    do {
      return try FileManager.default.contentsOfDirectory(atPath: path(percentEncoded: false))
        .sorted { $0.precedesInBytes($1) }
    } catch {
      throw ModelFileError(.cannotRead, "the folder cannot be read: \(error.localizedDescription)", url: self)
    }
  }
}
