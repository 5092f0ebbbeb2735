import CoreData
import Testing

/// The versions in Apple's header CoreDataDefines.h, and the error codes by their C names.
@Suite struct VersionNumberTests {
  private static let macOS = [
    NSCoreDataVersionNumber10_4,
    NSCoreDataVersionNumber10_4_3,
    NSCoreDataVersionNumber10_5,
    NSCoreDataVersionNumber10_5_3,
    NSCoreDataVersionNumber10_6,
    NSCoreDataVersionNumber10_6_2,
    NSCoreDataVersionNumber10_6_3,
    NSCoreDataVersionNumber10_7,
    NSCoreDataVersionNumber10_7_2,
    NSCoreDataVersionNumber10_7_3,
    NSCoreDataVersionNumber10_7_4,
    NSCoreDataVersionNumber10_8,
    NSCoreDataVersionNumber10_8_2,
    NSCoreDataVersionNumber10_9,
    NSCoreDataVersionNumber10_9_2,
    NSCoreDataVersionNumber10_9_3,
    NSCoreDataVersionNumber10_10,
    NSCoreDataVersionNumber10_10_2,
    NSCoreDataVersionNumber10_10_3,
    NSCoreDataVersionNumber10_11,
    NSCoreDataVersionNumber10_11_3,
  ]
  private static let iOS = [
    NSCoreDataVersionNumber_iPhoneOS_3_0,
    NSCoreDataVersionNumber_iPhoneOS_3_1,
    NSCoreDataVersionNumber_iPhoneOS_3_2,
    NSCoreDataVersionNumber_iPhoneOS_4_0,
    NSCoreDataVersionNumber_iPhoneOS_4_1,
    NSCoreDataVersionNumber_iPhoneOS_4_2,
    NSCoreDataVersionNumber_iPhoneOS_4_3,
    NSCoreDataVersionNumber_iPhoneOS_5_0,
    NSCoreDataVersionNumber_iPhoneOS_5_1,
    NSCoreDataVersionNumber_iPhoneOS_6_0,
    NSCoreDataVersionNumber_iPhoneOS_6_1,
    NSCoreDataVersionNumber_iPhoneOS_7_0,
    NSCoreDataVersionNumber_iPhoneOS_7_1,
    NSCoreDataVersionNumber_iPhoneOS_8_0,
    NSCoreDataVersionNumber_iPhoneOS_8_3,
    NSCoreDataVersionNumber_iPhoneOS_9_0,
    NSCoreDataVersionNumber_iPhoneOS_9_2,
    NSCoreDataVersionNumber_iPhoneOS_9_3,
  ]

  /// The numbers are versions: 358.12 comes after 358.4.
  @Test func everySystemHasItsNumber() {
    #expect(NSCoreDataVersionNumber10_4 == 46 && NSCoreDataVersionNumber10_7_2 == 358.12)
    #expect(NSCoreDataVersionNumber10_11_3 == 641.3 && NSCoreDataVersionNumber_iPhoneOS_3_0 == 241)
    #expect(NSCoreDataVersionNumber_iPhoneOS_9_3 == 641.6 && NSCoreDataVersionNumber_iPhoneOS_4_1 == 320.11)
    for versions in [Self.macOS, Self.iOS] {
      #expect(Set(versions).count == versions.count && versions.map(Int.init) == versions.map(Int.init).sorted())
      #expect(versions.allSatisfy { NSCoreDataVersionNumber > $0 })
    }
  }

  @Test func codesHaveTheirCNames() {
    #expect(NSValidationInvalidURIError == CocoaError.validationStringPatternMatching.rawValue + 10)
    #expect(NSManagedObjectModelReferenceNotFoundError == 134504)
    #expect(NSStagedMigrationFrameworkVersionMismatchError == 134505)
    #expect(NSStagedMigrationBackwardMigrationError == 134506)
  }
}
