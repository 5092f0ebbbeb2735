import CoreData
import Dispatch
import Foundation

extension GraphSuite {
  static let concurrency: [GraphCase] = [
    writers("CON-001/graph", saves: 8, .small), writers("CON-001/graph/thousand", saves: 1000, .tenth),
    GraphCase(
      "CON-001/graph/coordinators", "two coordinators on one store lose none of each other's saves",
      needs: .secondOpening,
      ways: .own, races: true
    ) { g in
      let contexts = try (0..<2).map { _ in try g.newContext(try g.newCoordinator()) }
      let problems = Recorder()
      atOnce(2) { writer in
        let c = contexts[writer]
        c.performAndWait {
          for number in 0..<20 {
            c.insert("Tag", ["label": "\(writer) \(number)"])
            for attempt in 0..<1000 {
              do {
                try c.save()
                break
              } catch {
                // A store with one version for the whole file may need another attempt.
                if attempt == 999 { problems.note(Graph.text(of: error)) }
                if (error as NSError).code != 133020 && (error as NSError).code != 134090 {
                  problems.note(Graph.text(of: error))
                  return
                }
              }
            }
          }
        }
      }
      g.equal(problems.take(), [])
      g.equal(try g.elsewhere { try Set($0.objects("Tag").compactMap { $0.text("label") }).count }, 40)
    },
    GraphCase("CON-003/graph", "readers never see half of a save", ways: .own, races: true) { g in
      try g.write { c in
        for name in ["a", "b"] { c.insert("Person", ["name": name, "age": 0]) }
      }
      let readers = try (0..<3).map { _ in try g.newContext() }
      let problems = Recorder()
      atOnce(4) { thread in
        do {
          if thread == 3 {
            for round in 1...30 {
              try g.inWriting { c in
                for person in try c.objects("Person") { person.setValue(round, forKey: "age") }
                try c.save()
              }
            }
          } else {
            for _ in 0..<60 {
              let c = readers[thread]
              try c.performAndWait {
                c.reset()
                let request = NSFetchRequest<NSManagedObject>(entityName: "Person")
                request.returnsObjectsAsFaults = false
                let ages = try c.fetch(request).map { $0.number("age") ?? -1 }
                if ages.count != 2 || ages[0] != ages[1] { problems.note("\(ages)") }
              }
            }
          }
        } catch { problems.note(Graph.text(of: error)) }
      }
      g.equal(problems.take(), [])
    },
  ]

  private static func writers(_ id: String, saves: Int, _ size: Load) -> GraphCase {
    GraphCase(id, "eight writers of objects of their own lose none", ways: .own, races: true, size: size) { g in
      let contexts = try (0..<8).map { _ in try g.newContext() }
      let problems = Recorder()
      atOnce(8) { writer in
        let c = contexts[writer]
        c.performAndWait {
          for number in 0..<saves {
            c.insert("Tag", ["label": "\(writer) \(number)"])
            do { try c.save() } catch { problems.note(Graph.text(of: error)) }
          }
        }
      }
      g.equal(problems.take(), [])
      g.equal(try g.elsewhere { try Set($0.objects("Tag").compactMap { $0.text("label") }).count }, 8 * saves)
    }
  }
}
