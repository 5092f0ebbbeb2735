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

/// The signal that a process gets when a write exceeds the limit of file size. By default it ends the process, although
/// the error of the write is enough.
public enum FileSizeSignal {
  /// Calls `body` with the signal blocked, and discards the signal. Returns the result of `body`, and `errno`.
  public static func withoutIt(_ body: () -> Int) -> (Int, Int32) {
    #if os(Windows)
      let count = body()
      return (count, errno)
    #else
      var (blocked, before) = (sigset_t(), sigset_t())
      sigemptyset(&blocked)
      sigaddset(&blocked, SIGXFSZ)
      pthread_sigmask(SIG_BLOCK, &blocked, &before)
      let count = body()
      let number = errno
      if count < 0 && number == EFBIG {
        #if canImport(Darwin)
          var taken: Int32 = 0
          sigwait(&blocked, &taken)
        #else
          var none = timespec()
          sigtimedwait(&blocked, nil, &none)
        #endif
      }
      pthread_sigmask(SIG_SETMASK, &before, nil)
      return (count, number)
    #endif
  }
}
