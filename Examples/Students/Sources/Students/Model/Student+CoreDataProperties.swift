//
//  Student+CoreDataProperties.swift
//
//  This file was automatically generated and should not be edited.
//

public import Foundation
public import CoreData


public typealias StudentCoreDataPropertiesSet = NSSet

extension Student {

    @nonobjc public class func fetchRequest() -> NSFetchRequest<Student> {
        return NSFetchRequest<Student>(entityName: "Student")
    }

    @NSManaged public var age: Int16
    @NSManaged public var enrolledAt: Date?
    @NSManaged public var grade: Double
    @NSManaged public var id: UUID?
    @NSManaged public var isActive: Bool
    @NSManaged public var name: String?
    @NSManaged public var school: School?

}

extension Student : Identifiable {

}
