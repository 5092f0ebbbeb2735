import Dispatch
import Foundation
import StoreProtocol
import StoreSchema

/// Removes files of a store that no row names. A process leaves them when it ends between writing a file and the
/// commit, or between a commit and the removal of the files that it made obsolete.
///
/// Looks only at files whose names identify this store. Files of another store in the same folder stay, and Apple's.
struct ExternalDataSweep {
  /// In seconds. Within this time a save names its files, and a reader of a row reads its large values.
  static let leastAge: Double = 3600
  /// The most files that one sweep removes.
  static let limit = 1000
  /// The longest time, in seconds, that one sweep spends on looking at files, and then on removing them.
  static let duration = 0.2

  private let files: ExternalDataFiles
  private let age: Double

  init(_ files: ExternalDataFiles) {
    self.files = files
    age = max(Self.leastAge, files.grace)
  }

  /// `store` returns the store while it is in use. Its rows are read only where files may have to be removed.
  func run(_ store: () -> (any Store)?) {
    removeDrafts()
    // Listed before the rows are read: a file written meanwhile is too new to be a candidate.
    var candidates = self.candidates()
    if candidates.isEmpty { return }
    guard removeNamed(from: &candidates, store), files.isDurable() else { return }
    guard let removals = files.removals else { return }
    let end = DispatchTime.now() + Self.duration
    for (id, status) in candidates.prefix(Self.limit) where !removals.isKnown(id) {
      if DispatchTime.now() > end { return }
      _ = files.step { removals.naming.withLock { files.folder.remove(id, unlessTouchedSince: status) } }
    }
  }

  /// Files of this store that are old enough. Each sweep begins elsewhere in the folder, so that in time it searches
  /// all of it.
  private func candidates() -> [UUID: FileStatus] {
    let owner = ExternalDataFolder.owner(files.identifier)
    let end = DispatchTime.now() + Self.duration
    var result: [UUID: FileStatus] = [:]
    let found = contents.compactMap { name in UUID(uuidString: name).flatMap { $0.uuidString == name ? $0 : nil } }
    for id in found.shuffled() where ExternalDataFolder.isOwn(id, owner) {
      if let status = files.folder.status(of: id), status.isRegular, isOld(status) { result[id] = status }
      if DispatchTime.now() > end { break }
    }
    return result
  }

  private var contents: [String] {
    files.step { (try? FileManager.default.contentsOfDirectory(atPath: files.folder.folder.path)) ?? [] } ?? []
  }

  private func isOld(_ status: FileStatus) -> Bool {
    Double(status.seconds) + age < Date().timeIntervalSince1970
  }

  /// Takes the files that a row names out of `candidates`. False where not all rows could be read.
  private func removeNamed(from candidates: inout [UUID: FileStatus], _ store: () -> (any Store)?) -> Bool {
    files.sweeping.withLock {
      guard !files.isClosed, let store = store() else { return false }
      do {
        try store.snapshot().externalDataNames(store.schema) { name in
          if let id = ExternalDataFolder.file(name) { candidates[id] = nil }
          return !candidates.isEmpty && !files.isClosed
        }
      } catch { return false }
      return !files.isClosed
    }
  }

  /// Removes copies that a process has not finished.
  private func removeDrafts() {
    for name in contents where name.hasPrefix(".") && name.hasSuffix(".copying") {
      let parts = name.split(separator: ".")
      guard parts.count == 3, parts.prefix(2).allSatisfy({ UUID(uuidString: String($0)) != nil }) else { continue }
      guard let folder = try? files.folder.opened(), let status = try? folder.status(name), isOld(status) else {
        continue
      }
      _ = files.step { try? folder.removeFile(name) }
    }
  }
}
