#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Android)
  import Android
#elseif canImport(WinSDK)
  import WinSDK
#endif

/// Identifies threads, cheaply.
enum PlatformThread {
  @inline(__always)
  static var current: UInt {
    #if canImport(WinSDK)
      UInt(GetCurrentThreadId())
    #elseif canImport(Darwin)
      UInt(bitPattern: pthread_self())
    #else
      UInt(pthread_self())
    #endif
  }
}
