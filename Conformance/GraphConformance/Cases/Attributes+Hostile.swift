import CoreData
import Foundation

/// Malicious values in files.
extension GraphSuite {
  static let hostileValues: [GraphCase] = [
    GraphCase(
      "ATT-030", "an archive of a class that is not allowed reads as nil; other values are unaffected", { archives },
      without: .objects
    ) { g in
      register()
      try g.write { c in
        c.insert("Archive", ["name": "a", "content": try NSData(data: archive(ForeignToTransformers()))])
        c.insert("Archive", ["name": "b", "content": try NSData(data: archive(["fine"] as NSArray))])
      }
      try g.read { c in
        let (a, b) = (try c.one("Archive", "name", "a"), try c.one("Archive", "name", "b"))
        for object in [a, b] { c.refresh(object, mergeChanges: false) }
        g.expect(a.value(forKey: "content") == nil, "there is a value of a class that is not allowed")
        g.equal(a.text("name"), "a")
        g.expect((b.value(forKey: "content") as? NSArray)?.isEqual(to: ["fine"]) ?? false, "another archive is lost")
        g.expect(!a.hasChanges && !c.hasChanges, "reading has changed something")
      }
    },
    GraphCase(
      "ATT-031", "inconsistent archives give nil or another value, and never end the program", { archives },
      without: .objects
    ) { g in
      register()
      // Spreads the damage over the archive, the same way in every run.
      var state = UInt64(truncatingIfNeeded: g.seed)
      func next(below count: Int) -> Int {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return Int(state >> 33) % count
      }
      let sound = Array(
        try archive(["a": [1, "text", Date(timeIntervalSinceReferenceDate: 0)], "b": Data([1])] as NSDictionary))
      try g.write { c in
        for number in 0..<400 {
          var bytes = sound
          for _ in 0..<(1 + number % 3) { bytes[next(below: bytes.count)] = UInt8(next(below: 256)) }
          // Redirects each reference between objects to every other object in turn.
          if number >= 200, let site = bytes.firstIndex(of: 0x80) { bytes[site + 1] = UInt8(number % 12) }
          if number % 10 == 9 { bytes.removeLast(next(below: bytes.count)) }
          c.insert("Archive", ["name": "\(number)", "content": NSData(data: Data(bytes))])
        }
      }
      try g.read { c in
        var seen = 0
        for object in try c.objects("Archive") {
          c.refresh(object, mergeChanges: false)
          _ = object.value(forKey: "content")
          if object.text("name") != nil { seen += 1 }
        }
        g.equal(seen, 400)
      }
    },
    GraphCase(
      "SAV-025", "values beyond every limit are refused before memory is allocated for them", { Models.allTypes },
      ways: .own
    ) { g in
      let before = Pages.peak
      try g.inWriting { c in
        let object = c.insert("AllTypes", ["number": 1, "data": try Pages.data(3 << 30)])
        do {
          try c.save()
          g.expect(false, "it was saved")
        } catch { g.expect(Graph.isThrownByUse(error), "threw \(Graph.text(of: error))") }
        let taken = Pages.peak - before
        g.expect(taken < 200 << 20, "\(taken >> 20) MB were taken")
        object.setValue(Data([1]), forKey: "data")
        object.setValue(nil, forKey: "large")
        try c.save()
      }
      g.equal(try g.elsewhere { try $0.objects("AllTypes").map { $0.value(forKey: "data") as? Data } }, [Data([1])])
    },
  ]

  private static let archives = Models.model([
    Models.entity(
      "Archive", [Models.attribute("name", .stringAttributeType), transformed("content", "ArchiveAsItIs")])
  ])

  private static func transformed(_ name: String, _ transformer: String) -> NSAttributeDescription {
    let attribute = Models.attribute(name, .transformableAttributeType)
    attribute.valueTransformerName = transformer
    return attribute
  }

  private static func register() {
    ValueTransformer.setValueTransformer(AsItIs(), forName: NSValueTransformerName("ArchiveAsItIs"))
  }

  private static func archive(_ value: Any) throws -> Data {
    try NSKeyedArchiver.archivedData(withRootObject: value, requiringSecureCoding: false)
  }

  /// Writes the bytes of an archive unchanged, and reads as the standard transformer does.
  private final class AsItIs: NSSecureUnarchiveFromDataTransformer {
    override func reverseTransformedValue(_ value: Any?) -> Any? { value as? NSData }
  }

}

/// A class that no transformer allows. It is not nested in another type, because archives can only name top-level
/// classes.
final class ForeignToTransformers: NSObject, NSCoding {
  override init() {}
  func encode(with coder: NSCoder) { coder.encode("x" as NSString, forKey: "x") }
  init?(coder: NSCoder) {}
}

/// Zero bytes that take no memory: their pages are mapped read-only and share the system's zero page.
private enum Pages {
  static func data(_ count: Int) throws -> Data {
    let flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE
    guard let start = mmap(nil, count, PROT_READ, flags, -1, 0), start != MAP_FAILED else {
      throw CocoaError(.featureUnsupported)
    }
    return Data(bytesNoCopy: start, count: count, deallocator: .custom { start, count in munmap(start, count) })
  }

  /// The peak memory of the process.
  static var peak: Int {
    var usage = rusage()
    getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
    return usage.ru_maxrss * 1024
  }
}
