import Foundation
import StoreProtocol
import StoreSchema
import Synchronization

extension SabotagedStores {
  /// Faults of a store that is a file.
  static let files: [Fault] = [
    make("forgets", "forgets the last commit when it is closed") {
      let former = Former()
      $0.changes = { _, store in former.remember(store) }
      $0.beforeOpening = { former.position($0) }
      $0.afterClosing = { former.restore($0) }
    },
    make("metadata", "keeps the metadata that it was made with") {
      $0.changes = { changes, _ in changes.metadata = nil }
    },
    make("temporary", "leaves a file beside the store") {
      $0.result = { (result, _, _, url) throws(StoreError) in
        try? Data().write(to: url.appendingPathExtension("tmp"))
        return result
      }
    },
    make("mode", "lets everybody read the file") {
      $0.result = { (result, _, _, url) throws(StoreError) in
        try? FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: url.path)
        return result
      }
    },
    make("descriptor", "leaks a descriptor") { $0.beforeOpening = { url in _ = open(url.path, O_RDONLY | O_CLOEXEC) } },
    make("writes", "writes what was opened read-only") { $0.options = { $0.isReadOnly = false } },
    make("models", "opens stores of other models") { $0.options = { $0.ignoresModelVersion = true } },
    make("replaces", "makes a new store in place of a foreign file") { $0.takesForeignFiles = true },
    make("highest", "forgets the highest key when it is opened") { $0.changes = reuse },
    make("touches", "writes the file when it is opened") {
      $0.beforeOpening = { url in
        guard let handle = try? FileHandle(forUpdating: url) else { return }
        defer { try? handle.close() }
        _ = try? handle.seekToEnd()
        try? handle.write(contentsOf: Data("\n".utf8))
      }
    },
  ]

  /// The bytes of files before their last commits.
  private final class Former: Sendable {
    private let state = Mutex<(url: URL?, bytes: [String: Data])>((nil, [:]))

    func position(_ url: URL) { state.withLock { $0.url = url } }

    func remember(_ store: any Store) {
      state.withLock { state in
        guard let url = state.url else { return }
        state.bytes[url.path] = try? Data(contentsOf: url)
      }
    }

    func restore(_ url: URL) {
      let bytes = state.withLock { $0.bytes.removeValue(forKey: url.path) }
      try? bytes?.write(to: url)
    }
  }
}
