import CoreData
import Foundation

/// The app of the tutorials, without its windows: `Students [store file]`.
@main
struct StudentsApp {
  let context: NSManagedObjectContext

  static func main() throws {
    let path = CommandLine.arguments.dropFirst().first
    let url =
      path.map { URL(fileURLWithPath: $0) }
      ?? FileManager.default.temporaryDirectory.appendingPathComponent("Students.sqlite")
    try removeStore(at: url)
    print("The store is \(url.path)")

    let container = open(url)
    let app = StudentsApp(context: container.viewContext)
    try app.insert()
    try app.fetch()
    try app.edit()
    try app.delete()
    try app.rollBack()
    try close(container)

    print("\nOpening the store again")
    try StudentsApp(context: open(url).viewContext).report()
  }

  // MARK: The stack

  static func removeStore(at url: URL) throws {
    guard FileManager.default.fileExists(atPath: url.path) else { return }
    let coordinator = NSPersistentContainer(name: "Students").persistentStoreCoordinator
    try coordinator.destroyPersistentStore(at: url, ofType: NSSQLiteStoreType)
  }

  static func open(_ url: URL) -> NSPersistentContainer {
    let container = NSPersistentContainer(name: "Students")
    container.persistentStoreDescriptions = [NSPersistentStoreDescription(url: url)]
    container.loadPersistentStores { _, error in
      if let error { fatalError("The store could not be opened: \(error)") }
    }
    return container
  }

  static func close(_ container: NSPersistentContainer) throws {
    let coordinator = container.persistentStoreCoordinator
    for store in coordinator.persistentStores { try coordinator.remove(store) }
  }

  // MARK: The steps

  func insert() throws {
    print("\nInserting 3 schools and 100 students")
    let schools = [("Lindenhof", "Bern"), ("Riverside", "Leeds"), ("Miramar", "Porto")].map { name, city in
      let school = School(context: context)
      school.name = name
      school.city = city
      return school
    }
    for number in 0..<100 { schools[number % schools.count].addToStudents(makeStudent(number)) }
    try context.save()
    for school in schools {
      print("  \(school.name ?? ""), \(school.city ?? ""): \(school.students?.count ?? 0) students")
    }
  }

  private func makeStudent(_ number: Int) -> Student {
    let names = ["Ada", "Alan", "Barbara", "Edsger", "Grace", "Hedy", "Ken", "Margaret", "Niklaus", "Radia"]
    let student = Student(context: context)
    student.name = "\(names[number % names.count]) \(number / names.count + 1)"
    student.age = Int16(17 + number * 7 % 11)
    student.grade = 1 + Double(number * 13 % 50) / 10
    student.enrolledAt = Date(timeIntervalSinceReferenceDate: Double(number) * 86_400)
    return student
  }

  func fetch() throws {
    print("\nFetching: age >= 20 AND name BEGINSWITH \"A\", by name, the first 5")
    let request = Student.fetchRequest()
    request.predicate = NSPredicate(format: "age >= %d AND name BEGINSWITH %@", 20, "A")
    request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
    print("  \(try context.count(for: request)) students match")
    request.fetchLimit = 5
    for student in try context.fetch(request) {
      print("  \(student.name ?? ""), \(student.age), grade \(student.grade), \(student.school?.name ?? "no school")")
    }
  }

  func edit() throws {
    let student = try student(named: "Ada 1")
    print("\nEditing Ada 1: grade \(student.grade), active \(student.isActive)")
    student.grade = 6
    student.isActive = false
    print("  changed: \(student.changedValues().keys.sorted().joined(separator: ", "))")
    try context.save()
    print("  saved: grade \(student.grade), active \(student.isActive)")
  }

  func delete() throws {
    print("\nDeleting Alan 1 and the school Miramar; its students stay, without a school")
    context.delete(try student(named: "Alan 1"))
    let request = NSFetchRequest<School>(entityName: "School")
    request.predicate = NSPredicate(format: "name == %@", "Miramar")
    for school in try context.fetch(request) { context.delete(school) }
    try context.save()
    try report()
  }

  func rollBack() throws {
    let student = try student(named: "Grace 1")
    student.name = "Somebody else"
    print("\nRolling back: \(student.name ?? ""), changes: \(context.hasChanges)")
    context.rollback()
    print("  \(student.name ?? ""), changes: \(context.hasChanges)")
  }

  func report() throws {
    let students = NSFetchRequest<Student>(entityName: "Student")
    let schools = NSFetchRequest<School>(entityName: "School")
    print("  \(try context.count(for: students)) students in \(try context.count(for: schools)) schools")
    students.predicate = NSPredicate(format: "school == nil")
    print("  \(try context.count(for: students)) students without a school")
    students.predicate = NSPredicate(format: "school.city == %@ AND isActive == YES", "Bern")
    print("  \(try context.count(for: students)) active students in Bern")
    let best = try context.fetch(Student.best(in: "Bern")).first
    let hasBestGrade = best?.value(forKey: "hasBestGrade") as? Bool ?? false
    print("  the best of Bern: \(best?.name ?? ""), grade \(best?.grade ?? 0), the best possible: \(hasBestGrade)")
  }

  private func student(named name: String) throws -> Student {
    let request = NSFetchRequest<Student>(entityName: "Student")
    request.predicate = NSPredicate(format: "name == %@", name)
    request.fetchLimit = 1
    guard let student = try context.fetch(request).first else { fatalError("There is no student named \(name).") }
    return student
  }
}
