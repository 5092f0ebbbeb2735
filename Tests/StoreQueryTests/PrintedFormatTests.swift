import StoreQuery
import StoreSchema
import Testing

/// The output of Apple's `predicateFormat`, as the tests of client libraries expect it on Apple's platforms.
@Suite struct PrintedFormatTests {
  /// Parsing a format and printing it gives the same text.
  @Test(
    arguments: [
      // Comparisons of strings and numbers.
      #"property == "Donald""#, #"property != "Donald""#, "score > 10", "score >= 10", "score < 10", "score <= 10",
      "int_key == -42", "uint_key == 42", "double_key == 42.42", "number_key == 0", "null_key == nil", "this == that",
      #"some_key == "string_value""#, #"SELF == "bob""#, #"keypath == "bob""#, "sequence > 0", "dummyID == 20",
      "dummyID != 20", "cost == 1000000000", "date.dayOfEra == 5", #"id == "123""#, #"memberCount > "2""#,
      #"memberCount >= "4""#, #"memberCount < "3""#, #"memberCount <= "53""#, #"isHidden != "true""#,
      #"userCreatedAt == "1970-01-01 00:00:00 +0000""#, #"lastMessageAt > "1970-01-01 00:00:00 +0000""#,
      #"key == "2018miket_qm1""#, "siteID == 10", "___createTime == 5",
      // Booleans are printed as numbers, nil as nil.
      "isAdmin == 1", "isAdmin == 0", "property == nil", "isHidden != nil", "attachments == nil", "attachments != nil",
      "stubOptionalRelationship == nil", "stubRelationship.isDownloaded == 1", "favorite == 1", "isUpNext == 1",
      // Dates have six digits after the decimal point.
      #"bridgeable_key == CAST(592299475.577120, "NSDate")"#, #"___createTime == CAST(0.000000, "NSDate")"#,
      // Key paths and quantifiers.
      #"stubRelationship.property == "Toto""#, #"ANY fleetMembers.name == "TIE fighter""#,
      "ANY fleetMembers.isReal == 1",
      #"ANY attachments.type == "file""#, #"ANY members.user.id == "12""#, #"members.user.id IN "44""#,
      #"NOT ANY members.user.id IN {"33", "44"}"#, "fleetMembers == {}",
      // String operators and options.
      #"property BEGINSWITH "Desp""#, #"property ENDSWITH "Desp""#, #"property CONTAINS "Desp""#,
      #"property MATCHES "Desp""#,
      #"property BEGINSWITH[c] "Desp""#, #"property BEGINSWITH[d] "Desp""#, #"property BEGINSWITH[cd] "Desp""#,
      #"property BEGINSWITH[n] "Desp""#, #"name BEGINSWITH "T""#, #"name BEGINSWITH "😂""#, #"name CONTAINS "🚀""#,
      #"name ENDSWITH "s""#, #"text CONTAINS "hello""#, #"kMDItemTextContent ==[cd] "*hello world*""#,
      // Escapes.
      #"property == "Quote \"""#, #"property == "Quote \\""#, #"property == "Quote (""#,
      // Lists, ranges, bits.
      "stubRaw IN {1, 2}", "NOT stubRaw IN {1, 2}", "score BETWEEN {1, 10}", "1 <= score AND score < 10.5",
      "stubOption & 3 == 3",
      // Compounds.
      #"NOT property BEGINSWITH "Desp""#, "NOT isReal == 0", #"NOT (isReal == 0 OR name == "The Reaver Ship")"#,
      #"score == 1 AND stubRelationship.property == "Toto""#, #"name == "Death Star" AND fleetMembers == {}"#,
      #"cost == 1000000000 AND name == "Death Star" AND shipDescription == nil"#,
      #"color == "lightgray" AND name == "Tinna""#, #"modelKey == "frc2337" AND modelTypeRaw == 1"#,
      #"label == "Log in" OR title == "Log in""#, #"canvasContextID == "course_someCourseID" AND id != nil"#,
      #"ANY members.user.id == "12" AND ANY members.user.id == "34""#,
      #"name == "Hi" AND (ANY members.user.id == "12" AND ANY members.user.id == "34") AND isHidden != nil"#,
      #"name == "Hi" OR (ANY members.user.id == "12" AND ANY members.user.id == "34") OR isHidden != nil"#,
      #"(NOT name == "Hi") AND (NOT isHidden != nil)"#,
      #"(title CONTAINS[cd] "aString" OR resolvedURL CONTAINS[cd] "aString" OR originalURL CONTAINS[cd] "aString") AND isArchived == 0"#,
      "TRUEPREDICATE", "FALSEPREDICATE",
      // Comparisons that predicate builders make.
      "keypath == 3", #"keypath IN {"bob", "ed"}"#, "keypath >= 1 AND keypath < 2", "keypath >= 1 AND keypath <= 2",
      #"one == "two""#, "three == 4", "keypath == nil", "SELF == nil", "dummyID IN {20, 21, 22}",
      #"dummyID == 20 AND name ==[c] "name""#, #"dummyID == 20 OR name ==[c] "name""#,
      #"dummyID == 20 OR (name ==[c] "name" AND slug IN {"slug", "name"})"#,
      #"label BEGINSWITH "Log in" OR title BEGINSWITH "Log in""#,
      #"label CONTAINS "Log in" OR title CONTAINS "Log in""#, #"identifier == "log_in""#,
      #"(label CONTAINS "text_contains" OR title CONTAINS "text_contains") AND identifier == "resource_id""#,
      "date.weekOfEra == 5", "date.monthOfEra == 5", "dayOfEra == 5", "name == test", #"id == "test_id""#,
      #"canvasContextID == "course_someCourseID" AND id != nil AND userID == "someUserID""#, #"name == "abc""#,
      #"ANY searchResults.keyword == """#, #"difficulty == "Easy""#, #"name CONTAINS[cd] "123""#,
      #"feature_class == "bunching_segment""#, #"gameStatus_ == "active""#, "needsToBeUpdatedFromBackend == 1",
      "NOT age == 24", #"lastName == "Smith" AND age == 24"#, #"lastName == "Smith" OR age == 24"#,
      #"((NOT lastName == "Smith") OR firstName == "Charlie") AND age > 30"#, "birthday IN {}", "age == 24",
      "age != 24",
      "age > 24", "age >= 24", "age < 25", "age <= 27", "age BETWEEN {24, 31}", "age IN {24, 33}", "age IN {}",
      #"firstName == "Bob""#, #"firstName != "Bob""#, #"firstName IN {"Bob", "Alice"}"#, #"firstName BEGINSWITH "B""#,
      #"firstName BEGINSWITH[c] "b""#, #"firstName BEGINSWITH[d] "Bó""#, #"firstName BEGINSWITH[cd] "bó""#,
      #"firstName CONTAINS "li""#, #"firstName CONTAINS[c] "LI""#, #"firstName CONTAINS[d] "lí""#, "age > 25",
      "height < 176.3", "isDefective == 0", #"name ENDSWITH "My""#, "age >= 25 AND height < 183.8",
      #"isDefective == 1 OR name BEGINSWITH "My""#, "salary == <null>", "uuid != <null>", "name == <null>",
      // Wildcards, functions, elements, subqueries.
      #""firstName" LIKE "Adam""#, #"firstName LIKE "Adam""#, #""%K" LIKE "%@""#, #"SELF LIKE[c] "prefix*suffix""#,
      #"SELF LIKE[c] "prefix" * "suffix""#, #"SELF LIKE[c] "prefix?suffix""#, "isMale == 1", "a.@count == 3",
      "a.isMale == 1", #"a.firstName == "Lee""#, "a.firstName.length == 3", #"FUNCTION(a, "pow:" , 3) == 8"#,
      #"FUNCTION("a", "uppercase") == "A""#, "a[SIZE] == 3", "a[FIRST] == 1", "a[LAST] == 3", "a[1] == 2",
      "SUBQUERY(city.branches, $x1, $x1.nr == 52).@count > 0",
    ])
  func isReadAndPrintedAsItIs(format: String) throws {
    #expect(try Predicate(format: format).format == format)
  }

  /// Formats that are printed differently from how they were written.
  @Test(
    arguments: [
      ("isMale == YES", "isMale == 1"), ("isMale == no", "isMale == 0"), ("isMale == true", "isMale == 1"),
      ("isMale == FALSE", "isMale == 0"), ("name == NULL", "name == nil"), ("self == 'bob'", #"SELF == "bob""#),
      ("SELF like[c] 'prefix*suffix'", #"SELF LIKE[c] "prefix*suffix""#), ("a.@count=3", "a.@count == 3"),
      ("FUNCTION('a', 'uppercase') == 'A'", #"FUNCTION("a", "uppercase") == "A""#),
    ])
  func isPrintedInOneForm(format: String, printed: String) throws {
    let predicate = try Predicate(format: format)
    #expect(predicate.format == printed)
    #expect(try Predicate(format: printed) == predicate)
  }
}
