import StoreSchema

/// A predicate over a row's own values as a program. Its steps test packed words and bytes and name the next step. Its
/// results are those of ``ComparisonKernel`` over the values.
///
/// Nested closures, which ``CompiledPredicate`` uses where a program is not possible, take several times as long.
public struct RowProgram: Sendable {
  enum Kind: UInt8, Sendable {
    case isNull
    case intEqual, intLess, intLessOrEqual
    case doubleEqual, doubleLess, doubleLessOrEqual, doubleGreater, doubleGreaterOrEqual
    case bytesEqual, bytesContain, bytesBegin, bytesEnd
    /// The result of a closure.
    case test
  }

  struct Step: Sendable {
    let kind: Kind
    let slot: Int32
    /// The bits of the constant, the range of its bytes, or the index of its closure.
    let word: UInt64
    /// The next step for true and false.
    let (yes, no): (Int32, Int32)
    /// The result for a null slot.
    let isTrueForNull: Bool
  }

  /// A closure. As a direct element of an array it would be called through further closures.
  struct Test: Sendable { let test: @Sendable (Row) -> Bool }

  /// The pseudo-steps of the results.
  static var accepted: Int { -1 }
  static var rejected: Int { -2 }

  private(set) var steps: ContiguousArray<Step> = []
  /// The bytes of all texts.
  private var patterns: ContiguousArray<UInt8> = []
  private(set) var tests: ContiguousArray<Test> = []
  private(set) var start = RowProgram.accepted

  /// Nil for a predicate that needs more than the row.
  public init?(_ predicate: ResolvedPredicate) {
    guard let start = add(predicate, Self.accepted, Self.rejected) else { return nil }
    self.start = start
  }

  /// The program as a closure.
  public var test: @Sendable (Row) -> Bool { { self($0) } }

  /// Whether the row matches the predicate.
  public func callAsFunction(_ row: Row) -> Bool {
    defer { withExtendedLifetime(row) {} }
    let view = row.view
    return steps.withUnsafeBufferPointer { steps in
      var next = start
      while next >= 0 {
        let step = steps[next]
        if step.kind == .test {
          next = Int(tests[Int(step.word)].test(row) ? step.yes : step.no)
          continue
        }
        let slot = Int(step.slot)
        let word = view.int(slot)
        // The word of a null slot is zero.
        let isTrue =
          word == 0 && view.isNull(slot) ? step.isTrueForNull : holds(step, UInt64(bitPattern: word), view)
        next = Int(isTrue ? step.yes : step.no)
      }
      return next == Self.accepted
    }
  }

  @inline(__always)
  func holds(_ step: Step, _ word: UInt64, _ view: RowView) -> Bool {
    switch step.kind {
    case .isNull, .test: false
    case .intEqual: word == step.word
    case .intLess: Int64(bitPattern: word) < Int64(bitPattern: step.word)
    case .intLessOrEqual: Int64(bitPattern: word) <= Int64(bitPattern: step.word)
    case .doubleEqual: Double(bitPattern: word) == Double(bitPattern: step.word)
    case .doubleLess: Double(bitPattern: word) < Double(bitPattern: step.word)
    case .doubleLessOrEqual: Double(bitPattern: word) <= Double(bitPattern: step.word)
    case .doubleGreater: Double(bitPattern: word) > Double(bitPattern: step.word)
    case .doubleGreaterOrEqual: Double(bitPattern: word) >= Double(bitPattern: step.word)
    case .bytesEqual, .bytesContain, .bytesBegin, .bytesEnd: matches(step, view)
    }
  }

  @inline(__always)
  private func matches(_ step: Step, _ view: RowView) -> Bool {
    with(step, view) { text, pattern in
      switch step.kind {
      case .bytesEqual: ByteSearch.areEqual(text, pattern)
      case .bytesContain: ByteSearch.contains(text, pattern)
      case .bytesBegin: ByteSearch.beginsWith(text, pattern)
      default: ByteSearch.endsWith(text, pattern)
      }
    }
  }

  /// Calls `body` with the text of the row and the text of the step.
  @inline(__always)
  func with(_ step: Step, _ view: RowView, _ body: (ByteSearch.Bytes, ByteSearch.Bytes) -> Bool) -> Bool {
    patterns.withUnsafeBufferPointer { patterns in
      let pattern = ByteSearch.Bytes(rebasing: patterns[Int(step.word >> 32)..<Int(step.word & 0xffff_ffff)])
      return body(view.bytes(Int(step.slot)).bindMemory(to: UInt8.self), pattern)
    }
  }

  // MARK: Making steps

  /// Adds the steps of a predicate, the last one first, and returns its first step.
  private mutating func add(_ predicate: ResolvedPredicate, _ yes: Int, _ no: Int) -> Int? {
    switch predicate {
    case .constant(let value): return value ? yes : no
    case .not(let inner): return add(inner, no, yes)
    case .and(let parts):
      var next = yes
      for part in parts.reversed() {
        guard let first = add(part, next, no) else { return nil }
        next = first
      }
      return next
    case .or(let parts):
      var next = no
      for part in parts.reversed() {
        guard let first = add(part, yes, next) else { return nil }
        next = first
      }
      return next
    case .comparison(.path(let path), let op, .constant(let constant), let options) where path.isOwn:
      if let first = add(path.leaf, op, constant, options, yes, no) { return first }
      let leaf = path.leaf
      return add(yes, no) { ComparisonKernel.evaluate(op, options, left: $0.value(of: leaf), right: constant) }
    case .comparison, .between, .member, .exists, .dynamic: return nil
    }
  }

  /// A comparison without a closure; nil where the kernel must be called.
  private mutating func add(
    _ leaf: SlotPath.Leaf, _ op: Predicate.Operator, _ constant: Value, _ options: Predicate.Options, _ yes: Int,
    _ no: Int
  ) -> Int? {
    guard case .attribute(let slot, let kind, _) = leaf else { return nil }
    switch (kind, constant) {
    case (_, .null):
      switch op {
      case .equalTo: return add(.isNull, slot, 0, yes, no, forNull: true)
      case .notEqualTo: return add(.isNull, slot, 0, no, yes, forNull: true)
      default: return no
      }
    case (.int16, .int(let value)), (.int32, .int(let value)), (.int64, .int(let value)), (.bool, .int(let value)):
      return addInt(slot, op, value, yes, no)
    case (.bool, .bool(let value)), (.int16, .bool(let value)), (.int32, .bool(let value)), (.int64, .bool(let value)):
      return addInt(slot, op, value ? 1 : 0, yes, no)
    case (.double, .double(let value)), (.float, .double(let value)), (.date, .date(let value)):
      return value.isNaN ? nil : addDouble(slot, op, value, yes, no)
    case (.double, .int(let value)), (.float, .int(let value)):
      return value.magnitude < 1 << 53 ? addDouble(slot, op, Double(value), yes, no) : nil
    case (.string, .string(let text)): return add(slot, op, text, options, yes, no)
    default: return nil
    }
  }

  private mutating func addInt(
    _ slot: Int, _ op: Predicate.Operator, _ value: Int64, _ yes: Int, _ no: Int
  ) -> Int? {
    let word = UInt64(bitPattern: value)
    return switch op {
    case .equalTo: add(.intEqual, slot, word, yes, no)
    case .notEqualTo: add(.intEqual, slot, word, no, yes)
    case .lessThan: add(.intLess, slot, word, yes, no)
    case .lessThanOrEqualTo: add(.intLessOrEqual, slot, word, yes, no)
    case .greaterThan: add(.intLessOrEqual, slot, word, no, yes, forNull: true)
    case .greaterThanOrEqualTo: add(.intLess, slot, word, no, yes, forNull: true)
    default: nil
    }
  }

  private mutating func addDouble(
    _ slot: Int, _ op: Predicate.Operator, _ value: Double, _ yes: Int, _ no: Int
  ) -> Int? {
    let word = value.bitPattern
    return switch op {
    case .equalTo: add(.doubleEqual, slot, word, yes, no)
    case .notEqualTo: add(.doubleEqual, slot, word, no, yes)
    case .lessThan: add(.doubleLess, slot, word, yes, no)
    case .lessThanOrEqualTo: add(.doubleLessOrEqual, slot, word, yes, no)
    case .greaterThan: add(.doubleGreater, slot, word, yes, no)
    case .greaterThanOrEqualTo: add(.doubleGreaterOrEqual, slot, word, yes, no)
    default: nil
    }
  }

  private mutating func add(
    _ slot: Int, _ op: Predicate.Operator, _ text: String, _ options: Predicate.Options, _ yes: Int, _ no: Int
  ) -> Int? {
    if options.isEmpty {
      // Without options texts are compared as bytes.
      let position = UInt64(patterns.count) << 32 | UInt64(patterns.count + text.utf8.count)
      let first: Int? =
        switch op {
        case .equalTo: add(.bytesEqual, slot, position, yes, no)
        case .notEqualTo: add(.bytesEqual, slot, position, no, yes)
        case .contains: add(.bytesContain, slot, position, yes, no)
        case .beginsWith: add(.bytesBegin, slot, position, yes, no)
        case .endsWith: add(.bytesEnd, slot, position, yes, no)
        default: nil
        }
      if first != nil {
        patterns.append(contentsOf: text.utf8)
        return first
      }
    }
    let isNegated = op == .notEqualTo
    guard let matcher = try? TextMatcher(isNegated ? .equalTo : op, options, pattern: text) else { return nil }
    return add(yes, no) { row in
      let matches =
        !row.isNull(slot) && row.withBytes(slot) { matcher.matches(utf8: $0.bindMemory(to: UInt8.self)) }
      return matches != isNegated
    }
  }

  private mutating func add(
    _ kind: Kind, _ slot: Int, _ word: UInt64, _ yes: Int, _ no: Int, forNull isTrueForNull: Bool = false
  ) -> Int {
    steps.append(
      Step(kind: kind, slot: Int32(slot), word: word, yes: Int32(yes), no: Int32(no), isTrueForNull: isTrueForNull))
    return steps.count - 1
  }

  private mutating func add(_ yes: Int, _ no: Int, _ test: @escaping @Sendable (Row) -> Bool) -> Int {
    tests.append(Test(test: test))
    return add(.test, 0, UInt64(tests.count - 1), yes, no)
  }
}
