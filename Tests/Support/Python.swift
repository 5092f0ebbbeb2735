import Foundation

/// Runs the Python programs in Tools. The first argument is the program's path there.
package enum Python {
  package struct Failure: Error { package let message: String }

  /// What a program prints. Throws its error output where the program fails.
  package static func run(_ arguments: [String]) throws -> String {
    let result = try result(arguments)
    guard result.status == 0 else { throw Failure(message: result.errors) }
    return result.output
  }

  package static func result(_ arguments: [String]) throws -> (status: Int32, output: String, errors: String) {
    let program = Repository.tools.appending(path: arguments[0]).path
    let run = try ToolRun(["python3", program] + arguments.dropFirst(), program: URL(filePath: "/usr/bin/env"))
    return (run.status, run.output, run.errors)
  }
}
