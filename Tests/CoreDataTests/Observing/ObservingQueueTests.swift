import CoreData
import Foundation
import Testing

/// What observes a context is made on its queue; elsewhere that is reported.
@Suite struct ObservingQueueTests {
  private func isReported(_ ending: ExitTest.Result?) -> Bool {
    String(decoding: ending?.standardErrorContent ?? [], as: UTF8.self).contains("used on the wrong queue")
  }

  @Test func aFlagOfAContextIsSetOnItsQueue() async {
    let ending = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
      let stack = try UndoStack()
      stack.context.tracksObservation = true
    }
    #expect(isReported(ending))
  }

  @Test func aStreamOfResultsIsMadeOnTheQueue() async {
    let ending = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
      let request = NSFetchRequest<NSManagedObject>(entityName: "Item")
      request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
      let stack = try UndoStack()
      let stream = try stack.context.results(of: request)
      withExtendedLifetime((stack, stream)) {}
    }
    #expect(isReported(ending))
  }

  @Test func aStreamOfAnObjectIsMadeOnTheQueue() async {
    let ending = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
      let stack = try UndoStack()
      let item = stack.event { UndoStack.insert("a", $0) }
      _ = item.changes()
    }
    #expect(isReported(ending))
  }

  @Test func onTheQueueNothingIsReported() async {
    let ending = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
      let stack = try UndoStack()
      stack.event { context in
        context.tracksObservation = true
        _ = UndoStack.insert("a", context).changes()
      }
    }
    #expect(!isReported(ending))
  }
}
