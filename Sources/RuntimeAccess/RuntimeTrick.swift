import CRuntime

/// A use of something that no documentation of Swift or Foundation promises. The table in `README.md` says of each what
/// it relies on, and what it saves.
///
/// Before its first use a trick is checked by its canary: a small run of the trick on objects that belong to the
/// canary. Where the canary fails, a documented way is taken for as long as the process runs, and standard error says
/// so once. The environment variable `OPENCOREDATA_WITHOUT` turns tricks off: it has their names, separated by commas,
/// or `all`.
package enum RuntimeTrick: Int32, CaseIterable, Sendable {
  case livingObjects, immortalObjects, objectsInAny, rawObjects, virtualTables, processClasses, keyPathTexts
  case retypedArrays

  /// The environment variable that turns tricks off.
  package static let variable = "OPENCOREDATA_WITHOUT"

  /// The name in the environment variable and in reports.
  package var name: String { "\(self)" }

  /// Whether the trick is used in this process.
  @inlinable @inline(__always)
  package var works: Bool {
    let state = cd_trick_state(rawValue)
    return state == 0 ? check() : state == 1
  }

  /// Two threads may check at the same time. The result of the first one to end counts for both.
  @usableFromInline @inline(never)
  func check() -> Bool {
    let isOff = cd_lists(Self.variable, name)
    let works = !isOff && canary()
    if !works && !isOff {
      cd_report(
        """
        OpenCoreData: this version of Swift or Foundation differs from the versions that the trick '\(name)' was \
        written for. \(cost)
        """)
    }
    return cd_set_trick_state(rawValue, works ? 1 : 2) == 1
  }

  /// Runs the trick on objects of its own, and returns whether it does what it should.
  package func canary() -> Bool {
    switch self {
    case .livingObjects: LivingObject.canary()
    case .immortalObjects: ImmortalObject.canary()
    case .objectsInAny: ObjectInAny.canary()
    case .rawObjects: RawObject.canary()
    case .virtualTables: VirtualTable.canary()
    case .processClasses: ProcessClasses.canary()
    case .keyPathTexts: KeyPathText.canary()
    case .retypedArrays: ObjectArray.canary()
    }
  }

  /// What the process lacks without the trick.
  private var cost: String {
    switch self {
    case .livingObjects, .immortalObjects, .objectsInAny, .retypedArrays: "It runs slower without it."
    case .rawObjects: "Comparison predicates and expressions cannot be made."
    case .virtualTables:
      """
      Foundation's compound predicates and sort descriptors print and compare as Foundation does it, and saves call \
      validateValue(_:forKey:) for each property.
      """
    case .processClasses: "A model must name classes of other modules than the program's with their module."
    case .keyPathTexts: "A key path to stored properties has no name; give keys as text."
    }
  }
}
