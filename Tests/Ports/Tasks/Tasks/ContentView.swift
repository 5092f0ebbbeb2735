import CoreData
import SwiftUI

struct ContentView: View {
  @Environment(\.managedObjectContext) private var viewContext
  @FetchRequest(sortDescriptors: [NSSortDescriptor(keyPath: \TaskItem.title, ascending: true)])
  private var items: FetchedResults<TaskItem>

  var body: some View {
    List(items) { Text($0.title ?? "") }
  }
}
