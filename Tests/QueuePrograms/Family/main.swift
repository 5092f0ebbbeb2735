import Foundation
import QueueWorld

// Contexts of five levels on ten threads and the main queue, which wait for each other in both directions. The
// argument is a number of seconds.

let world = FamilyOfContexts()
try world.start(seconds: CommandLine.arguments.dropFirst().first.flatMap(Double.init) ?? 2)
let timer = Timer(timeInterval: 0.001, repeats: true) { _ in
  do {
    if try world.step() { return }
    try world.finish()
  } catch { fatalError("\(error)") }
  print("family ok")
  exit(0)
}
RunLoop.main.add(timer, forMode: .default)
RunLoop.main.run()
