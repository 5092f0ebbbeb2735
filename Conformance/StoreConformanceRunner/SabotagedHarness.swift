import StoreConformance

/// A store that does one thing wrong on purpose, and the cases that must notice.
public struct SabotagedHarness: Sendable {
  /// What it does wrong, in words.
  public let fault: String
  /// The store with the fault.
  public let harness: any StoreHarness
  /// The same store without the fault, which passes all cases: otherwise nothing is said by those that fail.
  public let sound: any StoreHarness
  /// The ids of the cases that fail, and of no others.
  public let caughtBy: Set<String>
  /// Whether the store does what it may do, although no store of ours does it: no case may fail, and cases with
  /// contexts are run, too.
  public let isHarmless: Bool

  /// A store with a fault, beside the same one without.
  public init(
    _ fault: String, _ harness: any StoreHarness, of sound: any StoreHarness, caughtBy: Set<String>,
    isHarmless: Bool = false
  ) {
    self.isHarmless = isHarmless
    self.fault = fault
    self.harness = harness
    self.sound = sound
    self.caughtBy = caughtBy
  }
}
