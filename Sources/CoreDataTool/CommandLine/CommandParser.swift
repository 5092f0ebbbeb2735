/// Parses a command's operands and options from the words after its name.
enum CommandParser {
  static func parse(_ words: ArraySlice<String>, for command: Command) throws -> Invocation {
    var result = Invocation()
    var rest = words
    var takesOptions = true
    while let word = rest.popFirst() {
      if !takesOptions || word == "-" || !word.hasPrefix("-") {
        result.operands.append(word)
      } else if word == "--" {
        takesOptions = false
      } else {
        try option(word, &rest, command, &result)
      }
    }
    let missing = command.operands.dropFirst(result.operands.count)
    if let first = missing.first { throw UsageError(message: "\(first) is missing.", command: command) }
    if let extra = result.operands.dropFirst(command.operands.count).first {
      throw UsageError(message: "\"\(extra)\" is one word too many.", command: command)
    }
    return result
  }

  private static func option(
    _ word: String, _ rest: inout ArraySlice<String>, _ command: Command, _ result: inout Invocation
  ) throws {
    let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
    guard let option = command.options.first(where: { $0.name == parts[0] }) else {
      throw UsageError(message: "There is no option \(parts[0]).", command: command)
    }
    if result.values[option.name] != nil && !option.isRepeatable {
      throw UsageError(message: "\(option.name) is given twice.", command: command)
    }
    guard let name = option.value else {
      if parts.count > 1 { throw UsageError(message: "\(option.name) takes no value.", command: command) }
      result.values[option.name] = []
      return
    }
    guard let value = parts.count > 1 ? parts[1] : rest.popFirst() else {
      throw UsageError(message: "\(option.name) needs a value, \(name).", command: command)
    }
    result.values[option.name, default: []].append(value)
  }
}
