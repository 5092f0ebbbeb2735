/// Ends the program with a message that says what the programmer did and what to do instead.
///
/// Only for wrong use of the API, where Core Data on Apple's platforms raises an exception. Data never causes it.
func misuse(_ message: @autoclosure () -> String, file: StaticString = #fileID, line: UInt = #line) -> Never {
  fatalError("CoreData: " + message(), file: file, line: line)
}
