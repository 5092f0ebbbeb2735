/// The sum of any number of doubles and integers, rounded once, so that it does not depend on their order.
///
/// The sum is kept as one long fixed-point number, from the least double to far above the greatest.
struct ExactSum: Sendable {
  /// Digits of 32 bits, the least significant first. The first bit has the value 2^-1074. Between two carries a digit
  /// may have more bits, or be negative.
  private var digits = ContiguousArray<Int64>(repeating: 0, count: 70)
  /// The digits in use. Below are only zeros, above only the sign of the sum.
  private var used = 70..<70
  private var addedSinceCarry = 0
  /// Whether an infinite double or NaN was among the numbers.
  private(set) var isBroken = false

  private static let carryEvery = 1 << 30
  /// The index of the bit with the value one.
  private static let one = 1074

  mutating func add(_ number: Double) {
    let exponent = Int(number.exponentBitPattern)
    if exponent == 0x7FF {
      isBroken = true
      return
    }
    let fraction = number.significandBitPattern
    if exponent == 0 {
      add(fraction, at: 0, isNegative: number.sign == .minus)
    } else {
      add(fraction | 1 << 52, at: exponent - 1, isNegative: number.sign == .minus)
    }
  }

  mutating func add(_ whole: Int128) {
    let magnitude = whole.magnitude
    add(UInt64(truncatingIfNeeded: magnitude), at: Self.one, isNegative: whole < 0)
    add(UInt64(truncatingIfNeeded: magnitude >> 64), at: Self.one + 64, isNegative: whole < 0)
  }

  /// Adds a number whose first bit has the index `position`.
  private mutating func add(_ bits: UInt64, at position: Int, isNegative: Bool) {
    let (first, shift) = (position >> 5, UInt64(position & 31))
    let low = bits << shift
    // Two shifts: a single shift by 64, where `shift` is 0, would not give 0.
    let high = (bits >> 1) >> (63 - shift)
    let parts = (Int64(low & 0xFFFF_FFFF), Int64(low >> 32), Int64(high))
    if isNegative {
      digits[first] -= parts.0
      digits[first + 1] -= parts.1
      digits[first + 2] -= parts.2
    } else {
      digits[first] += parts.0
      digits[first + 1] += parts.1
      digits[first + 2] += parts.2
    }
    if first < used.lowerBound || first + 3 > used.upperBound { use(first..<first + 3) }
    addedSinceCarry += 1
    if addedSinceCarry == Self.carryEvery { carry() }
  }

  private mutating func use(_ positions: Range<Int>) {
    let isFirst = used.isEmpty
    used = isFirst ? positions : min(used.lowerBound, positions.lowerBound)..<max(used.upperBound, positions.upperBound)
  }

  /// Reduces all digits to 32 bits. The digit after the last is then 0, or -1 for a negative sum.
  private mutating func carry() {
    addedSinceCarry = 0
    var position = used.lowerBound
    while position < used.upperBound || position < digits.count && digits[position] != 0 && digits[position] != -1 {
      digits[position + 1] += digits[position] >> 32
      digits[position] &= 0xFFFF_FFFF
      position += 1
    }
    used = used.lowerBound..<position
  }

  /// The double nearest to the sum; of two equally near ones the even one; infinite where the sum is too great.
  var rounded: Double {
    var sum = self
    sum.carry()
    let isNegative = sum.digit(sum.used.upperBound) < 0
    if isNegative {
      for position in sum.used.lowerBound...sum.used.upperBound { sum.digits[position] = -sum.digits[position] }
      sum.carry()
    }
    let magnitude = sum.roundedMagnitude
    return isNegative ? -magnitude : magnitude
  }

  private var roundedMagnitude: Double {
    guard let top = digits[used].lastIndex(where: { $0 != 0 }) else { return 0 }
    let highest = top * 32 + 63 - digits[top].leadingZeroBitCount
    // Up to 53 bits are exact.
    let lowest = highest - 52
    if lowest <= 0 { return Double(bits(from: 0)) * Double.leastNonzeroMagnitude }
    var significand = bits(from: lowest) & (1 << 53 - 1)
    let half = bit(lowest - 1)
    if half && (significand & 1 == 1 || hasBits(below: lowest - 1)) { significand += 1 }
    return Double(sign: .plus, exponent: lowest - Self.one, significand: Double(significand))
  }

  /// 64 bits from an index on.
  private func bits(from position: Int) -> UInt64 {
    let (first, shift) = (position >> 5, UInt64(position & 31))
    let low = UInt64(digit(first)) | UInt64(digit(first + 1)) << 32
    return low >> shift | (UInt64(digit(first + 2)) << 1) << (63 - shift)
  }

  private func digit(_ position: Int) -> Int64 { position < digits.count ? digits[position] : 0 }

  private func bit(_ position: Int) -> Bool { digits[position >> 5] >> Int64(position & 31) & 1 == 1 }

  private func hasBits(below position: Int) -> Bool {
    let whole = position >> 5
    // All digits below the first digit in use are zero.
    let below = digits[min(used.lowerBound, whole)..<whole]
    return below.contains { $0 != 0 } || digits[whole] & (1 << Int64(position & 31) - 1) != 0
  }
}
