/// The help texts of the tool.
enum Help {
  static let about = "Reads, checks and changes Core Data stores without a Mac."

  static var overview: String {
    let width = Tool.commands.map(\.name.count).max() ?? 0
    let list = Tool.commands.map {
      "  \($0.name)\(String(repeating: " ", count: width - $0.name.count))  \($0.summary)"
    }
    return """
      \(about)

      usage: coredata COMMAND …

      \(list.joined(separator: "\n"))

      coredata help COMMAND, or any command with --help, says more. coredata --version prints the version.
      Exit status: 0 for success, 1 for an error in the data, 2 for an error in the call. Reading changes nothing, not even times.
      Colour is used on terminals only, and not where NO_COLOR is set.

      """
  }

  static func usage(_ command: Command) -> String {
    let options = command.options.map { option in
      let text = option.name + (option.value.map { " " + $0 } ?? "")
      return option.isRepeatable ? "[\(text)]…" : "[\(text)]"
    }
    return (["coredata", command.name] + command.operands + options).joined(separator: " ")
  }

  static func text(_ command: Command) -> String {
    var parts = ["\(command.summary)", "usage: \(usage(command))"]
    if !command.options.isEmpty {
      let names = command.options.map { $0.name + ($0.value.map { " " + $0 } ?? "") }
      let width = names.map(\.count).max() ?? 0
      parts.append(
        zip(names, command.options).map { name, option in
          "  \(name)\(String(repeating: " ", count: width - name.count))  "
            + wrapped(option.help, width: 96 - width, indent: width + 4)
        }.joined(separator: "\n"))
    }
    if !command.discussion.isEmpty { parts.append(command.discussion) }
    return parts.joined(separator: "\n\n") + "\n"
  }

  private static func wrapped(_ text: String, width: Int, indent: Int) -> String {
    var lines = [""]
    for word in text.split(separator: " ") {
      if !lines[lines.count - 1].isEmpty && lines[lines.count - 1].count + word.count >= width { lines.append("") }
      lines[lines.count - 1] += (lines[lines.count - 1].isEmpty ? "" : " ") + word
    }
    return lines.joined(separator: "\n" + String(repeating: " ", count: indent))
  }
}
