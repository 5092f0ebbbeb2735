/// The rows of the specification that are no cases here, each with what it waits for.
public enum NotYet {
  /// A row and its reason.
  public struct Row: Sendable, Hashable {
    public let id: String
    public let reason: String
  }

  /// All of them, each id once, in order.
  public static let rows: [Row] = groups.flatMap { group in
    group.ids.split(whereSeparator: \.isWhitespace).map { Row(id: String($0), reason: group.reason) }
  }.sorted { $0.id < $1.id }

  private static let groups: [(reason: String, ids: String)] = [
    (
      "waits for undo: changes of a context are not recorded",
      """
      CTX-013 DEL-012 SAV-033
      """
    ),
    (
      "waits for child contexts",
      """
      SAV-036 SAV-037 SAV-038
      """
    ),
    (
      "is held by the tests of the language, and by `store-conformance diff-predicates`, which CI runs",
      """
      FET-035 FET-038
      """
    ),
    (
      "is held by Scripts/fault, which lets each call fail or kills there, and which CI runs",
      """
      DUR-003 DUR-009 SAV-018 SAV-026
      """
    ),
    (
      "is held by Scripts/powerloss, with a model of disks and with a real file system, which CI runs",
      """
      DUR-004 DUR-005 DUR-006
      """
    ),
    (
      "is held by Scripts/crash, run for as long as it shall take: CI runs some of its cycles",
      """
      DUR-019
      """
    ),
    (
      "Swift ends a program that gets no memory; what a value may be is ATT-022's",
      """
      SAV-025
      """
    ),
    (
      "is about archives and models, not stores: held by their tests, by Scripts/hostile and Scripts/fuzz, which CI runs",
      """
      SEC-007 SEC-008
      """
    ),
    (
      "waits for archives of requests and history tokens; object URIs from outside are fuzzed",
      """
      SEC-022
      """
    ),
    (
      "is held by Scripts/tsan, which CI runs",
      """
      CON-017
      """
    ),
    (
      "waits for migration",
      """
      CON-016 FET-037 INH-012 MIG-001 MIG-002 MIG-003 MIG-004 MIG-005 MIG-006 MIG-007 MIG-008 MIG-009 MIG-010 MIG-011
      MIG-012 MIG-013 MIG-014 MIG-015 MIG-016 MIG-017 MIG-018 MIG-019 MIG-020 MIG-021 MIG-022 MIG-023 MIG-024
      MIG-025 MIG-026 MIG-027 MIG-028 MIG-029 MIG-030 MIG-031 MIG-032 MIG-033 MIG-034
      """
    ),
    (
      "waits for batch requests",
      """
      BAT-001 BAT-002 BAT-003 BAT-004 BAT-005 BAT-006 BAT-007 BAT-008 BAT-009 BAT-010 BAT-011 BAT-012 BAT-013
      BAT-014 BAT-015 BAT-016
      """
    ),
    (
      "waits for history to be read",
      """
      HIS-001 HIS-002 HIS-003 HIS-004 HIS-005 HIS-006 HIS-007 HIS-008 HIS-009 HIS-010 HIS-011 HIS-012 HIS-013
      HIS-014 HIS-015 S2S-011
      """
    ),
    (
      "waits for query generations",
      """
      GEN-001 GEN-002 GEN-003 GEN-004 GEN-005 GEN-006 GEN-007 GEN-008 GEN-009
      """
    ),
    (
      "waits for a store on a server",
      """
      CON-015 DUR-015 DUR-016 LIF-035 SAV-040 SEC-019
      """
    ),
    (
      "is checked of the suite, by its own tests, not of a store",
      """
      CAP-003 CAP-004 CAP-005
      """
    ),
  ]
}
