import StoreSchema

/// Runs programs over many rows at once.
///
/// Each step tests all rows that have reached it in its own loop. If each row went through all steps instead, the
/// processor would have to predict the next step. Steps lead only to steps with lower indices, so one pass from the
/// last step to the first suffices.
extension RowProgram {
  /// The rows that match the predicate, in their order.
  public func filter(_ rows: [Row]) -> [Row] {
    // Rows are tested singly where there are few of them, or more steps than lanes.
    guard rows.count >= 32, steps.count <= 256 else { return rows.filter { self($0) } }
    guard start >= 0 else { return start == Self.accepted ? rows : [] }
    let lanes = Lanes(steps.count)
    var result: [Row] = []
    rows.withUnsafeBufferPointer { rows in
      var first = 0
      while first < rows.count {
        let block = UnsafeBufferPointer(rebasing: rows[first..<min(first + Lanes.width, rows.count)])
        run(block, lanes)
        for position in lanes.accepted() { result.append(block[Int(position)]) }
        first += Lanes.width
      }
    }
    return result
  }

  private func run(_ rows: UnsafeBufferPointer<Row>, _ lanes: Lanes) {
    lanes.begin(rows, at: start)
    for number in steps.indices.reversed() where lanes.count(number) > 0 {
      let step = steps[number]
      let (word, int, double) = (step.word, Int64(bitPattern: step.word), Double(bitPattern: step.word))
      switch step.kind {
      case .intEqual: lanes.split(number, step) { other, _ in other == word }
      case .intLess: lanes.split(number, step) { other, _ in Int64(bitPattern: other) < int }
      case .intLessOrEqual: lanes.split(number, step) { other, _ in Int64(bitPattern: other) <= int }
      case .doubleLess: lanes.split(number, step) { other, _ in Double(bitPattern: other) < double }
      case .doubleLessOrEqual: lanes.split(number, step) { other, _ in Double(bitPattern: other) <= double }
      case .doubleGreater: lanes.split(number, step) { other, _ in Double(bitPattern: other) > double }
      case .doubleGreaterOrEqual: lanes.split(number, step) { other, _ in Double(bitPattern: other) >= double }
      case .bytesBegin:
        lanes.split(number, step) { _, view in with(step, view) { ByteSearch.beginsWith($0, $1) } }
      case .isNull, .doubleEqual, .bytesEqual, .bytesContain, .bytesEnd:
        lanes.split(number, step) { other, view in holds(step, other, view) }
      case .test:
        let test = tests[Int(word)].test
        lanes.move(number, step) { position in test(rows[position]) }
      }
    }
  }
}

/// The indices of a block's rows, in a lane for each step that they have reached, and in one lane each for rejected and
/// accepted rows.
private final class Lanes {
  static var width: Int { 256 }

  private let views: UnsafeMutablePointer<RowView>
  private let positions: UnsafeMutablePointer<UInt16>
  private let counts: UnsafeMutablePointer<Int>
  private let laneCount: Int

  init(_ stepCount: Int) {
    laneCount = stepCount + 2
    views = .allocate(capacity: Self.width)
    positions = .allocate(capacity: laneCount * Self.width)
    counts = .allocate(capacity: laneCount)
  }

  deinit {
    views.deallocate()
    positions.deallocate()
    counts.deallocate()
  }

  /// The lane of a step. The lanes of the results come before those of the steps.
  @inline(__always)
  private func lane(_ step: Int) -> Int { step + 2 }

  func count(_ step: Int) -> Int { counts[lane(step)] }

  /// Starts a block of rows, all of them at one step.
  func begin(_ rows: UnsafeBufferPointer<Row>, at step: Int) {
    counts.update(repeating: 0, count: laneCount)
    let own = positions + lane(step) * Self.width
    for position in rows.indices {
      (views + position).initialize(to: rows[position].view)
      own[position] = UInt16(truncatingIfNeeded: position)
    }
    counts[lane(step)] = rows.count
  }

  /// Moves the rows of a step to the lanes of their next steps.
  @inline(__always)
  func split(_ number: Int, _ step: RowProgram.Step, _ test: (UInt64, RowView) -> Bool) {
    let slot = Int(step.slot)
    let isTrueForNull = step.isTrueForNull
    move(number, step) { position in
      let view = views[position]
      let word = UInt64(bitPattern: view.int(slot))
      // The word of a null slot is zero.
      if word == 0 && view.isNull(slot) { return isTrueForNull }
      return test(word, view)
    }
  }

  /// Every row is written to both lanes, and only one lane counts it, so that no branch needs prediction. A lane has
  /// room for all rows.
  @inline(__always)
  func move(_ number: Int, _ step: RowProgram.Step, _ test: (Int) -> Bool) {
    let own = positions + lane(number) * Self.width
    let (yes, no) = (lane(Int(step.yes)), lane(Int(step.no)))
    if yes == no {
      (positions + yes * Self.width + counts[yes]).update(from: own, count: counts[lane(number)])
      counts[yes] += counts[lane(number)]
      return
    }
    let (yesPositions, noPositions) = (positions + yes * Self.width, positions + no * Self.width)
    var (yesCount, noCount) = (counts[yes], counts[no])
    for index in 0..<counts[lane(number)] {
      let position = own[index]
      let isTrue = test(Int(position)) ? 1 : 0
      yesPositions[yesCount] = position
      noPositions[noCount] = position
      yesCount &+= isTrue
      noCount &+= 1 &- isTrue
    }
    (counts[yes], counts[no]) = (yesCount, noCount)
  }

  /// The indices of the accepted rows, ascending.
  func accepted() -> UnsafeMutableBufferPointer<UInt16> {
    let lane = lane(RowProgram.accepted)
    var found = UnsafeMutableBufferPointer(start: positions + lane * Self.width, count: counts[lane])
    if !zip(found, found.dropFirst()).allSatisfy({ $0 < $1 }) { found.sort() }
    return found
  }
}
