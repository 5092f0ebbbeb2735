import Foundation
import QueueWorld

// The main thread runs a run loop, as a program with a user interface does. Timers and blocks of the main queue use the
// view context directly while other threads use it in blocks.

let world = ContendedContext()
try world.start()
// Then merges whose turn comes too early. They must happen without a use of the context.
nonisolated(unsafe) var savesLeft = [world.saveElsewhereDuringANotification, world.saveElsewhereDuringABlock]
nonisolated(unsafe) var end: Date?
let timer = Timer(timeInterval: 0.001, repeats: true) { _ in
  if let end {
    if !world.hasMerged {
      precondition(Date() < end, "nothing was merged after the observer or the block")
      return
    }
    if savesLeft.isEmpty {
      print("run loop ok")
      exit(0)
    }
  } else {
    if world.step() { return }
    do { try world.finish() } catch { fatalError("\(error)") }
  }
  savesLeft.removeFirst()()
  end = Date(timeIntervalSinceNow: 10)
}
RunLoop.main.add(timer, forMode: .default)
RunLoop.main.run()
