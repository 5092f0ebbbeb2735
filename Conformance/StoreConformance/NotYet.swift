/// The rows of the specification without a case here, each with the step of the project that it waits for.
public enum NotYet {
  /// A row and its reason.
  public struct Row: Sendable, Hashable {
    /// The row of the specification, for example `SAV-018`.
    public let id: String
    /// Why there is no case for it.
    public let reason: String
  }

  /// The rows that wait for a step, each id once, in order.
  public static let rows: [Row] = groups.flatMap { group in
    group.ids.split(whereSeparator: \.isWhitespace).map { Row(id: String($0), reason: group.reason) }
  }.sorted { $0.id < $1.id }

  /// Each reason begins with the step of the project that the rows wait for.
  private static let groups: [(reason: String, ids: String)] = [
    (
      "step 10: migration from one version of a model to another",
      """
      CON-016 FET-037 INH-012 MIG-001 MIG-002 MIG-003 MIG-004 MIG-005 MIG-006 MIG-007 MIG-008 MIG-009 MIG-010 MIG-011
      MIG-012 MIG-013 MIG-014 MIG-015 MIG-016 MIG-017 MIG-018 MIG-021 MIG-022 MIG-023 MIG-024 MIG-026 MIG-027 MIG-028
      MIG-029 MIG-030 MIG-031 MIG-032 MIG-033 MIG-034
      """
    ),
    (
      "step 11: batch requests",
      """
      BAT-001 BAT-002 BAT-003 BAT-004 BAT-005 BAT-006 BAT-007 BAT-008 BAT-009 BAT-010 BAT-011 BAT-012 BAT-013
      BAT-014 BAT-015 BAT-016
      """
    ),
    (
      "step 11: persistent history that can be read, and what is lost of it in a copy",
      """
      HIS-001 HIS-002 HIS-003 HIS-004 HIS-005 HIS-006 HIS-007 HIS-008 HIS-009 HIS-010 HIS-011 HIS-012 HIS-013
      HIS-014 HIS-015 S2S-011
      """
    ),
    (
      "step 11: query generations",
      """
      GEN-001 GEN-002 GEN-003 GEN-004 GEN-005 GEN-006 GEN-007 GEN-008 GEN-009
      """
    ),
    (
      "step 11: batch requests, history and query generations, without which no store declares all that the table wants",
      """
      CAP-003
      """
    ),
    (
      "step 12 or later: a store on a server",
      """
      CON-015 DUR-015 DUR-016 LIF-035 SAV-040 SEC-019
      """
    ),
  ]

  /// The rows that no case can prove, because they are about the suite itself or about all of its cases. Each has the
  /// check of `Scripts/test` that proves it.
  public static let checks: [Row] = [
    Row(id: "CAP-004", reason: "check template: a store of another package, with the least of the protocol, is run"),
    Row(id: "CAP-005", reason: "check sabotage: each store that is wrong on purpose is noticed by the cases listed"),
    Row(id: "CON-017", reason: "check tsan: the cases of concurrency are run under the thread sanitizer"),
  ]
}
