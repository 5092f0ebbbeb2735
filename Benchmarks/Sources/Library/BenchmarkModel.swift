import CoreData
import Foundation

/// The model of the benchmark, built in code.
enum BenchmarkModel {
  static func make() -> NSManagedObjectModel {
    let employee = entity("Employee", Employee.self)
    let department = entity("Department", Department.self)
    let tag = entity("Tag", Tag.self)
    let name = attribute("name", .string)
    let home = relationship("department", to: department, isToMany: false)
    let staff = relationship("employees", to: employee, isToMany: true)
    let tags = relationship("tags", to: tag, isToMany: true)
    let tagged = relationship("employees", to: employee, isToMany: true)
    (home.inverseRelationship, staff.inverseRelationship) = (staff, home)
    (tags.inverseRelationship, tagged.inverseRelationship) = (tagged, tags)
    let blob = attribute("blob", .binaryData)
    blob.isOptional = true
    employee.properties = [
      name, attribute("email", .string), attribute("age", .integer16), attribute("salary", .double),
      attribute("hireDate", .date), attribute("active", .boolean), attribute("uuid", .uuid), blob, home, tags,
    ]
    department.properties = [attribute("name", .string), staff]
    tag.properties = [attribute("name", .string), tagged]
    // Further entities that could refer to departments. Behind the others by name, so that those keep their numbers.
    let more = ["Visit", "Ward", "Zone"].map { entity($0, NSManagedObject.self) }
    for one in more {
      let place = relationship("department", to: department, isToMany: false)
      let back = relationship("\(one.name ?? "")s".lowercased(), to: one, isToMany: true)
      (place.inverseRelationship, back.inverseRelationship) = (back, place)
      one.properties = [place]
      department.properties.append(back)
    }
    let element = NSFetchIndexElementDescription(property: name, collationType: .binary)
    employee.indexes = [NSFetchIndexDescription(name: "byName", elements: [element])]
    let model = NSManagedObjectModel()
    model.entities = [employee, department, tag] + more
    return model
  }

  private static func entity(_ name: String, _ type: NSManagedObject.Type) -> NSEntityDescription {
    let entity = NSEntityDescription()
    entity.name = name
    entity.managedObjectClassName = NSStringFromClass(type)
    return entity
  }

  private static func attribute(_ name: String, _ type: NSAttributeDescription.AttributeType) -> NSAttributeDescription
  {
    let attribute = NSAttributeDescription()
    attribute.name = name
    attribute.type = type
    attribute.isOptional = false
    return attribute
  }

  private static func relationship(
    _ name: String, to destination: NSEntityDescription, isToMany: Bool
  ) -> NSRelationshipDescription {
    let relationship = NSRelationshipDescription()
    relationship.name = name
    relationship.destinationEntity = destination
    relationship.maxCount = isToMany ? 0 : 1
    relationship.deleteRule = .nullifyDeleteRule
    return relationship
  }
}
