import Foundation

#if os(Linux)
  /// The POSIX locks that this process holds, as the system lists them.
  public enum ProcessLocks {
    /// One line for each lock on a file, without its number in the list; sorted.
    public static func on(_ url: URL) throws -> [String] {
      let inode = try FileManager.default.attributesOfItem(atPath: url.path)[.systemFileNumber] as? Int ?? 0
      return try list().split(separator: "\n").filter {
        $0.contains("POSIX") && $0.contains(" \(getpid()) ") && $0.contains(":\(inode) ")
      }.map { $0.split(separator: ":", maxSplits: 1).last.map(String.init) ?? "" }.sorted()
    }

    /// The locks of all processes. Foundation reads only the first 4 KiB of a file whose size the system does not tell.
    private static func list() throws -> String {
      guard let file = fopen("/proc/locks", "r") else { throw CocoaError(.fileReadUnknown) }
      defer { fclose(file) }
      var (bytes, buffer) = ([UInt8](), [UInt8](repeating: 0, count: 1 << 16))
      while case let count = fread(&buffer, 1, buffer.count, file), count > 0 { bytes += buffer.prefix(count) }
      return String(decoding: bytes, as: UTF8.self)
    }
  }
#endif
