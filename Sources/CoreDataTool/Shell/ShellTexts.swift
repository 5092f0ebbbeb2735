/// The man page and the completions of shells, made from the list of commands.
enum ShellTexts {
  static let completions: Command = Command(
    words: ["completions"], operands: ["SHELL"], summary: "Writes completions for bash, zsh or fish",
    discussion: "For bash: coredata completions bash > /usr/share/bash-completion/completions/coredata"
  ) { invocation, output in
    switch invocation.operands[0] {
    case "bash": output.write(bash)
    case "zsh": output.write(zsh)
    case "fish": output.write(fish)
    default: throw UsageError(message: "SHELL is bash, zsh or fish.", command: completions)
    }
    return true
  }

  static let manual: Command = Command(words: ["manual"], summary: "Writes the man page, in the format of man") {
    _, output in
    output.write(man)
    return true
  }

  // MARK: Completions

  /// The possible first words, and for each of them the possible second words.
  private static var tree: [(first: String, second: [String])] {
    var result: [(first: String, second: [String])] = []
    for command in Tool.commands {
      let second = command.words.count > 1 ? [command.words[1]] : []
      if let position = result.firstIndex(where: { $0.first == command.words[0] }) {
        result[position].second += second
      } else {
        result.append((command.words[0], second))
      }
    }
    return result
  }

  private static func options(_ command: Command) -> String {
    (command.options.map(\.name) + ["--help"]).joined(separator: " ")
  }

  private static var bash: String {
    let first = (tree.map(\.first) + ["help", "--help", "--version"]).joined(separator: " ")
    let second = tree.filter { !$0.second.isEmpty }.map {
      "    \($0.first)) [ \"$COMP_CWORD\" -eq 2 ] && words=\"\($0.second.joined(separator: " "))\" ;;\n"
    }.joined()
    let cases = Tool.commands.map { "      \"\($0.name)\"*) words=\"\(options($0))\" ;;\n" }.joined()
    return """
      # bash completion for coredata
      _coredata_words() {
        local current=${COMP_WORDS[COMP_CWORD]} words=
        if [ "$COMP_CWORD" -eq 1 ]; then
          words="\(first)"
        elif [[ $current == -* ]]; then
          case "${COMP_WORDS[*]:1:2}" in
      \(cases)    esac
        else
          case "${COMP_WORDS[1]}" in
      \(second)    esac
        fi
        if [ -n "$words" ]; then
          COMPREPLY=($(compgen -W "$words" -- "$current"))
        else
          COMPREPLY=($(compgen -f -- "$current"))
        fi
      }
      complete -o filenames -F _coredata_words coredata

      """
  }

  private static var zsh: String {
    """
    #compdef coredata
    autoload -U +X bashcompinit && bashcompinit
    \(bash)# The first time, zsh runs this file because it wants an answer.
    [[ -n $compstate ]] && _bash_complete -o filenames -F _coredata_words

    """
  }

  private static var fish: String {
    var lines = ["# fish completion for coredata"]
    for (first, second) in tree {
      lines.append("complete -c coredata -n __fish_use_subcommand -f -a \(first)")
      for word in second {
        let condition =
          "__fish_seen_subcommand_from \(first); and not __fish_seen_subcommand_from \(second.joined(separator: " "))"
        lines.append("complete -c coredata -n '\(condition)' -f -a \(word)")
      }
    }
    for command in Tool.commands {
      let condition = command.words.map { "__fish_seen_subcommand_from \($0)" }.joined(separator: "; and ")
      for option in command.options {
        let value = option.value == nil ? "" : " -r"
        let help = option.help.replacing("'", with: "\\'")
        lines.append("complete -c coredata -n '\(condition)' -l \(option.name.dropFirst(2))\(value) -d '\(help)'")
      }
    }
    return lines.joined(separator: "\n") + "\n"
  }

  // MARK: Man page

  private static func escaped(_ text: String) -> String {
    text.replacing("\\", with: "\\e").replacing("-", with: "\\-")
      .split(separator: "\n", omittingEmptySubsequences: false)
      .map { $0.hasPrefix(".") || $0.hasPrefix("'") ? "\\&" + $0 : String($0) }.joined(separator: "\n")
  }

  private static var man: String {
    var lines = [
      ".TH COREDATA 1 \"\" \"coredata \(Tool.version)\"", ".SH NAME",
      "coredata \\- reads, checks and changes Core Data stores", ".SH SYNOPSIS",
    ]
    for command in Tool.commands { lines += [".B coredata", escaped(String(Help.usage(command).dropFirst(9))), ".br"] }
    lines += [".SH DESCRIPTION", escaped(Help.about), ".SH COMMANDS"]
    for command in Tool.commands {
      lines += [
        ".SS " + escaped(([command.name] + command.operands).joined(separator: " ")), escaped(command.summary) + ".",
      ]
      for option in command.options {
        lines += [".TP", ".B " + escaped(option.name + (option.value.map { " " + $0 } ?? "")), escaped(option.help)]
      }
      if !command.discussion.isEmpty { lines += [".PP", ".nf", escaped(command.discussion), ".fi"] }
    }
    lines += [
      ".SH EXIT STATUS", "0: success. 1: an error in the data. 2: an error in the call.", ".SH ENVIRONMENT", ".TP",
      ".B NO_COLOR", "If it is set, no colour is used.",
    ]
    return lines.joined(separator: "\n") + "\n"
  }
}
