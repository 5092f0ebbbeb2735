/// Something that went wrong in a run.
struct RaceFault: Sendable {
  /// What kind of fault it is, the telling ones first. A shrunk program must show the kind that the long one showed.
  enum Kind: Int, Sendable, CaseIterable {
    case action, reference, deny, cascade, linkToGone, lost, deletedIsThere, notAcknowledged, owner, pair, order, value,
      large
    case replaced, unreadable, verify, error, process

    /// For counts in reports.
    var text: String {
      switch self {
      case .action: "action not done"
      case .reference: "refers to nothing"
      case .deny: "deny broken"
      case .cascade: "cascade broken"
      case .linkToGone: "linked to what was gone"
      case .lost: "object lost"
      case .deletedIsThere: "deleted object is there"
      case .notAcknowledged: "object nobody saved"
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
  /// A sentence.
  let text: String
  /// The names of the objects concerned.
  let objects: [String]

  init(_ kind: Kind, _ objects: [String], _ text: String) {
    (self.kind, self.objects, self.text) = (kind, objects, text)
  }
}
