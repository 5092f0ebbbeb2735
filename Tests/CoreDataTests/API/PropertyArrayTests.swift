import CoreData
import Foundation
import Testing

/// Live arrays of properties, and live sets of relationships.
@Suite struct PropertyArrayTests {
  @Test func arraysAreLive() throws {
    let context = try KeyValueMethodTests().context()
    context.performAndWait {
      let members = (0..<4).map { _ in KeyedMember(context: context) }
      let friends = members[0].mutableArrayValue(forKey: "friends")
      friends.add(members[1])
      friends.insert(members[2], at: 0)
      friends.add(members[3])
      friends.removeObject(at: 1)
      #expect(friends.count == 2 && friends.object(at: 0) as? NSManagedObject === members[2])
      #expect(
        (members[0].value(forKey: "friends") as? NSOrderedSet)?.array as? [NSManagedObject] == [members[2], members[3]])
      friends.replaceObject(at: 0, with: members[1])
      friends.removeLastObject()
      #expect(members[0].mutableOrderedSetValue(forKey: "friends").array as? [NSManagedObject] == [members[1]])
      let list = members[0].mutableArrayValue(forKey: "list")
      list.add("one")
      list.addObjects(from: ["two", "three"])
      list.removeObject(at: 0)
      #expect(members[0].value(forKey: "list") as? [String] == ["two", "three"] && members[0].hasChanges)
    }
  }

  /// Foundation implements some methods for its own class only.
  @Test func arraysHaveAllMethods() throws {
    let context = try KeyValueMethodTests().context()
    context.performAndWait {
      let members = (0..<4).map { _ in KeyedMember(context: context) }
      let (a, b, c, d) = (members[0], members[1], members[2], members[3])
      let friends = a.mutableArrayValue(forKey: "friends")
      func expect(_ expected: NSManagedObject..., line: Int = #line) {
        let found = (a.value(forKey: "friends") as? NSOrderedSet)?.array as? [NSManagedObject]
        #expect(found == expected, "line \(line)")
        #expect(friends.map { $0 as? NSManagedObject } == expected, "line \(line)")
      }
      friends.setArray([b, c, d])
      friends.exchangeObject(at: 0, withObjectAt: 2)
      expect(d, c, b)
      // A member is not inserted again, and replaces no other one.
      friends.insert(b, at: 0)
      friends.add(d)
      friends.replaceObject(at: 0, with: b)
      expect(d, c, b)
      friends.replaceObject(at: 1, with: c)
      expect(d, c, b)
      friends.replaceObjects(in: NSRange(location: 0, length: 2), withObjectsFrom: [b, c, a, a])
      expect(c, a, b)
      let ranks = [ObjectIdentifier(b): 0, ObjectIdentifier(c): 1, ObjectIdentifier(a): 2]
      func rank(_ object: Any) -> Int { ranks[ObjectIdentifier(object as AnyObject)] ?? 9 }
      friends.sort { rank($0) < rank($1) ? .orderedAscending : .orderedDescending }
      expect(b, c, a)
      friends.removeObjects(in: NSRange(location: 1, length: 2))
      expect(b)
      friends.insert([c, d], at: [0, 2])
      expect(c, b, d)
      friends.replaceObjects(at: [0, 2], with: [d, c])
      expect(d, b, c)
      friends.replaceObjects(at: [0, 1], with: [c, a])
      expect(d, a, c)
      friends.insert([a, b], at: [0, 4])
      expect(d, a, c, b)
      friends.removeAllObjects()
      expect()
      let list = a.mutableArrayValue(forKey: "list")
      list.setArray(["c", "a", "b", "a"])
      list.sort(using: [NSSortDescriptor(key: "self", ascending: true) { "\($0)".compare("\($1)") }])
      #expect(a.value(forKey: "list") as? [String] == ["a", "a", "b", "c"])
      list.replaceObject(at: 0, with: "b")
      list.exchangeObject(at: 0, withObjectAt: 3)
      #expect(a.value(forKey: "list") as? [String] == ["c", "a", "b", "b"])
    }
  }

  @Test func viewsOfRelationshipsDescribeTheirMembers() throws {
    let context = try KeyValueMethodTests().context()
    context.performAndWait {
      let (a, b) = (KeyedMember(context: context), KeyedMember(context: context))
      a.setValue(NSSet(object: b), forKey: "others")
      a.setValue(NSOrderedSet(object: b), forKey: "friends")
      let (set, ordered) = (a.mutableSetValue(forKey: "others"), a.mutableOrderedSetValue(forKey: "friends"))
      for text in ["\(set)", set.description, "\(ordered)", "\(a.mutableArrayValue(forKey: "friends"))"] {
        #expect(text.contains("\(b.objectID.uriRepresentation())"), "\(text)")
      }
    }
  }

  @Test func aSetIsNoArray() async {
    await #expect(processExitsWith: .failure) {
      let context = try KeyValueMethodTests().context()
      context.performAndWait { _ = KeyedMember(context: context).mutableArrayValue(forKey: "others") }
    }
  }

  /// The value would be lost.
  @Test func anotherValueIsNoArray() async {
    await #expect(processExitsWith: .failure) {
      let context = try KeyValueMethodTests().context()
      context.performAndWait {
        let member = KeyedMember(context: context)
        member.setValue(" Ada", forKey: "first")
        member.mutableArrayValue(forKey: "first").add("b")
      }
    }
  }
}
