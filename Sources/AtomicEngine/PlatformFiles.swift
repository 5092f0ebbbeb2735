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

/// What a file system keeps of a file beside its content: tags, access lists and the like.
enum ExtendedAttributes {
  /// Copies those that can be copied; a file system may have none, and some belong to the system.
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
