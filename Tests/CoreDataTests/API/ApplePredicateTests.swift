import CoreData
import Foundation
import TestSupport
import Testing

/// Names of Swift's key paths and sort descriptors. Each rule has the page that states it; "clients" means a rule that
/// the tests of several client libraries require.
@Suite struct ApplePredicateTests {
  // MARK: Key paths of classes that no model in use has

  /// Features 31.4: a probe records the names of key paths, so no model is needed. QueryKit/KeyPath takes the name of
  /// any key path without a model.
  @Test func keyPathsHaveNamesBeforeAStackIsMade() {
    #expect(NSSortDescriptor(keyPath: \Track.album?.title, ascending: true).key == "album.title")
    #expect(NSSortDescriptor(keyPath: \Track.album?.artist?.name, ascending: true).key == "album.artist.name")
    #expect(NSExpression(forKeyPath: \Track.owner.title).keyPath == "owner.title")
    #expect(NSExpression(forKeyPath: \Track.album?.tracks).keyPath == "album.tracks")
    #expect(NSExpression(forKeyPath: \Track.album?.year).keyPath == "album.year")
    #expect(NSExpression(forKeyPath: \Track.album).keyPath == "album")
    // Handwritten accessors.
    #expect(NSExpression(forKeyPath: \Track.note).keyPath == "note")
    #expect(NSExpression(forKeyPath: \Track.album?.label).keyPath == "album.label")
  }

  /// Clients: the name of the property; nil where a key path has none.
  @Test func aKeyPathTellsItsName() {
    let keyPath: AnyKeyPath = \Track.album?.title
    #expect(keyPath._kvcKeyPathString == "album.title")
    #expect((\Track.length)._kvcKeyPathString == "length")
    #expect((\Track.title?.count)._kvcKeyPathString == nil)
    #expect((\Track.album?.title?.count)._kvcKeyPathString == nil)
    #expect((\Track.title!.count)._kvcKeyPathString == nil)
    #expect((\Track.self)._kvcKeyPathString == "self")
    #expect((\String.count)._kvcKeyPathString == nil && (\[Int].first?.description)._kvcKeyPathString == nil)
  }

  @Test func aKeyPathOfAClassInUseTellsItsName() throws {
    let singer = Describing.entity("Singer", [Describing.attribute("name")])
    let song = Describing.entity("Song", [Describing.attribute("title")])
    (singer.managedObjectClassName, song.managedObjectClassName) = ("CoreDataTests.Singer", "CoreDataTests.Sung")
    Describing.relate(singer, "songs", toMany: true, song, "singer", toManyBack: false)
    let context = try Describing.context(Describing.model([singer, song]))
    #expect((\Sung.singer?.name)._kvcKeyPathString == "singer.name")
    #expect((\Sung.byHand?.name)._kvcKeyPathString == "singer.name")
    #expect((\Sung.title?.count)._kvcKeyPathString == nil)
    #expect(NSSortDescriptor(keyPath: \Sung.byHand?.name, ascending: true).key == "singer.name")
    _ = context
  }

  // MARK: Sort descriptors of Swift

  /// https://developer.apple.com/documentation/foundation/sortdescriptor/stringcomparator
  /// (only `.lexical` exists outside of Apple's platforms)
  @Test func aSortDescriptorOfSwiftKeepsItsComparator() {
    let plain = NSSortDescriptor(SortDescriptor(\Track.name, comparator: .lexical))
    #expect(plain == NSSortDescriptor(key: "name", ascending: true))
    let reverse = NSSortDescriptor(SortDescriptor(\Track.name, comparator: .lexical, order: .reverse))
    #expect(reverse == NSSortDescriptor(key: "name", ascending: false))
    let optional = NSSortDescriptor(SortDescriptor(\Track.title, comparator: .lexical, order: .reverse))
    #expect(optional == NSSortDescriptor(key: "title", ascending: false))
    let turned = String.StandardComparator(.lexical, order: .reverse)
    #expect(NSSortDescriptor(SortDescriptor(\Track.name, comparator: turned)) == reverse)
    // By literal comparison, capitals come first.
    let rows: NSArray = [["name": "b"], ["name": "B"], ["name": "a"]]
    let sorted = rows.sortedArray(using: [plain]).compactMap { ($0 as? [String: Any])?["name"] as? String }
    #expect(sorted == ["B", "a", "b"])
  }
}

// MARK: - Classes

/// In no model.
private final class Track: NSManagedObject {
  static let titleProperty = ManagedProperty<String?>("title")
  static let nameProperty = ManagedProperty<String>("name")
  static let lengthProperty = ManagedProperty<Double>("length")
  static let albumProperty = ManagedProperty<Album?>("album")
  static let ownerProperty = ManagedProperty<Album?>("owner")
  var title: String? { value(of: Self.titleProperty) }
  var name: String { value(of: Self.nameProperty) }
  var length: Double { value(of: Self.lengthProperty) }
  var album: Album? { value(of: Self.albumProperty) }
  var owner: Album { value(of: Self.ownerProperty)! }
  var note: String? { value(forKey: "note") as? String }
}

/// In no model.
private final class Album: NSManagedObject {
  static let titleProperty = ManagedProperty<String?>("title")
  static let yearProperty = ManagedProperty<Int16>("year")
  static let artistProperty = ManagedProperty<Artist?>("artist")
  static let tracksProperty = ManagedProperty<Set<Track>>("tracks")
  var title: String? { value(of: Self.titleProperty) }
  var year: Int16 { value(of: Self.yearProperty) }
  var artist: Artist? { value(of: Self.artistProperty) }
  var tracks: Set<Track> { value(of: Self.tracksProperty) }
  var label: String? { primitiveValue(forKey: "label") as? String }
}

/// In no model.
private final class Artist: NSManagedObject {
  static let nameProperty = ManagedProperty<String?>("name")
  var name: String? { value(of: Self.nameProperty) }
}

final class Singer: NSManagedObject {
  static let nameProperty = ManagedProperty<String?>("name")
  var name: String? { value(of: Self.nameProperty) }
}

final class Sung: NSManagedObject {
  static let titleProperty = ManagedProperty<String?>("title")
  static let singerProperty = ManagedProperty<Singer?>("singer")
  var title: String? { value(of: Self.titleProperty) }
  var singer: Singer? { value(of: Self.singerProperty) }
  var byHand: Singer? { value(forKey: "singer") as? Singer }
}
