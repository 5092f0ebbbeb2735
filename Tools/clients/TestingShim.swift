// The main queue is served by the main thread's run loop, as on Apple's platforms. Elsewhere, Swift calls Dispatch's
// function of this name, after which code of the main actor runs on threads that are not the main one.
import Foundation

@_cdecl("dispatch_main")
public func serveMainQueueByRunLoop() -> Never {
  while true { RunLoop.main.run() }
}
