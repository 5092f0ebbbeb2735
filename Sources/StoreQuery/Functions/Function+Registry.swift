import Synchronization

/// The registry of functions, by their names.
extension Function {
  /// The built-in functions of the language.
  package static let builtIn: [Function] =
    arithmetic + numbers + texts + statistics + collections + casts + locations + others

  /// The functions, in the order of their numbers.
  public static var all: [Function] { table.withLock(\.functions) }

  /// The function with a selector.
  public static func named(_ selector: String) -> Function? { table.withLock { $0.function(selector) } }

  /// The function for `CAST(value, 'className')`; nil for a class without casts.
  public static func cast(to className: String) -> Function? { all.first { $0.castClass == className } }

  /// The selector of the function with this short name in a format.
  static func selector(shortName: String) -> String? {
    table.withLock { table in table.functions.first { $0.shortName == shortName }?.selector }
  }

  /// The function with a number.
  public static func numbered(_ number: Int) -> Function? {
    table.withLock { $0.functions.indices.contains(number) ? $0.functions[number] : nil }
  }

  /// The number by which statements name the function; nil if the function was not added. Numbers are never stored,
  /// because another process may give the function another number.
  public var number: Int? { Self.table.withLock { $0.numbers[selector] } }

  /// Adds a function for the rest of the process, before any store is opened.
  package static func add(_ function: Function) { table.withLock { $0.add(function) } }

  private struct Table: Sendable {
    var functions: [Function] = []
    var numbers: [String: Int] = [:]

    func function(_ selector: String) -> Function? { numbers[selector].map { functions[$0] } }

    mutating func add(_ function: Function) {
      precondition(numbers[function.selector] == nil, "There is a function \(function.selector) already.")
      numbers[function.selector] = functions.count
      functions.append(function)
    }
  }

  private static let table = Mutex(
    builtIn.reduce(into: Table()) { table, function in table.add(function) })
}
