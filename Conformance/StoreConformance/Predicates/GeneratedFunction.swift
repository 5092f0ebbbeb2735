import StoreQuery

/// A function of one value for generated predicates.
struct GeneratedFunction {
  /// The name before the parentheses.
  let name: String
  let takesText: Bool
  let givesText: Bool

  /// All functions of one value, including added ones.
  static var all: [GeneratedFunction] { Function.all.compactMap(GeneratedFunction.init) }

  init?(_ function: Function) {
    guard case .values = function.kernel, function.castClass == nil, function.parameters.count == 1 else { return nil }
    switch function.parameters[0] {
    case .text: takesText = true
    case .number: takesText = false
    case .any, .location, .collection, .index: return nil
    }
    name = String(function.selector.dropLast())
    givesText = function.type(of: [takesText ? .text : .number]) == .text
  }
}
