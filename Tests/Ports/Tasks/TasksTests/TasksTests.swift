import CoreData
import XCTest

@testable import Tasks

final class TasksTests: XCTestCase {
  struct First: Decodable {
    var title: String
  }

  func testTasksOfAFile() throws {
    let context = Persistence(inMemory: true).container.viewContext
    let url = try XCTUnwrap(Bundle(for: TasksTests.self).url(forResource: "first tasks", withExtension: "json"))
    for first in try JSONDecoder().decode([First].self, from: Data(contentsOf: url)) {
      let item = TaskItem(context: context)
      XCTAssertEqual(item.title, "New task")
      item.title = first.title
      item.state = .done
    }
    try context.save()
    let request = TaskItem.fetchRequest()
    request.predicate = NSPredicate(format: "%K == %d", #keyPath(TaskItem.rawState), TaskItem.State.done.rawValue)
    XCTAssertEqual(try context.fetch(request).map(\.title), ["Read the manual"])
  }
}
