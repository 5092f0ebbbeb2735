//
//  Student+CoreDataClass.swift
//
//  This file was automatically generated and should not be edited.
//

public import Foundation
public import CoreData

public typealias StudentCoreDataClassSet = NSSet

@objc(Student)
public class Student: NSManagedObject {

}
