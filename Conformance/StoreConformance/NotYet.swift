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
      "waits for results as dictionaries",
      """
      FET-065
      """
    ),
    (
      "stops the program, as an exception does on Apple's platforms: needs a case that expects its process to end",
      """
      ATT-040 ATT-041 CTX-015 REL-016
      """
    ),
    (
      "needs the requests that reach a store to be counted, which no public API does",
      """
      REL-020
      """
    ),
    (
      "waits for stalenessInterval, which is kept and does nothing",
      """
      CTX-008
      """
    ),
    (
      "waits for predicates over collections, functions and subqueries",
      """
      FET-012 FET-017 FET-018 FET-019 FET-020 FET-022 FET-025 FET-026 FET-028 FET-030 FET-031 FET-032 FET-033
      FET-034 FET-035 FET-038 INH-006 INH-007 SEC-021
      """
    ),
    (
      "waits for files that fail on purpose",
      """
      CON-019 COR-015 DEL-018 DUR-010 LIF-019 LIF-020 S2S-007
      SAV-019 SAV-020 SAV-021 SAV-022 SAV-023 SAV-024 SAV-027 SAV-028 SAV-030 SAV-031 SAV-042
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
      "is held by Scripts/tsan, which CI runs",
      """
      CON-017
      """
    ),
    (
      "waits for hostile files, which other programs make",
      """
      ATT-030 ATT-031 COR-004 COR-008 DUR-012
      SEC-007 SEC-008 SEC-017 SEC-019 SEC-022
      """
    ),
    (
      "waits for a harness that changes the machine: clocks, locks, locales, stopped processes",
      """
      CAP-006 CON-011 CON-012 CON-016 DUR-014 DUR-017 DUR-018
      FET-055 LCK-021
      """
    ),
    (
      "waits for the runs of load, which take hours or much memory",
      """
      ATT-022 CON-018 DEL-015 DUR-019 FET-078 S2S-010 SAV-025
      """
    ),
    (
      "no request of the store protocol poses it yet",
      """
      COR-014 SEC-020
      """
    ),
    (
      "waits for migration",
      """
      FET-037 INH-012 MIG-001 MIG-002 MIG-003 MIG-004 MIG-005 MIG-006 MIG-007 MIG-008 MIG-009 MIG-010 MIG-011
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
      CON-015 DUR-015 DUR-016 LIF-035 SAV-040
      """
    ),
    (
      "is not tried yet of its own on a store that reads through a map; COR-001 cuts off closed files",
      """

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
