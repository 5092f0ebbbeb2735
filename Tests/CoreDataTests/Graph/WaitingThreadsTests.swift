import CoreData
import Foundation
import TestSupport
import Testing

/// Threads that wait for each other's contexts, one of them in code that a child's save calls.
@Suite struct WaitingThreadsTests {
  /// Each thread holds the context of its name, or waits for it.
  private enum Step: CaseIterable { case taken, childTaken, gateTaken, seen, done }

  /// A child saves into a parent whose thread waits for something else. That thread runs the save, and an observer of
  /// the parent needs a third context. The thread that holds this one waits for the child.
  @Test func anObserverUsesAContextWhoseThreadWaitsForTheChild() throws {
    let chain = try ContextChain()
    let (parent, child, third, gate) = (chain.root, chain.child, chain.company.context(), chain.company.context())
    let steps = Dictionary(uniqueKeysWithValues: Step.allCases.map { ($0, DispatchSemaphore(value: 0)) })
    let release = DispatchSemaphore(value: 0)
    func wait(_ step: Step) throws {
      let result = steps[step]?.wait(timeout: .now() + 20)
      try #require(result == .success, "\(step)")
    }
    let observer = NotificationCenter.default.addObserver(
      forName: NSManagedObjectContext.didChangeObjectsNotification, object: parent, queue: nil
    ) { _ in
      let count = third.performAndWait { third.insertedObjects.count }
      #expect(count == 1)
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
        steps[.taken]?.signal()
        gate.performAndWait {}
      }
    }
    try wait(.taken)
    start {
      third.performAndWait {
        _ = Person(context: third)
        steps[.taken]?.signal()
        steps[.childTaken]?.wait()
        child.performAndWait {}
      }
    }
    try wait(.taken)
    start {
      child.performAndWait {
        Person(context: child).name = "Ada"
        steps[.childTaken]?.signal()
        do { try child.save() } catch { Issue.record(error) }
      }
    }
    try wait(.seen)
    release.signal()
    for _ in 0..<4 { try wait(.done) }
    try parent.performAndWait { try parent.save() }
    #expect(try chain.stored() == ["Ada"])
  }
}
