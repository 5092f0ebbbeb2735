import CoreData

/// What the app adds to the generated class.
extension Student {
  static let bestGrade = 6.0

  public override func awakeFromInsert() {
    super.awakeFromInsert()
    id = UUID()
  }

  /// Key-value coding finds it, as predicates in memory do.
  @objc var hasBestGrade: Bool { grade >= Self.bestGrade }

  /// The students of a city, the best first.
  static func best(in city: String) -> NSFetchRequest<Student> {
    let request = fetchRequest()
    request.predicate = NSPredicate(format: "%K == %@", #keyPath(Student.school.city), city)
    request.sortDescriptors = [NSSortDescriptor(key: #keyPath(Student.grade), ascending: false)]
    return request
  }
}
