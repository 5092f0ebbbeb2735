import Foundation
import FuzzTargets
import TestSupport
import Testing

/// The readers of foreign bytes, with inputs that once failed and with simple damage to valid ones.
@Suite struct FuzzInputTests {
  private static let folder = Repository.root.appending(path: "Tests/FuzzTargets/Inputs")

  @Test(arguments: FuzzTarget.allCases) func inputsThatOnceFailedDoNotStopTheProgram(_ target: FuzzTarget) throws {
    let inputs =
      (try? FileManager.default.contentsOfDirectory(
        at: Self.folder.appending(path: target.rawValue), includingPropertiesForKeys: nil)) ?? []
    for input in inputs { target.run(try Data(contentsOf: input)) }
  }

  /// Every truncation of a keyed archive and of a URI, and a change of every byte of them.
  @Test(arguments: FuzzTarget.allCases) func truncatedAndChangedBytesDoNotStopTheProgram(_ target: FuzzTarget) throws {
    let uri = Data("x-coredata://STORE/Book/p12".utf8)
    let archive = try NSKeyedArchiver.archivedData(withRootObject: NSString("text"), requiringSecureCoding: true)
    for good in [uri, archive] {
      for length in 0...good.count { target.run(Data(good.prefix(length))) }
      for index in good.indices {
        for byte: UInt8 in [0, 0x7f, 0x80, 0xff] {
          var changed = good
          changed[index] = byte
          target.run(changed)
        }
      }
    }
  }
}
