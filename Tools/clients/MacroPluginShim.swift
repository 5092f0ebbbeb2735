// Stands in for the module SwiftCompilerPlugin, which the toolchain does not ship. The compiler loads the macros of
// client libraries as a library and finds each by its name: a plugin has nothing to do.
import SwiftSyntaxMacros

public protocol CompilerPlugin {
  init()
  var providingMacros: [any Macro.Type] { get }
}

extension CompilerPlugin {
  public static func main() {}
}
