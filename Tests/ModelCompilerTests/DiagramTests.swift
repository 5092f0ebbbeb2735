import Foundation
import ModelCompiler
import ModelFiles
import StoreSchema
import TestSupport
import Testing

/// Diagrams of models, in each format.
@Suite struct DiagramTests {
  private func model(_ body: String) throws -> ModelRecord {
    try ModelSourceReader().read(Data(TestModels.contents(body).utf8))
  }

  private func school() throws -> ModelDiagram {
    let model = try model(
      """
      <entity name="Course" representedClassName="SchoolCourse">
        <attribute name="title" attributeType="String"/>
        <relationship name="students" optional="YES" toMany="YES" ordered="YES" deletionRule="Deny" \
      destinationEntity="Student" inverseName="courses" inverseEntity="Student"/>
        <uniquenessConstraints><uniquenessConstraint><constraint value="title"/></uniquenessConstraint>
        </uniquenessConstraints>
      </entity>
      <entity name="Person" isAbstract="YES">
        <attribute name="born" optional="YES" attributeType="Date"/>
        <attribute name="age" optional="YES" transient="YES" attributeType="Integer 16"/>
        <relationship name="home" maxCount="1" deletionRule="Cascade" destinationEntity="Place"/>
      </entity>
      <entity name="Place"/>
      <entity name="Student" parentEntity="Person">
        <relationship name="courses" minCount="1" maxCount="5" deletionRule="No Action" destinationEntity="Course" \
      inverseName="students" inverseEntity="Course"/>
        <relationship name="friends" optional="YES" toMany="YES" destinationEntity="Student" inverseName="friends" \
      inverseEntity="Student"/>
        <fetchedProperty name="peers" optional="YES"><fetchRequest name="r" entity="Student"/></fetchedProperty>
      </entity>
      """)
    return ModelDiagram(model, title: "School")
  }

  // MARK: Content

  @Test func `a picture has entities, attributes, inheritance and relationships in words`() throws {
    let picture = Picture(try school().svg())
    #expect(Set(picture.boxes.keys) == ["Course", "Person", "Place", "Student"])
    for text in [
      "class SchoolCourse", "String, unique", "abstract", "Date?", "Integer 16?, transient", "students → Student",
      "0..* ordered, deny", "home → Place", "1, cascade", "courses → Course", "1..5, no action", "fetches Student",
    ] {
      #expect(picture.texts.contains(text), "\(text)")
    }
    #expect(
      picture.names == [
        #"data-inheritance="Student" data-parent="Person""#,
        #"data-relationship="Course.students" data-inverse="Student.courses""#,
        #"data-relationship="Person.home" data-destination="Place""#,
        #"data-relationship="Student.friends" data-destination="Student""#,
      ])
    #expect(picture.faults.isEmpty)
  }

  @Test func `a picture has a title, a description, and styles for light and dark`() throws {
    let text = try school().svg()
    #expect(text.contains(#"role="img" aria-labelledby="diagram-title diagram-description""#))
    #expect(text.contains(#"<title id="diagram-title">School</title>"#))
    #expect(
      text.contains(
        "Student, inherits from Person: 0 attributes. Student.courses to Course, 1..5, no action. "
          + "Student.friends to Student, 0..*, nullify."))
    #expect(text.contains("@media (prefers-color-scheme: dark)"))
    #expect(!text.contains("href") && !text.contains("url("))
    #expect(text.contains(ModelDiagram.mark))
  }

  @Test func `a Mermaid diagram has classes with members, and lines`() throws {
    let lines = try school().mermaid().split(separator: "\n").map(String.init)
    #expect(lines[1] == #"title: "School""#)
    for line in [
      "classDiagram", #"  class e0["Course"] {"#, "    title: String, unique",
      "    students → Student: 0..* ordered, deny", "    <<abstract>>", "    peers: fetches Student", "  e1 <|-- e3",
      #"  e0 "1..5" <--> "0..*" e3 : students / courses"#,
      #"  e1 ..> "1" e2 : home"#, #"  e3 --> "0..*" e3 : friends"#,
    ] {
      #expect(lines.contains(line), "\(line)")
    }
  }

  @Test func `a graph for Graphviz has tables, and edges between rows`() throws {
    let text = try school().dot()
    for part in [
      "<b><i>Person</i></b><br/>abstract", #"<td align="left">title</td><td align="right">String, unique</td>"#,
      "e1:h -> e3:h [dir=back, arrowtail=empty]",
      "e0:r0 -> e3:l0 [dir=both, arrowhead=normalnormal, arrowtail=normalnormal]",
      "e1:r0 -> e2:h [arrowhead=normal, style=dashed]",
    ] {
      #expect(text.contains(part), "\(part)")
    }
  }

  @Test func `elements of composites and constraints of several attributes are lines of the box`() {
    let element = PropertyRecord(name: "street", kind: .attribute(AttributeRecord(type: 700)))
    let composite = AttributeRecord(type: AttributeTypeName.composite.rawValue, elements: [element])
    let entity = EntityRecord(
      name: "A", uniquenessConstraints: [["address", "b"]],
      properties: [PropertyRecord(name: "address", kind: .attribute(composite))])
    let picture = Picture(ModelDiagram(ModelRecord(entities: [entity]), title: "").svg())
    #expect(picture.texts.filter { ["address", "street", "Composite"].contains($0) }.count == 3)
    #expect(picture.texts.contains("address, b") && picture.texts.contains("unique together"))
  }

  // MARK: Odd models

  @Test func `a model without entities has a diagram`() throws {
    let diagram = ModelDiagram(ModelRecord(), title: "Empty")
    #expect(diagram.svg().contains("0 entities, 0 attributes, 0 relationships"))
    #expect(Picture(diagram.svg()).faults.isEmpty)
    #expect(diagram.mermaid().hasSuffix("classDiagram\n  direction LR\n"))
    #expect(diagram.dot().hasSuffix("}\n"))
  }

  @Test func `relationships of an entity with itself are loops`() {
    func relationship(_ name: String, _ inverse: String?) -> PropertyRecord {
      PropertyRecord(
        name: name, kind: .relationship(RelationshipRecord(destinationEntity: "A", inverseName: inverse)))
    }
    let entity = EntityRecord(
      name: "A",
      properties: [
        relationship("children", "parent"), relationship("friend", "friend"), relationship("other", nil),
        relationship("parent", "children"),
      ])
    let picture = Picture(ModelDiagram(ModelRecord(entities: [entity]), title: "Loops").svg())
    #expect(picture.lines.count == 3)
    #expect(picture.faults.isEmpty)
  }

  @Test func `entities that inherit from each other and names that lead nowhere are drawn`() {
    func entity(_ name: String, _ parent: String) -> EntityRecord {
      let relationship = RelationshipRecord(destinationEntity: "Gone", inverseName: "x", maxCount: 0, deleteRule: 9)
      return EntityRecord(
        name: name, superentity: parent, properties: [PropertyRecord(name: "r", kind: .relationship(relationship))])
    }
    let model = ModelRecord(entities: [entity("A", "B"), entity("B", "A"), entity("C", "C"), entity("D", "Lost")])
    let picture = Picture(ModelDiagram(model, title: "Cycles").svg())
    #expect(picture.lines.count == 3)
    #expect(picture.texts.contains("r → Gone (not in the model)") && picture.texts.contains("0..*, rule 9"))
    #expect(picture.texts.contains("parent Lost (not in the model)"))
    #expect(picture.faults.isEmpty)
  }

  @Test(arguments: [
    "<a>&\"'", "}\u{0}\u{1}\n\t", "👩‍👩‍👧 日本語", "", "end ~T~ ***", "#35; %% --> ::: \\", "\u{202e}abc\u{2028}\u{fffe}",
    "long",
  ])
  func `names of any characters are escaped`(_ text: String) throws {
    let name = text == "long" ? String(repeating: "long", count: 3_000) : text
    let property = PropertyRecord(name: name, kind: .attribute(AttributeRecord(type: .min)))
    let link = PropertyRecord(
      name: name + "2",
      kind: .relationship(
        RelationshipRecord(destinationEntity: name, minCount: .max, maxCount: .min, deleteRule: .max)))
    let entity = EntityRecord(
      name: name, className: name + "1", uniquenessConstraints: [[name, name]], properties: [property, link])
    let diagram = ModelDiagram(ModelRecord(entities: [entity]), title: name)
    let picture = diagram.svg()
    #expect(XMLCheck(picture).isWellFormed)
    #expect(Picture(picture).faults.isEmpty)
    // No name begins a line or ends one.
    #expect(diagram.mermaid().split(separator: "\n").count == 13)
    #expect(diagram.dot().split(separator: "\n").count == 7)
  }

  // MARK: Geometry

  @Test(arguments: [1, 2, 3, 5, 8, 13, 21, 34, 60]) func `no boxes overlap and no line is in a box`(_ count: Int) {
    for seed in 1...(count > 30 ? 1 : 4) as ClosedRange<UInt64> {
      var generator = SeededGenerator(seed: seed &* 100 &+ UInt64(count))
      let diagram = ModelDiagram(Self.randomModel(count, &generator), title: "Random")
      let picture = Picture(diagram.svg())
      #expect(picture.boxes.count == count)
      #expect(picture.faults.isEmpty, "seed \(seed)")
    }
  }

  @Test func `equal models have equal diagrams`() {
    let texts = (0..<2).map { _ in
      var generator = SeededGenerator(seed: 7)
      let diagram = ModelDiagram(Self.randomModel(20, &generator), title: "Random")
      return [diagram.svg(), diagram.mermaid(), diagram.dot()]
    }
    #expect(texts[0] == texts[1])
  }

  private static func randomModel(_ count: Int, _ generator: inout SeededGenerator) -> ModelRecord {
    func random(_ limit: Int) -> Int { Int.random(in: 0..<limit, using: &generator) }
    var entities = (0..<count).map { index in
      let attributes = (0..<random(12)).map {
        PropertyRecord(name: "attribute\($0)", kind: .attribute(AttributeRecord(type: 700)), isOptional: random(2) == 0)
      }
      return EntityRecord(
        name: "E\(index)", isAbstract: random(5) == 0,
        superentity: random(4) == 0 && index > 0 ? "E\(random(index))" : nil, properties: attributes)
    }
    for number in 0..<count * 3 / 2 {
      let (one, other) = (random(count), random(count))
      let hasInverse = random(4) > 0
      func add(_ name: String, _ owner: Int, _ destination: Int, _ inverse: String?) {
        let record = RelationshipRecord(
          destinationEntity: "E\(destination)", inverseName: inverse, maxCount: random(2), deleteRule: random(4))
        entities[owner].properties.append(PropertyRecord(name: name, kind: .relationship(record)))
      }
      add("r\(number)", one, other, hasInverse ? "i\(number)" : nil)
      if hasInverse { add("i\(number)", other, one, "r\(number)") }
    }
    return ModelRecord(entities: entities)
  }
}

/// Whether a text is an XML document.
private struct XMLCheck {
  let isWellFormed: Bool

  /// The elements are closed in their order, and every character is one that XML can have.
  init(_ text: String) {
    var open: [Substring] = []
    var isWellFormed = text.unicodeScalars.allSatisfy {
      $0.value >= 0x20 && $0.value != 0xfffe && $0.value != 0xffff || $0 == "\n"
    }
    let tags = text.replacing(#/<!--.*?-->|<style>[^<]*<\/style>/#, with: "")
    for match in tags.matches(of: #/<(/?)([a-z]+)((?: [a-zA-Z0-9:-]+="[^"<]*")*)(/?)>/#) {
      if match.output.1 == "/" {
        if open.popLast() != match.output.2 { isWellFormed = false }
      } else if match.output.4 != "/" {
        open.append(match.output.2)
      }
    }
    let rest = tags.replacing(#/<(/?)([a-z]+)((?: [a-zA-Z0-9:-]+="[^"<]*")*)(/?)>/#, with: "")
    let references = rest.replacing(#/&(amp|lt|gt|quot|#39);/#, with: "")
    self.isWellFormed = isWellFormed && open.isEmpty && !references.contains(#/[<>&]/#)
  }
}

/// What an SVG picture has, read from its text.
private struct Picture {
  struct Box {
    var left: Int
    var top: Int
    var right: Int
    var bottom: Int
  }

  private(set) var boxes: [String: Box] = [:]
  /// The points of each line.
  private(set) var lines: [[(x: Int, y: Int)]] = []
  private(set) var names: [String] = []
  private(set) var texts: [String] = []
  private var parents: [String?] = []

  init(_ text: String) {
    var entity = ""
    var group = ""
    // Each element is a line.
    for line in text.split(separator: "\n") {
      switch true {
      case line.hasPrefix("<g data-entity"):
        entity = line.split(separator: "\"").dropFirst().first.map(String.init) ?? ""
      case line.hasPrefix("<g") && line.contains("data-"):
        group = line.firstRange(of: "data-").map { String(line[$0.lowerBound...].dropLast()) } ?? ""
      case line.hasPrefix("</g>"): group = ""
      case line.hasPrefix(#"<rect class="box""#):
        let numbers = Self.numbers(line)
        boxes[entity] = Box(
          left: numbers[0], top: numbers[1], right: numbers[0] + numbers[2], bottom: numbers[1] + numbers[3])
      case line.hasPrefix(#"<path class="line""#) && !group.isEmpty:
        let numbers = Self.numbers(line)
        lines.append(stride(from: 0, to: numbers.count - 1, by: 2).map { (numbers[$0], numbers[$0 + 1]) })
        names.append(group)
        parents.append(group.hasPrefix("data-inheritance") ? group.components(separatedBy: "data-parent=").last : nil)
      case line.hasPrefix("<text"):
        texts.append(String(line.dropLast("</text>".count).split(separator: ">").last ?? ""))
      default: break
      }
    }
  }

  private static func numbers(_ line: Substring) -> [Int] {
    line.split { !$0.isNumber }.compactMap { Int($0) }
  }

  /// Boxes that overlap, lines that are in a box, and lines that run on one another.
  var faults: [String] {
    var faults: [String] = []
    let list = boxes.sorted { $0.key < $1.key }
    for (index, (name, box)) in list.enumerated() {
      for (other, second) in list[..<index]
      where box.left < second.right && second.left < box.right && box.top < second.bottom && second.top < box.bottom {
        faults.append("\(name) and \(other) overlap")
      }
      for (number, line) in lines.enumerated()
      where zip(line, line.dropFirst()).contains(where: { Self.is($0, in: box) }) {
        faults.append("\(names[number]) is in \(name)")
      }
    }
    for (index, line) in lines.enumerated() {
      for other in lines.indices[..<index] where parents[index] == nil || parents[index] != parents[other] {
        if Self.shareLine(line, lines[other]) { faults.append("\(names[index]) runs on \(names[other])") }
      }
    }
    return faults
  }

  /// Whether the extent of a part of a line has a point in common with the inside of a box.
  private static func `is`(_ part: ((x: Int, y: Int), (x: Int, y: Int)), in box: Box) -> Bool {
    let (one, other) = part
    return min(one.x, other.x) < box.right && max(one.x, other.x) > box.left && min(one.y, other.y) < box.bottom
      && max(one.y, other.y) > box.top
  }

  private static func shareLine(_ line: [(x: Int, y: Int)], _ second: [(x: Int, y: Int)]) -> Bool {
    zip(line, line.dropFirst()).contains { a, b in
      zip(second, second.dropFirst()).contains { c, d in
        if a.x == b.x, c.x == d.x, a.x == c.x {
          return min(max(a.y, b.y), max(c.y, d.y)) - max(min(a.y, b.y), min(c.y, d.y)) > 2
        }
        if a.y == b.y, c.y == d.y, a.y == c.y {
          return min(max(a.x, b.x), max(c.x, d.x)) - max(min(a.x, b.x), min(c.x, d.x)) > 2
        }
        return false
      }
    }
  }
}
