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
      "waits for the cases of contexts",
      """
      ATT-002 ATT-011 ATT-019 ATT-032 ATT-034 ATT-036 ATT-037 ATT-038 ATT-039 ATT-040 ATT-041 ATT-045 CTX-001
      CTX-002 CTX-003 CTX-004 CTX-005 CTX-006 CTX-007 CTX-008 CTX-011 CTX-012 CTX-013 CTX-014 CTX-015 CTX-016
      CTX-017 CTX-018 CTX-019 CTX-020 CTX-021 CTX-022 CTX-023 CTX-024 CTX-025 DEL-002 DEL-005 DEL-006 DEL-007
      DEL-008 DEL-009 DEL-010 DEL-011 DEL-012 DEL-013 DEL-016 DEL-019 FET-037 FET-053 FET-059 FET-060 FET-061
      FET-062 FET-063 FET-065 FET-070 FET-071 FET-072 FET-073 FET-074 FET-075 FET-076
      FET-077 IDN-001 IDN-005 IDN-006 IDN-007 IDN-009 IDN-012 IDN-013 IDN-014 IDN-016 IDN-018 IDN-022 INH-009
      INH-011 INH-012 LCK-003 LCK-004 LCK-005 LCK-006 LCK-010 LCK-011 LCK-015 LCK-024 LIF-022 LIF-023 LIF-027
      LIF-028 LIF-029 LIF-032 LIF-034 REL-001 REL-013 REL-014 REL-015 REL-016 REL-017 REL-020 REL-023 REL-025
      SAV-001 SAV-003 SAV-004 SAV-006 SAV-009 SAV-010 SAV-017 SAV-033 SAV-034 SAV-035 SAV-036 SAV-037 SAV-038
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
      CON-019 COR-015 DEL-018 DUR-003 DUR-004 DUR-005 DUR-006 DUR-009 DUR-010 LIF-019 LIF-020 SAV-018 SAV-019
      SAV-020 SAV-021 SAV-022 SAV-023 SAV-024 SAV-026 SAV-027 SAV-028 SAV-030 SAV-031 SAV-042
      """
    ),
    (
      "waits for hostile files, which other programs make",
      """
      ATT-020 ATT-030 ATT-031 COR-004 COR-005 COR-008 COR-009 COR-010 COR-011 COR-012 DUR-011 DUR-012 IDN-019
      INH-010 REL-024 SEC-007 SEC-008 SEC-009 SEC-010 SEC-011 SEC-012 SEC-015 SEC-017 SEC-019 SEC-022
      """
    ),
    (
      "waits for a harness that changes the machine: clocks, locks, locales, stopped processes",
      """
      CAP-006 CON-005 CON-007 CON-010 CON-011 CON-012 CON-014 CON-016 CON-017 DUR-014 DUR-017 DUR-018 FET-054
      FET-055 LCK-021 LIF-015 SAV-041 SEC-018
      """
    ),
    (
      "waits for the runs of load, which take hours or much memory",
      """
      ATT-022 CON-008 CON-018 DEL-015 DUR-019 FET-078 SAV-025
      """
    ),
    (
      "no request of the store protocol poses it yet",
      """
      COR-014 LIF-006 LIF-008 SEC-020
      """
    ),
    (
      "waits for migration",
      """
      MIG-001 MIG-002 MIG-003 MIG-004 MIG-005 MIG-006 MIG-007 MIG-008 MIG-009 MIG-010 MIG-011 MIG-012 MIG-013
      MIG-014 MIG-015 MIG-016 MIG-017 MIG-018 MIG-019 MIG-020 MIG-021 MIG-022 MIG-023 MIG-024 MIG-025 MIG-026
      MIG-027 MIG-028 MIG-029 MIG-030 MIG-031 MIG-032 MIG-033 MIG-034
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
      HIS-014 HIS-015
      """
    ),
    (
      "waits for query generations",
      """
      GEN-001 GEN-002 GEN-003 GEN-004 GEN-005 GEN-006 GEN-007 GEN-008 GEN-009
      """
    ),
    (
      "waits for copying from store to store",
      """
      S2S-001 S2S-002 S2S-003 S2S-004 S2S-005 S2S-006 S2S-007 S2S-008 S2S-009 S2S-010 S2S-011 S2S-012
      """
    ),
    (
      "waits for a store on a server",
      """
      CON-015 DUR-015 DUR-016 LIF-035 SAV-040
      """
    ),
    (
      "waits for a store that reads through a map",
      """
      COR-006 COR-007
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
