import Foundation
import StoreProtocol

/// The checksum in a file of the XML or the binary store.
package enum WholeFileChecksum {
  /// Makes a file that has no checksum any more, as files of other writers.
  package static func remove(from file: inout Data) throws {
    for text in ["OpenCoreDataChecksum", "crc64-of-all-other-bytes:"] {
      guard let found = file.range(of: Data(text.utf8)) else {
        throw StoreError(.notFound, "The file has no checksum that could be removed.")
      }
      file[found.lowerBound] = UInt8(ascii: "x")
    }
  }
}
