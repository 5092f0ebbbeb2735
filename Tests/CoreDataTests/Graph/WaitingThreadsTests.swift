import CoreData
import Foundation
import TestSupport
import Testing

/// Threads that wait for each other's contexts, one of them in code that a child's save calls.
@Suite struct WaitingThreadsTests {
  private enum Step: CaseIterable { case gateTaken, parentTaken, thirdTaken, childTaken, seen, done }

  /// A child saves into a parent whose thread waits for something else, the gate. That thread runs the save, and an
  /// observer of the parent needs a third context. The thread that uses this one waits for the child: then it runs the
  /// observer's block meanwhile. Or it waits for the gate: then the block waits for the end of that thread's block.
  @Test(arguments: [true, false]) func anObserverUsesAContextWhoseThreadWaits(isForTheChild: Bool) throws {
    let chain = try ContextChain()
    let (parent, child, third, gate) = (chain.root, chain.child, chain.company.context(), chain.company.context())
    let steps = Dictionary(uniqueKeysWithValues: Step.allCases.map { ($0, DispatchSemaphore(value: 0)) })
    let release = DispatchSemaphore(value: 0)
    func wait(_ step: Step) throws {
      let result = steps[step]?.wait(timeout: .now() + 20)
      try #require(result == .success, "\(step)")
    }
    // The semaphores order the accesses.
    nonisolated(unsafe) var isInBlock = false
    nonisolated(unsafe) var found: Bool?
    let observer = NotificationCenter.default.addObserver(
      forName: NSManagedObjectContext.didChangeObjectsNotification, object: parent, queue: nil
    ) { _ in
      third.performAndWait { found = isInBlock }
      steps[.seen]?.signal()
    }
    defer { NotificationCenter.default.removeObserver(observer) }
    func start(_ body: @escaping @Sendable () -> Void) {
      Thread.detachNewThread {
        body()
        steps[.done]?.signal()
      }
    }
    start {
      gate.performAndWait {
        steps[.gateTaken]?.signal()
        release.wait()
      }
    }
    try wait(.gateTaken)
    start {
      parent.performAndWait {
        steps[.parentTaken]?.signal()
        gate.performAndWait {}
      }
    }
    try wait(.parentTaken)
    start {
      third.performAndWait {
        isInBlock = true
        steps[.thirdTaken]?.signal()
        steps[.childTaken]?.wait()
        (isForTheChild ? child : gate).performAndWait {}
        isInBlock = false
      }
    }
    try wait(.thirdTaken)
    start {
      child.performAndWait {
        Person(context: child).name = "Ada"
        steps[.childTaken]?.signal()
        do { try child.save() } catch { Issue.record(error) }
      }
    }
    if !isForTheChild {
      #expect(steps[.seen]?.wait(timeout: .now() + 0.2) == .timedOut)
      release.signal()
    }
    try wait(.seen)
    #expect(found == isForTheChild)
    if isForTheChild { release.signal() }
    for _ in 0..<4 { try wait(.done) }
    try parent.performAndWait { try parent.save() }
    #expect(try chain.stored() == ["Ada"])
  }
}
