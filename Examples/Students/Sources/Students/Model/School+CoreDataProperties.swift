//
//  School+CoreDataProperties.swift
//
//  This file was automatically generated and should not be edited.
//

public import Foundation
public import CoreData


public typealias SchoolCoreDataPropertiesSet = NSSet

extension School {

    @nonobjc public class func fetchRequest() -> NSFetchRequest<School> {
        return NSFetchRequest<School>(entityName: "School")
    }

    @NSManaged public var city: String?
    @NSManaged public var name: String?
    @NSManaged public var students: NSSet?

}

// MARK: Generated accessors for students
extension School {

    @objc(addStudentsObject:)
    @NSManaged public func addToStudents(_ value: Student)

    @objc(removeStudentsObject:)
    @NSManaged public func removeFromStudents(_ value: Student)

    @objc(addStudents:)
    @NSManaged public func addToStudents(_ values: NSSet)

    @objc(removeStudents:)
    @NSManaged public func removeFromStudents(_ values: NSSet)

}

extension School : Identifiable {

}
