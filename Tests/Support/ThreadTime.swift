import Foundation

/// The processor time that the calling thread has used. Unlike the time on a clock, it does not grow while other tests
/// keep the processors.
public func threadTime() -> Duration {
  var time = timespec()
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
  return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
}
