import StoreSchema

/// The remaining functions.
extension Function {
  static let locations = [
    Function(
      LocationKernel.selector, shortName: "distanceToLocation", [.location, .location], gives: .always(.real),
      .values(LocationKernel.distance))
  ]

  static let others = [
    Function("now", [], gives: .always(.date), .now),
    // From 0 to below 1.
    Function("random", [], gives: .always(.real), .random { _ in .double(Double.random(in: 0..<1)) }),
    // A whole number below the operand.
    Function(
      "random:", [.number], gives: .number,
      .random {
        guard case .int(let bound) = $0[0], bound > 0 else { return .null }
        return .int(Int64.random(in: 0..<bound))
      }),
    // Which indexes are used is up to a store: the objects are the same.
    Function("noindex:", [.any], gives: .always(.other), .operand),
  ]
}
