import StoreProtocol
import StoreQuery
import StoreSchema

/// Reads the results of a fetch from one store. It uses no context, and runs on any thread.
struct StoreFetcher {
  let plan: FetchPlan
  /// Whether whole rows are read, or only keys.
  let readsRows: Bool
  /// Whether the values of the sort keys are read.
  let readsSortKeys: Bool

  /// Calls `body` with each result in the plan's order.
  func read(
    _ view: StoreView, store: UInt16, _ body: (FoundObject) -> Void
  ) throws(StoreError) {
    let (snapshot, stamp) = (view.snapshot, view.stamp)
    let execution = FetchExecution(snapshot)
    let wantsKeys = readsSortKeys && !plan.sort.isEmpty
    guard readsRows else {
      if wantsKeys {
        return try keys(snapshot) { body(FoundObject($0, store: store, .key, keys: $1)) }
      }
      return try execution.references(plan) { body(FoundObject($0, store: store, .key)) }
    }
    if wantsKeys && !plan.sort.allSatisfy(\.path.isOwn) {
      var known: [Int64: [Value]] = [:]
      try keys(snapshot) { known[$0.key] = $1 }
      let none = plan.sort.map { _ in Value.null }
      return try execution.fetch(plan) {
        body(FoundObject($0.reference, store: store, .row($0, view: stamp), keys: known[$0.key] ?? none))
      }
    }
    try execution.fetch(plan) { row in
      let keys = wantsKeys ? plan.sort.map { row.value(of: $0.path.leaf) } : []
      body(FoundObject(row.reference, store: store, .row(row, view: stamp), keys: keys))
    }
  }

  /// Reads the references and the sort keys of the results as a table.
  private func keys(
    _ snapshot: any StoreSnapshot, _ body: (ObjectReference, [Value]) -> Void
  ) throws(StoreError) {
    let columns = [SlotPath(leaf: .object)] + plan.sort.map(\.path)
    let table = TablePlan(plan, columns: columns.map { .value(.path($0)) })
    try TableExecution(snapshot).run(table) { values, _ in
      if case .reference(let reference)? = values.first { body(reference, Array(values.dropFirst())) }
    }
  }
}
