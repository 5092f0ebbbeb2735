/// Both sides of one workload, the median of all rounds.
struct WorkloadResult: Encodable {
  let workload: Workload
  let store: String
  /// The value of PRAGMA synchronous on both sides.
  let synchronous: String
  let figure: Workload.Figure
  /// CPU time of the library over that of the raw side, wall time where the figure says so: the median of the rounds'
  /// own ratios, because the two sides of a round run one after the other and a machine whose speed drifts treats both
  /// alike. Nil where one side did not run.
  let ratio: Double?
  /// The same of the fastest round on each side, which other work on the machine disturbs least.
  let bestRatio: Double?
  let goal: Double
  let raw: Measurement?
  let library: Measurement?
  /// Whether both sides read the same values and wrote the same rows in every round; nil where one did not run.
  let checksumEqual: Bool?

  init(_ workload: Workload, _ cells: [Side: [CellResult]], _ options: Options) {
    self.workload = workload
    (store, synchronous) = (options.store, workload.synchronous ?? options.synchronous)
    figure = workload.figure
    let time = figure == .wallRatio ? \Measurement.wall : \Measurement.cpu
    goal = workload.goal(store)
    let (raw, library) = (Self.median(cells[.raw] ?? []), Self.median(cells[.library] ?? []))
    self.raw = raw
    self.library = library
    let pairs = zip(cells[.raw] ?? [], cells[.library] ?? []).map {
      $1.measurement[keyPath: time] / $0.measurement[keyPath: time]
    }
    ratio = pairs.isEmpty ? nil : Self.median(pairs)
    func best(_ side: Side) -> Double? { cells[side]?.map { $0.measurement[keyPath: time] }.min() }
    bestRatio = best(.raw).flatMap { raw in best(.library).map { $0 / raw } }
    let checksums = Set(cells.values.joined().map(\.checksum))
    checksumEqual = cells.count == 2 ? checksums.count == 1 : nil
  }

  /// What is held against the goal.
  var value: Double? {
    switch figure {
    case .ratio, .wallRatio: ratio
    case .milliseconds, .bytes, .share: library?.value
    }
  }

  var isMet: Bool? { value.map { $0 <= goal && checksumEqual != false && !syncsMore } }

  /// Small saves are as good as their syncs: no more of them than on the raw side.
  private var syncsMore: Bool {
    guard workload == .w13, let raw, let library else { return false }
    return library.fsyncs > raw.fsyncs
  }

  private static func median(_ cells: [CellResult]) -> Measurement? {
    let all = cells.map(\.measurement)
    if all.isEmpty { return nil }
    let values = all.compactMap(\.value)
    return Measurement(
      cpu: median(all.map(\.cpu)), wall: median(all.map(\.wall)), bytesWritten: median(all.map(\.bytesWritten)),
      fsyncs: median(all.map(\.fsyncs)), peak: median(all.map(\.peak)),
      value: values.isEmpty ? nil : median(values))
  }

  /// Of an even number, the lower one of the two in the middle.
  private static func median<T: Comparable>(_ values: [T]) -> T { values.sorted()[(values.count - 1) / 2] }
}
