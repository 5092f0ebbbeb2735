import Dispatch
import Foundation
import QueueWorld

// The main thread calls dispatchMain(). From then on the main queue runs on other threads. Its blocks use the view
// context directly while other threads use it in blocks.

let world = ContendedContext()
try world.start()

@Sendable func next() {
  DispatchQueue.main.async {
    precondition(!Thread.isMainThread, "dispatchMain() has changed: the main queue runs on the main thread")
    if world.step() { return next() }
    do { try world.finish() } catch { fatalError("\(error)") }
    world.nestThroughAnotherQueue()
    print("dispatchMain ok")
    exit(0)
  }
}
next()
dispatchMain()
