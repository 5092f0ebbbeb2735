import Foundation

/// Says on standard error what cannot be thrown, because the caller is a getter or a notification.
func report(_ text: String) {
  // A closed or interrupted standard error must not stop the program, and there is nobody left to tell.
  try? FileHandle.standardError.write(contentsOf: Data("CoreData: \(text)\n".utf8))
}
