import Foundation
import Synchronization

/// Whether ``report(_:)`` says nothing: for a program whose standard error is for its own sentences.
package let diagnosticsAreSilent = Atomic<Bool>(false)

/// Says on standard error what cannot be thrown, because the caller is a getter or a notification.
func report(_ text: String) {
  if diagnosticsAreSilent.load(ordering: .relaxed) { return }
  // A closed or interrupted standard error must not stop the program, and there is nobody left to tell.
  try? FileHandle.standardError.write(contentsOf: Data("CoreData: \(text)\n".utf8))
}
