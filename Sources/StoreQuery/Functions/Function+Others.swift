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
    // A number from 0 to below 1.
    Function("random", [], gives: .always(.real), .random { _ in .double(Double.random(in: 0..<1)) }),
    // A whole number from 0 to below the operand.
    Function(
      "random:", [.number], gives: .number,
      .random {
        guard case .int(let bound) = $0[0], bound > 0 else { return .null }
        return .int(Int64.random(in: 0..<bound))
      }),
    // The store decides which indexes it uses; the result is the same.
    Function("noindex:", [.any], gives: .always(.other), .operand),
  ]
}
