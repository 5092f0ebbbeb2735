import Foundation
import Synchronization

/// Whether ``report(_:)`` writes nothing: for a program that needs standard error for its own output.
package let diagnosticsAreSilent = Atomic<Bool>(false)

/// Writes a message to standard error, where the error cannot be thrown because the caller is a getter or a
/// notification.
func report(_ text: String) {
  if diagnosticsAreSilent.load(ordering: .relaxed) { return }
  // A closed or interrupted standard error must not stop the program, and there is no other way to report it.
  try? FileHandle.standardError.write(contentsOf: Data("CoreData: \(text)\n".utf8))
}
