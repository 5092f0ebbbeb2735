//
//  School+CoreDataClass.swift
//
//  This file was automatically generated and should not be edited.
//

public import Foundation
public import CoreData

public typealias SchoolCoreDataClassSet = NSSet

@objc(School)
public class School: NSManagedObject {

}
