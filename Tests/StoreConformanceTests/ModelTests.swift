import Testing

@testable import StoreConformance

/// The operations of model runs.
@Suite struct ModelTests {
  @Test func noOperationChangesAnObjectTwice() throws {
    let model = try ModelSchema()
    var reference = ReferenceStore()
    for operation in ModelOperation.stream(count: 4000, seed: 5) {
      var plan = ModelPlan(model, reference, operation)
      let changes = plan.changes(operation.kind)
      let changed = changes.compactMap { change in
        switch change {
        case .update(let number, _, _, _), .delete(let number, _): number
        default: nil
        }
      }
      #expect(Set(changed).count == changed.count, "\(operation)")
      _ = reference.apply(changes)
    }
    #expect(reference.objects.count > 20)
  }
}
