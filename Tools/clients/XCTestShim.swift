// What tests of client libraries use of Apple's XCTest, and XCTest does not have on Linux.
import XCTest

extension XCTestCase {
  /// A minute is enough for any test.
  func wait(for expectations: [XCTestExpectation]) { wait(for: expectations, timeout: 60) }
}
