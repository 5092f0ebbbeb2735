import Foundation
import Testing

@testable import CoreData

/// A coordinator knows the existing contexts, and keeps none of them alive.
@Suite struct ContextLinkTests {
  @Test func aContextIsFoundUntilItEnds() throws {
    let company = try CompanyStore()
    let before = company.coordinator.attachedContexts.count
    var context: NSManagedObjectContext? = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    context?.persistentStoreCoordinator = company.coordinator
    let link = try #require(context?.core.link)
    #expect(link.core === context?.core)
    #expect(company.coordinator.attachedContexts.count == before + 1)
    context = nil
    #expect(link.core == nil)
    #expect(company.coordinator.attachedContexts.count == before)
  }

  /// Threads read the link while the context ends: each gets a complete context, or nil.
  @Test func oneThatEndsIsNotGivenOut() {
    for _ in 0..<200 {
      nonisolated(unsafe) var context: NSManagedObjectContext? = NSManagedObjectContext(
        concurrencyType: .privateQueueConcurrencyType)
      let link = context?.core.link
      DispatchQueue.concurrentPerform(iterations: 4) { number in
        if number == 3 {
          context = nil
        } else {
          for _ in 0..<50 { if let core = link?.core { #expect(core.link === link) } }
        }
      }
      #expect(link?.core == nil)
    }
  }
}
