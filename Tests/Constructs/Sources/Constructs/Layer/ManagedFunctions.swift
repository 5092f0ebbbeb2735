// swift-format-ignore-file
import CoreData

@objc(ConstructsPage)
public class Page: NSManagedObject {
  @NSManaged public var number: Int16
  @NSManaged public var volume: Volume?
  @NSManaged public var ordered: Volume?
  @NSManaged public var typed: Volume?
  @NSManaged public var upper: Volume?
  @NSManaged public var plain: Volume?
  @NSManaged public var chapter: Volume?
}

@objc(ConstructsVolume)
public class Volume: NSManagedObject {
  @NSManaged public var pages: NSSet?
  @NSManaged public var lines: NSOrderedSet?
  @NSManaged var typedPages: Set<Page>
  @NSManaged var links: Set<Page>?
  @NSManaged var plainPages: Set<Page>
  @NSManaged var chapters: NSOrderedSet
}

// MARK: Generated accessors for pages
extension Volume {

  @objc(addPagesObject:)
  @NSManaged public func addToPages(_ value: Page)

  @objc(removePagesObject:)
  @NSManaged public func removeFromPages(_ value: Page)

  @objc(addPages:)
  @NSManaged public func addToPages(_ values: NSSet)

  @objc(removePages:)
  @NSManaged public func removeFromPages(_ values: NSSet)

}

// MARK: Generated accessors for lines
extension Volume {

  @objc(insertObject:inLinesAtIndex:)
  @NSManaged public func insertIntoLines(_ value: Page, at idx: Int)

  @objc(removeObjectFromLinesAtIndex:)
  @NSManaged public func removeFromLines(at idx: Int)

  @objc(insertLines:atIndexes:)
  @NSManaged public func insertIntoLines(_ values: [Page], at indexes: NSIndexSet)

  @objc(removeLinesAtIndexes:)
  @NSManaged public func removeFromLines(at indexes: NSIndexSet)

  @objc(replaceObjectInLinesAtIndex:withObject:)
  @NSManaged public func replaceLines(at idx: Int, with value: Page)

  @objc(replaceLinesAtIndexes:withLines:)
  @NSManaged public func replaceLines(at indexes: NSIndexSet, with values: [Page])

  @objc(addLinesObject:)
  @NSManaged public func addToLines(_ value: Page)

  @objc(removeLinesObject:)
  @NSManaged public func removeFromLines(_ value: Page)

  @objc(addLines:)
  @NSManaged public func addToLines(_ values: NSOrderedSet)

  @objc(removeLines:)
  @NSManaged public func removeFromLines(_ values: NSOrderedSet)

}

/// The same functions as people write them by hand.
extension Volume {
  @objc(insertChapters:atIndexes:) @NSManaged func insert(chapters: [Page], at indexes: IndexSet)
  @objc(removeChaptersAtIndexes:) @NSManaged func remove(chaptersAt indexes: IndexSet)
  @objc(replaceChaptersAtIndexes:withChapters:)
  @NSManaged func replace(chaptersAt indexes: IndexSet, with chapters: [Page])
  @NSManaged func insertObject(_ page: Page, inChaptersAtIndex index: Int)
  @NSManaged func removeObjectFromChaptersAtIndex(_ index: Int)
  @NSManaged func replaceObjectInChaptersAtIndex(_ index: Int, withObject page: Page)

  @objc(addTypedPages:) @NSManaged func add(typed pages: Set<Page>)
  @objc(removeTypedPages:) @NSManaged internal func remove(typed pages: Set<Page>)
  @NSManaged func addPlainPagesObject(_ page: Page)
  @NSManaged func removePlainPagesObject(_ page: Page)
  @NSManaged func addPlainPages(_ pages: NSSet)
  @NSManaged func removePlainPages(_ pages: NSSet)
  @objc(intersectTypedPages:) @NSManaged func intersect(typed pages: NSSet)
  @NSManaged @objc(addLinksObject:) func addLink(_ page: Page)
  @NSManaged
  @objc(removeLinksObject:)
  func removeLink(
    _ page: Page
  )
  @objc(addLinks:) @NSManaged fileprivate func addLinks(in set: Set<Page>)
  func addAll(_ pages: Set<Page>) { addLinks(in: pages) }
}

open class OpenVolume: NSManagedObject {
  @NSManaged open var parts: Set<OpenVolume>
  @NSManaged open var whole: OpenVolume?
  @objc(addPartsObject:) @NSManaged open func addToParts(_ value: OpenVolume)
  @objc(removePartsObject:) @NSManaged private func drop(_ value: OpenVolume)
  @objc(addParts:) @NSManaged dynamic public func addToParts(_ values: Set<OpenVolume>)
  @objc(removeParts:) @NSManaged final func removeFromParts(_ /* all */ values: /* these */ NSSet) // and no others
  func dropAll() { for part in parts { drop(part) } }
}

private var entities: [NSEntityDescription] {
  let page = entity(Page.self, [attribute("number", .integer16AttributeType, 0)])
  let volume = entity(Volume.self, [])
  relate(volume, "pages", .many, page, "volume", .one)
  relate(volume, "lines", .ordered, page, "ordered", .one)
  relate(volume, "typedPages", .many, page, "typed", .one)
  relate(volume, "plainPages", .many, page, "plain", .one)
  relate(volume, "chapters", .ordered, page, "chapter", .one)
  relate(volume, "links", .many, page, "upper", .one)
  let open = entity(OpenVolume.self, [])
  relate(open, "parts", .many, open, "whole", .one)
  return [page, volume, open]
}

/// A volume and four pages in one context.
private func library() -> (volume: Volume, pages: [Page]) {
  let context = World.context()
  let pages = (1...4).map { number in
    let page = Page(context: context)
    page.number = Int16(number)
    return page
  }
  return (Volume(context: context), pages)
}

extension Volume {
  /// The numbers of the ordered pages.
  fileprivate var numbers: [Int16] { (lines?.array as? [Page] ?? []).map(\.number) }
  fileprivate var chapterNumbers: [Int16] { (chapters.array as? [Page] ?? []).map(\.number) }
}

func managedFunctionConstructs() {
  World.add(entities)
  setFunctions()
  orderedFunctions()
  indexFunctions()
  handwrittenFunctions()
  openFunctions()
}

private func setFunctions() {
  construct(.managedFunctions, "addToPages with an object") {
    let (volume, pages) = library()
    volume.addToPages(pages[0])
    expect(pages[0].volume === volume)
  }
  construct(.managedFunctions, "removeFromPages with an object") {
    let (volume, pages) = library()
    volume.addToPages(pages[0])
    volume.removeFromPages(pages[0])
    expect(volume.pages?.count, is: 0)
  }
  construct(.managedFunctions, "addToPages with NSSet") {
    let (volume, pages) = library()
    volume.addToPages(NSSet(array: pages))
    expect(volume.pages?.count, is: 4)
  }
  construct(.managedFunctions, "removeFromPages with NSSet") {
    let (volume, pages) = library()
    volume.addToPages(NSSet(array: pages))
    volume.removeFromPages(NSSet(array: [pages[0], pages[1]]))
    expect(volume.pages?.count, is: 2)
  }
}

private func orderedFunctions() {
  construct(.managedFunctions, "insertIntoLines at an index") {
    let (volume, pages) = library()
    volume.addToLines(pages[0])
    volume.insertIntoLines(pages[1], at: 0)
    expect(volume.numbers, is: [2, 1])
  }
  construct(.managedFunctions, "removeFromLines at an index") {
    let (volume, pages) = library()
    volume.addToLines(NSOrderedSet(array: pages))
    volume.removeFromLines(at: 1)
    expect(volume.numbers, is: [1, 3, 4])
  }
  construct(.managedFunctions, "replaceLines at an index") {
    let (volume, pages) = library()
    volume.addToLines(pages[0])
    volume.replaceLines(at: 0, with: pages[3])
    expect(volume.numbers, is: [4])
    expect(pages[0].ordered == nil)
  }
  construct(.managedFunctions, "addToLines with an object") {
    let (volume, pages) = library()
    volume.addToLines(pages[2])
    volume.addToLines(pages[0])
    expect(volume.numbers, is: [3, 1])
  }
  construct(.managedFunctions, "removeFromLines with an object") {
    let (volume, pages) = library()
    volume.addToLines(pages[2])
    volume.removeFromLines(pages[2])
    expect(volume.numbers, is: [])
  }
  construct(.managedFunctions, "addToLines with NSOrderedSet") {
    let (volume, pages) = library()
    volume.addToLines(NSOrderedSet(array: [pages[1], pages[0]]))
    expect(volume.numbers, is: [2, 1])
  }
  construct(.managedFunctions, "removeFromLines with NSOrderedSet") {
    let (volume, pages) = library()
    volume.addToLines(NSOrderedSet(array: pages))
    volume.removeFromLines(NSOrderedSet(array: [pages[1], pages[0]]))
    expect(volume.numbers, is: [3, 4])
  }
}

private func indexFunctions() {
  construct(.managedFunctions, "insertIntoLines at NSIndexSet") {
    let (volume, pages) = library()
    volume.addToLines(NSOrderedSet(array: [pages[0], pages[1]]))
    volume.insertIntoLines([pages[2], pages[3]], at: NSIndexSet(indexesIn: NSRange(location: 1, length: 2)))
    expect(volume.numbers, is: [1, 3, 4, 2])
  }
  construct(.managedFunctions, "removeFromLines at NSIndexSet") {
    let (volume, pages) = library()
    volume.addToLines(NSOrderedSet(array: pages))
    volume.removeFromLines(at: NSIndexSet(indexesIn: NSRange(location: 0, length: 3)))
    expect(volume.numbers, is: [4])
  }
  construct(.managedFunctions, "replaceLines at NSIndexSet") {
    let (volume, pages) = library()
    volume.addToLines(NSOrderedSet(array: [pages[0], pages[1]]))
    volume.replaceLines(at: NSIndexSet(indexesIn: NSRange(location: 0, length: 2)), with: [pages[2], pages[3]])
    expect(volume.numbers, is: [3, 4])
  }
  construct(.managedFunctions, "insert at IndexSet") {
    let (volume, pages) = library()
    volume.insert(chapters: pages, at: IndexSet(integersIn: 0..<4))
    expect(volume.chapterNumbers, is: [1, 2, 3, 4])
  }
  construct(.managedFunctions, "remove at IndexSet") {
    let (volume, pages) = library()
    volume.chapters = NSOrderedSet(array: pages)
    volume.remove(chaptersAt: [0, 2])
    expect(volume.chapterNumbers, is: [2, 4])
  }
  construct(.managedFunctions, "replace at IndexSet") {
    let (volume, pages) = library()
    volume.chapters = NSOrderedSet(array: [pages[0], pages[1]])
    volume.replace(chaptersAt: [1], with: [pages[2]])
    expect(volume.chapterNumbers, is: [1, 3])
  }
  construct(.managedFunctions, "insertObject without a name in Objective-C") {
    let (volume, pages) = library()
    volume.insertObject(pages[0], inChaptersAtIndex: 0)
    volume.insertObject(pages[1], inChaptersAtIndex: 0)
    expect(volume.chapterNumbers, is: [2, 1])
  }
  construct(.managedFunctions, "removeObject without a name in Objective-C") {
    let (volume, pages) = library()
    volume.chapters = NSOrderedSet(array: pages)
    volume.removeObjectFromChaptersAtIndex(0)
    expect(volume.chapterNumbers, is: [2, 3, 4])
  }
  construct(.managedFunctions, "replaceObject without a name in Objective-C") {
    let (volume, pages) = library()
    volume.chapters = NSOrderedSet(array: [pages[0], pages[1]])
    volume.replaceObjectInChaptersAtIndex(1, withObject: pages[3])
    expect(volume.chapterNumbers, is: [1, 4])
  }
}

private func handwrittenFunctions() {
  construct(.managedFunctions, "add with Set of the class") {
    let (volume, pages) = library()
    volume.add(typed: Set(pages))
    expect(volume.typedPages, is: Set(pages))
  }
  construct(.managedFunctions, "remove with Set of the class, internal") {
    let (volume, pages) = library()
    volume.add(typed: Set(pages))
    volume.remove(typed: [pages[0]])
    expect(volume.typedPages.count, is: 3)
  }
  construct(.managedFunctions, "addPlainPagesObject without a name in Objective-C") {
    let (volume, pages) = library()
    volume.addPlainPagesObject(pages[0])
    expect(pages[0].plain === volume)
  }
  construct(.managedFunctions, "removePlainPagesObject without a name in Objective-C") {
    let (volume, pages) = library()
    volume.addPlainPagesObject(pages[0])
    volume.removePlainPagesObject(pages[0])
    expect(pages[0].plain == nil)
  }
  construct(.managedFunctions, "addPlainPages without a name in Objective-C") {
    let (volume, pages) = library()
    volume.addPlainPages(NSSet(array: pages))
    expect(volume.plainPages.count, is: 4)
  }
  construct(.managedFunctions, "removePlainPages without a name in Objective-C") {
    let (volume, pages) = library()
    volume.plainPages = Set(pages)
    volume.removePlainPages(NSSet(object: pages[0]))
    expect(volume.plainPages.count, is: 3)
  }
  construct(.managedFunctions, "intersect") {
    let (volume, pages) = library()
    volume.typedPages = [pages[0], pages[1]]
    volume.intersect(typed: NSSet(array: [pages[1], pages[2]]))
    expect(volume.typedPages, is: [pages[1]])
  }
  construct(.managedFunctions, "objc behind") {
    let (volume, pages) = library()
    volume.addLink(pages[0])
    expect(volume.links, is: [pages[0]])
  }
  construct(.managedFunctions, "a declaration on several lines") {
    let (volume, pages) = library()
    volume.links = Set(pages)
    volume.removeLink(pages[0])
    expect(volume.links?.count, is: 3)
  }
  construct(.managedFunctions, "fileprivate") {
    let (volume, pages) = library()
    volume.addAll(Set(pages))
    expect(volume.links?.count, is: 4)
  }
}

private func openFunctions() {
  func parts() -> (OpenVolume, OpenVolume) {
    let context = World.context()
    return (OpenVolume(context: context), OpenVolume(context: context))
  }
  construct(.managedFunctions, "open in the class") {
    let (whole, part) = parts()
    whole.addToParts(part)
    expect(part.whole === whole)
  }
  construct(.managedFunctions, "private in the class") {
    let (whole, part) = parts()
    whole.addToParts(part)
    whole.dropAll()
    expect(whole.parts.isEmpty)
  }
  construct(.managedFunctions, "dynamic public with Set") {
    let (whole, part) = parts()
    whole.addToParts([part])
    expect(part.whole === whole)
  }
  construct(.managedFunctions, "final, with comments between tokens") {
    let (whole, part) = parts()
    whole.addToParts(part)
    whole.removeFromParts(NSSet(object: part))
    expect(part.whole == nil)
  }
}
