import Foundation
import TestSupport
import Testing

@testable import CoreData

/// Features 1.7 and 1.14: configurations.
@Suite struct ConfigurationTests {
  private func model() -> NSManagedObjectModel {
    let (parent, child) = (Describing.entity("Parent", [Describing.attribute("x")]), Describing.entity("Child"))
    parent.subentities = [child]
    return Describing.model([parent, child, Describing.entity("Other")])
  }

  @Test func theDefaultConfigurationHasAllEntities() {
    let model = model()
    #expect(model.configurations.isEmpty)
    #expect(model.entities(forConfigurationName: nil)?.count == 3)
    #expect(model.entities(forConfigurationName: "PF_DEFAULT_CONFIGURATION_NAME")?.count == 3)
    #expect(model.entities(forConfigurationName: "None") == nil)
  }

  @Test func aConfigurationHasWhatWasGivenAndNoSubentities() throws {
    let model = model()
    let parent = try #require(model.entitiesByName["Parent"])
    model.setEntities([parent], forConfigurationName: "Some")
    #expect(model.configurations == ["Some"])
    parent.name = "Renamed"
    #expect(model.entities(forConfigurationName: "Some")?.map(\.name) == ["Renamed"])
    model.entities = [Describing.entity("New")]
    #expect(model.entities(forConfigurationName: "Some")?.isEmpty == true)
  }

  @Test func anEntityOfAnotherModelIsRefused() async {
    await #expect(processExitsWith: .failure) {
      Describing.library().setEntities([Describing.entity("Stranger")], forConfigurationName: "X")
    }
  }

  @Test func aStoreMustHaveExactlyTheEntitiesOfTheConfiguration() throws {
    let model = model()
    model.setEntities([try #require(model.entitiesByName["Other"])], forConfigurationName: "Some")
    let all = model.entityVersionHashesByName
    func fits(_ configuration: String?, _ hashes: [String: Data]) -> Bool {
      model.isConfiguration(
        withName: configuration, compatibleWithStoreMetadata: [NSStoreModelVersionHashesKey: hashes])
    }
    #expect(fits(nil, all) && fits("Some", all.filter { $0.key == "Other" }))
    #expect(!fits("Some", all) && !fits(nil, all.filter { $0.key != "Other" }))
    #expect(!fits(nil, all.merging(["Other": Data(count: 32)]) { $1 }))
    #expect(!fits("None", all) && !model.isConfiguration(withName: nil, compatibleWithStoreMetadata: [:]))
  }
}
