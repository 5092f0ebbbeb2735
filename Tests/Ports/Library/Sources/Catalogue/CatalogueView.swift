import CoreData
import SwiftUI

struct CatalogueView: View {
  @FetchRequest(sortDescriptors: []) private var books: FetchedResults<Book>

  var body: some View {
    List(books) { Text($0.title) }
  }
}
