import Foundation
import QueueWorld

// The main thread runs a run loop, as a program with a user interface does. Timers and blocks of the main queue use the
// view context directly while other threads use it in blocks.

let world = ContendedContext()
try world.start()
let timer = Timer(timeInterval: 0.001, repeats: true) { _ in
  if world.step() { return }
  do { try world.finish() } catch { fatalError("\(error)") }
  print("run loop ok")
  exit(0)
}
RunLoop.main.add(timer, forMode: .default)
RunLoop.main.run()
