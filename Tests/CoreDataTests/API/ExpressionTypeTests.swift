import CoreData
import Foundation
import TestSupport
import Testing

/// Feature 27.13: the result types of expressions in dictionaries.
@Suite struct ExpressionTypeTests {
  /// The type of the result of `function` over `key`, for objects with the given numbers.
  private func result(
    _ type: NSAttributeType, _ function: String, _ key: String, of numbers: [NSNumber]
  ) throws -> Any? {
    let model = Describing.model([
      Describing.entity(
        "Entry",
        [
          Describing.attribute("whole", .integer64), Describing.attribute("exact", .decimal),
          Describing.attribute("real", .double),
        ])
    ])
    let context = try Describing.context(model)
    return try context.performAndWait {
      for number in numbers {
        let entry = NSEntityDescription.insertNewObject(forEntityName: "Entry", into: context)
        entry.setValue(number, forKey: key)
      }
      try context.save()
      let expression = NSExpressionDescription()
      expression.name = "x"
      expression.expression = NSExpression(forFunction: function, arguments: [NSExpression(forKeyPath: key)])
      expression.expressionResultType = type
      let request = NSFetchRequest<NSDictionary>(entityName: "Entry")
      (request.resultType, request.propertiesToFetch) = (.dictionaryResultType, [expression])
      return try context.fetch(request).first?["x"]
    }
  }

  @Test func whatDoesNotFitAnIntegerTypeStaysWhatItIs() throws {
    #expect(try result(.integer16AttributeType, "sum:", "whole", of: [20_000, 20_000]) as? Int64 == 40_000)
    #expect(try result(.integer16AttributeType, "sum:", "whole", of: [20_000, 12_767]) as? Int16 == .max)
    #expect(try result(.integer16AttributeType, "sum:", "whole", of: [-20_000, -12_769]) as? Int64 == -32_769)
    #expect(try result(.integer32AttributeType, "sum:", "whole", of: [2_000_000_000, 2]) as? Int32 == 2_000_000_002)
    let large = try result(.integer32AttributeType, "sum:", "whole", of: [2_000_000_000, 200_000_000])
    #expect(large as? Int64 == 2_200_000_000)
    #expect(try result(.integer64AttributeType, "sum:", "real", of: [1e19]) as? Double == 1e19)
    #expect(try result(.integer32AttributeType, "sum:", "real", of: [1.75, 1]) as? Int32 == 2)
    #expect(try result(.integer16AttributeType, "sum:", "real", of: [-1e6]) as? Double == -1e6)
    #expect(try result(.booleanAttributeType, "sum:", "whole", of: [70_000]) as? Bool == true)
  }

  @Test func wholeDecimalsKeepEveryDigit() throws {
    func exact(_ text: String) -> NSNumber { NSDecimalNumber(string: text) }
    for (text, whole) in [
      ("9007199254740993", 9_007_199_254_740_993), ("-9223372036854775808", Int64.min),
      ("9223372036854775807.75", .max), ("-0.5", 0), ("4e18", 4_000_000_000_000_000_000),
    ] {
      #expect(try result(.integer64AttributeType, "max:", "exact", of: [exact(text)]) as? Int64 == whole, "\(text)")
    }
    let large = exact("9223372036854775808")
    #expect(try result(.integer64AttributeType, "max:", "exact", of: [large]) as? NSDecimalNumber == large)
    #expect(try result(.integer16AttributeType, "max:", "exact", of: [exact("32768")]) as? NSDecimalNumber == 32768)
  }
}
