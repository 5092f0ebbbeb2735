import Foundation
import StoreSchema

extension NSManagedObject {
  /// State that only few objects need.
  final class Extras {
    var transients: [Any?] = []
    /// The indices of those that have changed since the last save.
    var changedTransients: Set<Int> = []
    /// The transient values before the event, by index, of those that have changed. Kept only for an undo.
    var formerTransients: [Int: Any?] = [:]
    /// The temporary key of a new object with a permanent one, while others may refer to it; zero otherwise.
    var temporaryKey: Int64 = 0
    /// Decoded transformable values by slot.
    var transformed: [Int: Any] = [:]
    /// The transformable values, by slot, for which a store that keeps objects has returned a token.
    var rowObjects: [Int: RowObject] = [:]
    var fetchedProperties: [String: [Any]] = [:]
    /// By the index of the relationship.
    var announcedDestinations: [Int: AnnouncedDestination] = [:]
    /// Set for an object that has changed again since the last event.
    var eventBase: EventBase?
    /// What an undo of the object's last deletion keeps.
    weak var deletion: EventJournal.DeletedObject?
    var observationInfo: UnsafeMutableRawPointer?
    var observers: ObjectObservers?

    /// Forgets the object's values; its key stays.
    func forgetValues() {
      (transients, changedTransients) = ([], [])
      formerTransients = [:]
      transformed = [:]
      rowObjects = [:]
      fetchedProperties = [:]
      announcedDestinations = [:]
      eventBase = nil
    }

    /// The same; returns the values, which the caller must hold.
    func takeValues() -> Any {
      let taken = (
        transients, formerTransients, transformed, rowObjects, fetchedProperties, announcedDestinations, eventBase
      )
      forgetValues()
      return taken
    }

    deinit { if !fetchedProperties.isEmpty { ReleaseQueue.release(&fetchedProperties) } }
  }

  final func makeExtras() -> Extras {
    if let extras { return extras }
    let made = Extras()
    extras = made
    return made
  }
}
