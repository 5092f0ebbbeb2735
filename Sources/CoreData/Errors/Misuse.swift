/// Ends the program with a sentence that says what the programmer did and what to do instead.
///
/// For wrong use of the API only, where Core Data on Apple's platforms raises an exception. Data never comes here.
func misuse(_ message: @autoclosure () -> String, file: StaticString = #fileID, line: UInt = #line) -> Never {
  fatalError("CoreData: " + message(), file: file, line: line)
}
