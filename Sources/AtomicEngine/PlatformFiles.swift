import CPosix
import Foundation

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Android)
  import Android
#elseif canImport(Darwin)
  import Darwin
#endif

/// Extended attributes of files, such as tags and access lists.
enum ExtendedAttributes {
  /// Copies the attributes that can be copied. A file system may support none, and some belong to the system.
  static func copy(from old: Int32, to new: Int32) {
    #if canImport(Glibc) || canImport(Musl)
      let size = flistxattr(old, nil, 0)
      guard size > 0 else { return }
      var names = [CChar](repeating: 0, count: size)
      guard flistxattr(old, &names, size) == size else { return }
      for name in names.split(separator: 0) {
        let name = Array(name) + [0]
        let length = fgetxattr(old, name, nil, 0)
        guard length >= 0 else { continue }
        var value = [UInt8](repeating: 0, count: length)
        guard fgetxattr(old, name, &value, length) == length else { continue }
        _ = fsetxattr(new, name, value, length, 0)
      }
    #endif
  }
}

/// Memory in whole pages. Parts can be released to the system while the rest is in use.
enum PlatformMemory {
  static let pageSize = max(4096, Int(sysconf(Int32(_SC_PAGESIZE))))

  /// Nil where the system has not enough memory.
  static func allocate(_ count: Int) -> UnsafeMutableRawPointer? {
    let start = mmap(nil, count, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANON, -1, 0)
    return start == UnsafeMutableRawPointer(bitPattern: -1) ? nil : start
  }

  static func free(_ memory: UnsafeMutableRawBufferPointer) {
    if let start = memory.baseAddress { munmap(start, max(1, memory.count)) }
  }

  /// Releases the whole pages within a part, which read as zeros from then on.
  static func giveBack(_ part: UnsafeMutableRawBufferPointer) {
    guard let start = part.baseAddress else { return }
    let before = (pageSize - Int(bitPattern: start) % pageSize) % pageSize
    let count = (part.count - before) / pageSize * pageSize
    if count > 0 { _ = mmap(start + before, count, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANON | MAP_FIXED, -1, 0) }
  }
}
