import CoreData
import Dispatch
import Foundation

/// Asynchronous fetches.
extension GraphSuite {
  static let asynchronousFetches: [GraphCase] = [
    GraphCase("FET-075", "an asynchronous fetch returns its whole result, and its progress is complete", ways: .own) {
      g in
      try g.write { c in for age in 0..<20 { c.insert("Person", ["age": age]) } }
      for estimate in [0, 5, 20, 100] {
        let c = try g.newContext()
        let request = people(sort: "age", ascending: false)
        let parent = Progress(totalUnitCount: 10)
        let fetch = AsynchronousRun(request, estimate: estimate)
        try c.performAndWait {
          parent.becomeCurrent(withPendingUnitCount: 10)
          let result = try fetch.begin(c)
          parent.resignCurrent()
          g.expect(result?.finalResult == nil, "there is a result before the block has ended")
          g.equal(result?.progress?.totalUnitCount, Int64(max(1, estimate)))
          // The fetch uses the request as it was when it was executed.
          request.fetchLimit = 3
        }
        let ages = fetch.wait { $0.finalResult?.map { $0.number("age") } }
        g.equal(ages, Array((0..<20).reversed()), "estimated \(estimate)")
        c.performAndWait {
          let progress = fetch.result?.progress
          g.equal(progress?.totalUnitCount, Int64(estimate == 0 ? 20 : estimate))
          g.equal(progress?.completedUnitCount, progress?.totalUnitCount)
          g.equal(parent.fractionCompleted, 1)
          g.expect(fetch.result?.operationError == nil, "it has an error")
        }
      }
    },
    GraphCase("FET-075/cancel", "a cancelled asynchronous fetch has no result", ways: .own) { g in
      try g.write { c in for age in 0..<300 { c.insert("Person", ["age": age]) } }
      for (number, how) in ["cancel", "the progress", "the parent's progress"].enumerated() {
        try g.label("by \(how)") {
          let c = try g.newContext()
          let fetch = AsynchronousRun(people(sort: "age"), estimate: 300)
          let parent = Progress(totalUnitCount: 1)
          // Rows that are read in the meantime cannot be delivered before the block has ended.
          try c.performAndWait {
            parent.becomeCurrent(withPendingUnitCount: 1)
            let result = try fetch.begin(c)
            parent.resignCurrent()
            switch number {
            case 0: result?.cancel()
            case 1: result?.progress?.cancel()
            default: parent.cancel()
            }
          }
          let ended = fetch.wait { (error: $0.operationError as NSError?, count: $0.finalResult?.count) }
          g.equal(ended?.error?.domain, NSCocoaErrorDomain)
          g.equal(ended?.error?.code, CocoaError.userCancelled.rawValue)
          g.equal(ended?.count, nil)
          fetch.result?.cancel()
          g.equal(try c.performAndWait { try c.number(of: "Person") }, 300)
          g.equal(fetch.completions, 1)
        }
      }
    },
    GraphCase("FET-075/race", "a fetch cancelled at any time has its whole result or none", ways: .own, races: true) {
      g in
      try g.write { c in for age in 0..<600 { c.insert("Person", ["age": age]) } }
      for round in 0..<20 {
        let c = try g.newContext()
        let fetch = AsynchronousRun(people(sort: "age"), estimate: 600)
        let result = try c.performAndWait { try fetch.begin(c) }
        // Each round waits a little longer before it cancels.
        for _ in 0..<round { _ = try g.countElsewhere("Tag") }
        result?.cancel()
        let ended = fetch.wait { (error: $0.operationError as NSError?, count: $0.finalResult?.count) }
        g.equal(ended?.count, ended?.error == nil ? 600 : nil)
        if let error = ended?.error { g.equal(error.code, CocoaError.userCancelled.rawValue) }
        g.equal(try c.performAndWait { try c.number(of: "Person") }, 600)
      }
    },
    GraphCase(
      "FET-075/changes", "an asynchronous fetch includes changes made until its result is delivered", ways: .own
    ) {
      g in
      for isSaved in [false, true] {
        for isCut in [false, true] {
          let c = try g.newContext()
          try c.performAndWait {
            for person in try c.objects("Person") { c.delete(person) }
            for age in 0..<10 { c.insert("Person", ["age": age]) }
            try c.save()
          }
          try g.label("saved \(isSaved), cut \(isCut)") {
            let request = people(sort: "age")
            request.predicate = NSPredicate(format: "age < 8")
            if isCut { (request.fetchOffset, request.fetchLimit) = (1, 3) }
            let fetch = AsynchronousRun(request)
            try c.performAndWait {
              _ = try fetch.begin(c)
              let all = try c.objects("Person", by: "age")
              all[0].setValue(20, forKey: "age")
              c.delete(all[2])
              c.insert("Person", ["age": 3])
              if isSaved { try c.save() }
            }
            let ages = fetch.wait { $0.finalResult?.compactMap { $0.number("age") } }
            g.equal(ages, isCut ? [3, 3, 4] : [1, 3, 3, 4, 5, 6, 7])
          }
        }
      }
    },
    GraphCase(
      "FET-075/stores", "an asynchronous fetch reads only its affected stores", requirements: ["FET-072"],
      ways: .own, sites: 2
    ) { g in
      let (c, stores) = try g.twoStores()
      for (named, expected) in [([stores[1]], [1, 3, 5, 7]), (stores, [0, 1, 2, 3, 4, 5, 6, 7])] {
        let fetch = AsynchronousRun(people(sort: "age"))
        fetch.request.affectedStores = named
        try c.performAndWait { _ = try fetch.begin(c) }
        g.equal(fetch.wait { $0.finalResult?.map { $0.number("age") } }, expected)
      }
    },
    GraphCase("FET-075/types", "an asynchronous fetch can also return IDs, dictionaries and counts", ways: .own) { g in
      try g.write { c in for age in 0..<5 { c.insert("Person", ["age": age]) } }
      let c = try g.newContext()
      let (ids, rows, count) = (people(sort: "age"), people(sort: "age"), people(sort: "age"))
      ids.resultType = .managedObjectIDResultType
      (rows.resultType, rows.propertiesToFetch) = (.dictionaryResultType, ["age"])
      count.resultType = .countResultType
      let fetches = (
        AsynchronousRun(ids.retyped(as: NSManagedObjectID.self)), AsynchronousRun(rows.retyped(as: NSDictionary.self)),
        AsynchronousRun(count.retyped(as: NSNumber.self))
      )
      try c.performAndWait {
        _ = try fetches.0.begin(c)
        _ = try fetches.1.begin(c)
        _ = try fetches.2.begin(c)
      }
      let ages = try fetches.0.wait { try $0.finalResult?.map { try c.existingObject(with: $0).number("age") } }
      g.equal(ages, [0, 1, 2, 3, 4])
      g.equal(fetches.1.wait { $0.finalResult?.map { $0["age"] as? Int } }, [0, 1, 2, 3, 4])
      g.equal(fetches.2.wait { $0.finalResult?.map(\.intValue) }, [5])
    },
    GraphCase("FET-075/errors", "an asynchronous fetch that fails reports its error on completion", ways: .own) {
      g in
      let c = try g.newContext()
      let request = people(sort: "age")
      request.predicate = NSPredicate(format: "nothing == 1")
      let fetch = AsynchronousRun(request)
      try c.performAndWait { _ = try fetch.begin(c) }
      let ended = fetch.wait { (error: $0.operationError as NSError?, count: $0.finalResult?.count) }
      g.equal(ended?.error?.code, 134060)
      g.equal(ended?.count, nil)
    },
  ]
}

/// An asynchronous fetch and its completion.
private final class AsynchronousRun<Result: NSFetchRequestResult>: @unchecked Sendable {
  let request: NSAsynchronousFetchRequest<Result>
  private let done: DispatchSemaphore
  private let ended: Held<[NSAsynchronousFetchResult<Result>]>

  init(_ fetch: NSFetchRequest<Result>, estimate: Int = 0) {
    let (done, ended) = (DispatchSemaphore(value: 0), Held<[NSAsynchronousFetchResult<Result>]>([]))
    request = NSAsynchronousFetchRequest(fetchRequest: fetch) { result in
      ended.value.append(result)
      done.signal()
    }
    request.estimatedResultCount = estimate
    (self.done, self.ended) = (done, ended)
  }

  /// Executes the fetch. Call it on the context's queue.
  func begin(_ context: NSManagedObjectContext) throws -> NSAsynchronousFetchResult<Result>? {
    try context.execute(request) as? NSAsynchronousFetchResult<Result>
  }

  /// The result after completion; nil before.
  var result: NSAsynchronousFetchResult<Result>? { ended.value.first }
  var completions: Int { ended.value.count }

  /// Waits for completion, and calls `body` with the result on the context's queue.
  func wait<R>(_ body: (NSAsynchronousFetchResult<Result>) throws -> R?) rethrows -> R? {
    done.wait()
    guard let result else { return nil }
    return try result.managedObjectContext.performAndWait { try body(result) }
  }
}
