import Foundation
import QueueWorld

// The main thread runs a run loop, as a program with a user interface does. Timers and blocks of the main queue use the
// view context directly while other threads use it in blocks.

let world = ContendedContext()
try world.start()
nonisolated(unsafe) var end: Date?
let timer = Timer(timeInterval: 0.001, repeats: true) { _ in
  if let end {
    if !world.hasMerged && Date() < end { return }
    print(world.hasMerged ? "run loop ok" : "nothing was merged after the observer")
    exit(world.hasMerged ? 0 : 1)
  }
  if world.step() { return }
  do { try world.finish() } catch { fatalError("\(error)") }
  world.saveElsewhereDuringANotification()
  end = Date(timeIntervalSinceNow: 10)
}
RunLoop.main.add(timer, forMode: .default)
RunLoop.main.run()
