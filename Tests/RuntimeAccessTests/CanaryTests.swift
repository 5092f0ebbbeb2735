import CRuntime
import Dispatch
import Foundation
import Synchronization
import Testing

@testable import RuntimeAccess

/// A failure here means that this version of Swift differs from the versions that a trick was written for. The library
/// goes without the trick then; the table in `Sources/RuntimeAccess/README.md` says what that means.
@Suite struct CanaryTests {
  @Test(arguments: RuntimeTrick.allCases) func theTrickWorks(_ trick: RuntimeTrick) {
    #expect(trick.canary() && trick.canary())
  }

  /// Contexts of a process may be made on many threads at once, each of which checks the trick.
  @Test(arguments: [RuntimeTrick.livingObjects, .immortalObjects]) func itWorksOnManyThreads(_ trick: RuntimeTrick) {
    let failures = Mutex(0)
    DispatchQueue.concurrentPerform(iterations: 2000) { _ in
      if !trick.canary() { failures.withLock { $0 += 1 } }
    }
    #expect(failures.withLock { $0 } == 0)
  }

  @Test func everyTrickHasItsOwnState() {
    #expect(Set(RuntimeTrick.allCases.map(\.rawValue)).count == RuntimeTrick.allCases.count)
    #expect(RuntimeTrick.allCases.allSatisfy { (0..<CD_TRICKS).contains($0.rawValue) })
  }

  @Test func theEnvironmentTurnsTricksOff() throws {
    let variable = "OPENCOREDATA_TEST_LIST"
    func isOff(_ name: String, _ list: String) -> Bool {
      setenv(variable, list, 1)
      return cd_lists(variable, name)
    }
    defer { unsetenv(variable) }
    #expect(!cd_lists(variable, "rawObjects"))
    #expect(isOff("rawObjects", "rawObjects") && isOff("rawObjects", "a,rawObjects,b") && isOff("rawObjects", "b,all"))
    #expect(!isOff("rawObjects", "") && !isOff("rawObjects", "raw,Objects,rawObjects2") && !isOff("rawObjects", ",,"))
  }
}
