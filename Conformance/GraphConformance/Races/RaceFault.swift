/// A fault found in a run.
struct RaceFault: Sendable {
  /// The kind of the fault, with the most informative kinds first. A shrunk program must show the same kind as the
  /// original.
  enum Kind: Int, Sendable, CaseIterable {
    case action, reference, deny, cascade, linkToGone, lost, deletedIsThere, notAcknowledged, owner, pair, order, value,
      large
    case replaced, unreadable, verify, error, process

    /// The name of the kind in reports.
    var text: String {
      switch self {
      case .action: "action not done"
      case .reference: "refers to nothing"
      case .deny: "deny broken"
      case .cascade: "cascade broken"
      case .linkToGone: "link to a deleted object"
      case .lost: "object lost"
      case .deletedIsThere: "deleted object exists"
      case .notAcknowledged: "object never saved"
      case .owner: "link not explained"
      case .pair: "pair not explained"
      case .order: "order not explained"
      case .value: "value not explained"
      case .large: "large value not readable"
      case .replaced: "saved to a replaced store"
      case .unreadable: "store not readable"
      case .verify: "store verify"
      case .error: "unexpected error"
      case .process: "process ended"
      }
    }
  }

  let kind: Kind
  /// A sentence that describes the fault.
  let text: String
  /// The names of the objects involved.
  let objects: [String]

  init(_ kind: Kind, _ objects: [String], _ text: String) {
    (self.kind, self.objects, self.text) = (kind, objects, text)
  }
}
