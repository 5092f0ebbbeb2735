import Foundation
import ModelCompiler
import ModelFiles
import TestSupport
import Testing

/// Each rule, with a source that breaks it and nothing else.
@Suite struct LintTests {
  struct Example: Sendable, CustomTestStringConvertible {
    var rule: LintRule
    var element: String
    var message: String
    var body: String
    var model = #"sourceLanguage="Swift""#
    var testDescription: String { rule.rawValue }
  }

  /// Two entities with a relationship and its inverse, in which a word is replaced.
  private static let pair = """
    <entity name="A"><relationship name="b" optional="YES" maxCount="1" deletionRule="Nullify" destinationEntity="B" \
    inverseName="a" inverseEntity="B"/></entity>
    <entity name="B"><relationship name="a" optional="YES" toMany="YES" deletionRule="Nullify" destinationEntity="A" \
    inverseName="b" inverseEntity="A"/></entity>
    """

  private static func pair(_ text: String, _ replacement: String) -> String {
    pair.replacing(text, with: replacement, maxReplacements: 1)
  }

  private static func attribute(_ text: String) -> String { #"<entity name="A"><attribute \#(text)/></entity>"# }

  private static let cloud = #"usedWithCloudKit="YES""#

  static let errors: [Example] = [
    Example(
      rule: .destination, element: "A.b", message: "A.b has the destination Gone, which the model does not have",
      body: #"<entity name="A"><relationship name="b" maxCount="1" destinationEntity="Gone"/></entity>"#),
    Example(
      rule: .unknownInverse, element: "A.b", message: "A.b has the inverse B.x, which is not a relationship",
      body: #"""
        <entity name="A"><relationship name="b" maxCount="1" destinationEntity="B" inverseName="x"/></entity>
        <entity name="B"><attribute name="x" attributeType="String"/></entity>
        """#),
    Example(
      rule: .reservedName, element: "A.description",
      message: "A.description has the name of something that every managed object has; rename the property",
      body: attribute(#"name="description" attributeType="String""#)),
    Example(
      rule: .doubleName, element: "B.tiTle", message: "B.tiTle differs from title by case alone; rename one of them",
      body: #"""
        <entity name="A"><attribute name="title" attributeType="String"/></entity>
        <entity name="B" parentEntity="A"><attribute name="tiTle" attributeType="String"/></entity>
        """#),
    Example(
      rule: .counts, element: "B.a", message: "B.a has at least 3 and at most 2 objects; correct the counts",
      body: pair(#"toMany="YES""#, #"toMany="YES" minCount="3" maxCount="2""#)),
    Example(
      rule: .requestEntity, element: "f",
      message: "The fetch request f is for the entity Gone, which the model does not have",
      body: #"<entity name="A"/><fetchRequest name="f" entity="Gone"/>"#),
    Example(
      rule: .requestEntity, element: "A.f", message: "A.f fetches the entity Gone, which the model does not have",
      body: #"""
        <entity name="A"><fetchedProperty name="f" optional="YES"><fetchRequest name="r" entity="Gone"/></fetchedProperty>
        </entity>
        """#),
    Example(
      rule: .configurationEntity, element: "C",
      message: "The configuration C has the entity Gone, which the model does not have",
      body: #"<entity name="A"/><configuration name="C"><memberEntity name="Gone"/></configuration>"#),
    Example(
      rule: .indexProperty, element: "A", message: "The index i of A is for x, which A does not have",
      body: #"""
        <entity name="A"><fetchIndex name="i"><fetchIndexElement property="x" type="Binary" order="ascending"/></fetchIndex>
        </entity>
        """#),
    Example(
      rule: .doubleIndex, element: "A", message: "Entity A already has an index with name i",
      body: #"<entity name="A"><fetchIndex name="i"/><fetchIndex name="i"/></entity>"#),
    Example(
      rule: .constraintProperty, element: "A",
      message: "A uniqueness constraint of A is for x, which A does not have",
      body: #"""
        <entity name="A"><uniquenessConstraints><uniquenessConstraint><constraint value="x"/></uniquenessConstraint>
        </uniquenessConstraints></entity>
        """#),
    Example(
      rule: .cloudDefault, element: "A.n", message: "A.n must have a default value",
      body: attribute(#"name="n" attributeType="String""#), model: cloud),
    Example(
      rule: .cloudDefault, element: "A.n", message: "A.n must have a default value",
      body: attribute(#"name="n" attributeType="String""#)
        + #"<configuration name="C" usedWithCloudKit="YES"><memberEntity name="A"/></configuration>"#),
    Example(
      rule: .redefinition, element: "C.n",
      message: "C.n is an attribute of the type Integer 16, but A.n, which it redefines, is an attribute of the type "
        + "String; give both one type, or rename one of them",
      body: #"""
        <entity name="A"><attribute name="n" attributeType="String"/></entity><entity name="B" parentEntity="A"/>
        <entity name="C" parentEntity="B"><attribute name="n" attributeType="Integer 16"/></entity>
        """#),
    Example(
      rule: .redefinition, element: "B.n",
      message: "B.n is a to-one relationship to A, but A.n, which it redefines, is an attribute of the type String; "
        + "give both one type, or rename one of them",
      body: #"""
        <entity name="A"><attribute name="n" attributeType="String"/><relationship name="bs" toMany="YES"         destinationEntity="B" inverseName="n"/></entity>
        <entity name="B" parentEntity="A"><relationship name="n" maxCount="1" destinationEntity="A" inverseName="bs"/>
        </entity>
        """#),
    Example(
      rule: .redefinition, element: "B.c",
      message:
        "B.c is a relationship to D, but A.c, which it redefines, is one to C; make D a subentity of C, or rename "
        + "one of the relationships",
      body: #"""
        <entity name="C"><relationship name="as" toMany="YES" destinationEntity="A" inverseName="c"/></entity>
        <entity name="D"><relationship name="bs" toMany="YES" destinationEntity="B" inverseName="c"/></entity>
        <entity name="A"><relationship name="c" maxCount="1" destinationEntity="C" inverseName="as"/></entity>
        <entity name="B" parentEntity="A"><relationship name="c" maxCount="1" destinationEntity="D" inverseName="bs"/>
        </entity>
        """#),
  ]

  static let warnings: [Example] = [
    Example(
      rule: .inverse, element: "A.b", message: "A.b should have an inverse",
      body: #"<entity name="A"><relationship name="b" maxCount="1" destinationEntity="A"/></entity>"#),
    Example(
      rule: .inverseOfMany, element: "A.b",
      message: "A.b does not have an inverse; this is an advanced setting"
        + " (no object can be in multiple destinations for a specific relationship)",
      body: #"<entity name="A"><relationship name="b" toMany="YES" destinationEntity="A"/></entity>"#),
    Example(
      rule: .reciprocal, element: "A.c",
      message: "The inverse relationship for A.c does not reciprocate an inverse relationship",
      body: pair(
        "</entity>",
        #"<relationship name="c" maxCount="1" destinationEntity="B" inverseName="a" inverseEntity="B"/></entity>"#)),
    Example(
      rule: .noAction, element: "A.b", message: "Setting the No Action Delete Rule on A.b is an advanced setting",
      body: pair("Nullify", "No Action")),
    Example(
      rule: .transformer, element: "A.t",
      message:
        "A.t is using a nil or insecure value transformer. Please switch to NSSecureUnarchiveFromDataTransformerName"
        + " or a custom NSValueTransformer subclass of NSSecureUnarchiveFromDataTransformer",
      body: attribute(#"name="t" attributeType="Transformable""#)),
    Example(
      rule: .transformer, element: "A.t",
      message:
        "A.t is using a nil or insecure value transformer. Please switch to NSSecureUnarchiveFromDataTransformerName"
        + " or a custom NSValueTransformer subclass of NSSecureUnarchiveFromDataTransformer",
      body: attribute(#"name="t" attributeType="Transformable" valueTransformerName="NSUnarchiveFromData""#)),
    Example(
      rule: .defaultValue, element: "A.n",
      message: "A.n has the default value \"many\", which is not of its type; correct it",
      body: attribute(#"name="n" attributeType="Integer 16" defaultValueString="many""#)),
    Example(
      rule: .defaultValue, element: "A.n",
      message: "A.n has the default value \"70000\", which is not of its type; correct it",
      body: attribute(#"name="n" attributeType="Integer 16" defaultValueString="70000""#)),
    Example(
      rule: .defaultValue, element: "C.x",
      message: "C.x has the default value \"70000\", which is not of its type; correct it",
      body: attribute(#"name="c" attributeType="Composite" composite="C""#)
        + #"<composite name="C"><attribute name="x" attributeType="Integer 16" defaultValueString="70000"/></composite>"#
    ),
    Example(
      rule: .boundValue, element: "A.n", message: "A.n has the minimum \"abc\", which is not of its type; correct it",
      body: attribute(#"name="n" attributeType="Integer 16" minValueString="abc""#)),
    Example(
      rule: .boundValue, element: "A.s",
      message: "A.s has the maximum \"1234567890123456789012\", which is no length; correct it",
      body: attribute(#"name="s" attributeType="String" maxValueString="1234567890123456789012""#)),
    Example(
      rule: .inverseEntity, element: "A.b",
      message: "A.b has an inverse of the entity A, but the destination B; choose the inverse again",
      body: pair(#"inverseEntity="B""#, #"inverseEntity="A""#)),
    Example(
      rule: .bounds, element: "A.n", message: "A.n has the minimum 5.0 and the maximum 2.0, so no value is valid",
      body: attribute(#"name="n" attributeType="Integer 16" minValueString="5" maxValueString="2""#)),
    Example(
      rule: .bounds, element: "A.n", message: "A.n has a default value below its minimum 5.0",
      body: attribute(#"name="n" attributeType="Integer 16" minValueString="5" defaultValueString="2""#)),
    Example(
      rule: .bounds, element: "A.s", message: "A.s has a default value above its maximum 2.0",
      body: attribute(#"name="s" attributeType="String" maxValueString="2" defaultValueString="abc""#)),
    Example(
      rule: .pattern, element: "A.s",
      message: "A.s has the regular expression [a, which is not valid; no value can match it",
      body: attribute(#"name="s" attributeType="String" regularExpressionString="[a""#)),
    Example(
      rule: .entityCase, element: "a",
      message: "a begins with a lower-case letter; in Xcode the names of entities begin with an upper-case one",
      body: #"<entity name="a"/>"#),
    Example(
      rule: .propertyCase, element: "A.N",
      message: "A.N begins with an upper-case letter; in Xcode the names of properties begin with a lower-case one",
      body: attribute(#"name="N" attributeType="String""#)),
    Example(
      rule: .propertyCount, element: "A",
      message: "A has more than 100 properties; move those that are rarely used to another entity",
      body: #"<entity name="A">"#
        + (0...100).map { #"<attribute name="p\#($0)" attributeType="String"/>"# }.joined() + "</entity>"),
    Example(
      rule: .abstractLeaf, element: "A",
      message: "A is abstract and has no subentities, so it can have no objects",
      body: #"<entity name="A" isAbstract="YES"/>"#),
    Example(
      rule: .cloud, element: "A", message: "A has a uniqueness constraint, which CloudKit does not support; remove it",
      body: #"""
        <entity name="A"><attribute name="x" optional="YES" attributeType="String"/><uniquenessConstraints>
        <uniquenessConstraint><constraint value="x"/></uniquenessConstraint></uniquenessConstraints></entity>
        """#, model: cloud),
    Example(
      rule: .cloud, element: "A.b", message: "A.b must be optional, because CloudKit requires it",
      body: pair(#"optional="YES" "#, ""), model: cloud),
    Example(
      rule: .cloud, element: "B.a",
      message: "B.a is ordered, which CloudKit does not support; keep the order in an attribute",
      body: pair(#"toMany="YES""#, #"toMany="YES" ordered="YES""#), model: cloud),
    Example(
      rule: .cloud, element: "A.b",
      message: "A.b has the deletion rule Deny, which CloudKit does not support; choose another",
      body: pair("Nullify", "Deny"), model: cloud),
  ]

  @Test(arguments: errors + warnings)
  func `a rule finds what breaks it, and nothing else does`(_ example: Example) throws {
    let text = TestModels.contents(example.body, model: example.model)
    let source = try ModelSourceReader().readSource(Data(text.utf8))
    let found = ModelLint.check(source, path: "M.xcdatamodel")
    #expect(found.map(\.rule) == [example.rule])
    #expect(found.first?.element == example.element)
    #expect(found.first?.message == example.message)
  }

  @Test func `each rule has an example, and the severity of its list`() {
    #expect(Set(Self.errors.map(\.rule)).union(Self.warnings.map(\.rule)) == Set(LintRule.allCases))
    #expect(Self.errors.allSatisfy { $0.rule.severity == .error })
    #expect(Self.warnings.allSatisfy { $0.rule.severity == .warning })
  }

  @Test func `each rule is in the documentation`() throws {
    let document = try String(contentsOf: Repository.root.appending(path: "Documentation/Tool.md"), encoding: .utf8)
    for rule in LintRule.allCases where !document.contains("`\(rule.rawValue)`") { Issue.record("\(rule.rawValue)") }
  }

  @Test func `a sound model has no finding`() throws {
    let source = try ModelSourceReader().readSource(Data(TestModels.contents(Self.pair, model: Self.cloud).utf8))
    #expect(ModelLint.check(source, path: "M.xcdatamodel").isEmpty)
  }

  @Test func `a relationship may be redefined for a subentity of its destination`() throws {
    let example = try #require(Self.errors.first { $0.rule == .redefinition && $0.element == "B.c" })
    let body = example.body.replacingOccurrences(of: #"name="D""#, with: #"name="D" parentEntity="C""#)
    let source = try ModelSourceReader().readSource(Data(TestModels.contents(body).utf8))
    #expect(ModelLint.check(source, path: "M.xcdatamodel").isEmpty && body != example.body)
  }

  @Test func `a finding is printed as Apple's compiler prints it`() {
    let finding = ModelDiagnostic(.warning, "A.b should have an inverse", path: "/m/M.xcdatamodel", element: "A.b")
    #expect("\(finding)" == "/m/M.xcdatamodel:A.b: warning: A.b should have an inverse")
    #expect("\(ModelDiagnostic(.error, "gone", path: "/m"))" == "/m:: error: gone")
  }
}
