import Foundation
import StoreSchema
import Synchronization

/// The external data of an open store.
///
/// A value's file is there before a row names it, and goes after no row does: a process that dies in between leaves a file that no row
/// names. So each file that is about to come or go is written down first, in a hidden file among them that the store holds a lock on
/// and removes when it is closed. One that nobody holds was left behind: who opens the store next looks whether rows name those files,
/// and removes the others.
public final class ExternalDataFiles: Sendable {
  public let folder: ExternalDataFolder
  private let doubts = Mutex<Doubts?>(nil)

  private struct Doubts {
    let url: URL
    let descriptor: Int32
  }

  private static let prefix = ".in-doubt-"

  public init(_ folder: ExternalDataFolder) { self.folder = folder }

  deinit { doubts.withLock { if let doubts = $0 { _ = Foundation.close(doubts.descriptor) } } }

  /// See ``ExternalDataFolder/read(_:)``.
  public func read(_ name: Data) throws(StoreError) -> Data { try folder.read(name) }

  /// Writes a value, durably, and gives its name for the slot; nil for a small one.
  public func write(_ data: Data) throws(StoreError) -> Data? {
    try folder.write(data) { (name) throws(StoreError) in try doubt([name]) }
  }

  /// Says that files are about to go, before a commit after which no row names them.
  public func willRemove(_ names: [Data]) throws(StoreError) {
    if names.isEmpty { return }
    var texts: [String] = []
    for name in names { texts.append(try ExternalDataFolder.fileName(name)) }
    try doubt(texts)
  }

  /// Removes files that no row names.
  public func remove(_ names: [Data]) { folder.remove(names) }

  /// Nothing is in doubt any more: every value that was written is named by a row, or was removed.
  public func close() {
    doubts.withLock { doubts in
      guard let open = doubts else { return }
      unlink(open.url.path)
      _ = Foundation.close(open.descriptor)
      doubts = nil
    }
  }

  private func doubt(_ names: [String]) throws(StoreError) {
    let result: Result<Void, StoreError> = doubts.withLock { doubts in
      Result { () throws(StoreError) in
        let open: Doubts
        if let known = doubts { open = known } else { open = try begin() }
        doubts = open
        let lines = Array((names.joined(separator: "\n") + "\n").utf8)
        let (count, number) = FileSizeSignal.withoutIt {
          lines.withUnsafeBytes { Foundation.write(open.descriptor, $0.baseAddress, $0.count) }
        }
        // Half a line is none: the next one begins anew.
        if count != lines.count {
          _ = Foundation.write(open.descriptor, "\n", 1)
          throw StoreError.system(
            count < 0 ? number : ENOSPC, "What becomes of large data cannot be noted", open.url.path)
        }
      }
    }
    try result.get()
  }

  private func begin() throws(StoreError) -> Doubts {
    try folder.make()
    let url = folder.folder.appendingPathComponent(Self.prefix + UUID().uuidString)
    let descriptor = open(url.path, O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_NOFOLLOW | O_CLOEXEC, 0o600)
    if descriptor < 0 { throw StoreError.system("What becomes of large data cannot be noted", url.path) }
    // Where there are no locks nobody takes it for one that was left behind.
    _ = flock(descriptor, LOCK_EX | LOCK_NB)
    return Doubts(url: url, descriptor: descriptor)
  }

  // MARK: What was left behind

  /// Removes the files that were in doubt when a process died and that no row of `store` names. What cannot be read is left for the next
  /// time: no store is refused because of what nobody needs.
  public func sweep(_ store: any Store) {
    let found = (try? FileManager.default.contentsOfDirectory(atPath: folder.folder.path)) ?? []
    for file in found where file.hasPrefix(Self.prefix) {
      let path = folder.folder.appendingPathComponent(file).path
      let descriptor = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK)
      if descriptor < 0 { continue }
      defer { _ = Foundation.close(descriptor) }
      guard flock(descriptor, LOCK_EX | LOCK_NB) == 0, let text = FileManager.default.contents(atPath: path),
        let named = try? Self.names(of: store)
      else { continue }
      let names = String(decoding: text, as: UTF8.self).split(separator: "\n").map { Data($0.utf8) }
      folder.remove(
        names.filter { name in (try? ExternalDataFolder.fileName(name)).map { !named.contains($0) } ?? false })
      unlink(path)
    }
  }

  /// The names of all files that rows of a store name.
  private static func names(of store: any Store) throws(StoreError) -> Set<String> {
    let view = try store.snapshot()
    var names: Set<String> = []
    var problem: StoreError?
    for entity in store.schema.entities where entity.superentity == nil {
      let slots = entity.subtree.map { index in
        let kinds = store.schema.entities[index].slots
        return kinds.indices.filter { kinds[$0] == .externalData }
      }
      if slots.allSatisfy(\.isEmpty) { continue }
      try view.scan(entity.subtree) { row in
        for slot in slots[row.entity - entity.subtree.lowerBound] {
          guard case .data(let bytes) = row.value(slot, .externalData), bytes.first == 2 else { continue }
          do throws(StoreError) { names.insert(try ExternalDataFolder.fileName(bytes)) } catch { problem = error }
        }
      }
    }
    if let problem { throw problem }
    return names
  }
}
