import CoreData
import Foundation

extension GraphSuite {
  static let durability: [GraphCase] = [
    GraphCase(
      "DUR-001/graph", "every save is present after the store is reopened", needs: .persistent, ways: .own
    ) { g in
      for number in 1...12 {
        try g.inWriting { c in
          c.insert("Person", ["name": "\(number)"])
          try c.save()
        }
        if number % 3 == 0 { try g.reopen() }
        g.equal(try g.countElsewhere("Person"), number)
      }
    },
    GraphCase(
      "DUR-013/graph", "unsaved changes are absent after the store is reopened", needs: .persistent, ways: .own
    ) { g in
      try g.write { $0.insert("Tag", ["label": "a"]) }
      try g.inWriting { c in
        try c.one("Tag", "label", "a").setValue("b", forKey: "label")
        c.insert("Tag", ["label": "c"])
      }
      try g.reopen()
      g.equal(try g.elsewhere { try $0.objects("Tag").map { $0.text("label") } }, ["a"])
    },
  ]
}
