import Foundation
import StoreProtocol
import StoreSchema

/// A store in which one person's age is the number of tags. Both must agree after every failure.
///
/// Each step adds one to both, in one commit. After each step the store is checked, by the opening that wrote and by a
/// new one.
final class CountedStore {
  private let c: CaseContext
  let session: Session
  private var person: ObjectReference
  /// The count that is certainly stored.
  private(set) var saved = 0
  /// The writes and syncs of the commit that was repeated after the last failure.
  private(set) var repeated: [String] = []
  /// The size of data that each step changes too. It may be large enough for a file of its own.
  private let dataSize: Int

  init(_ c: CaseContext, _ schema: Schema? = nil, dataSize: Int = 0) throws {
    (self.c, self.dataSize) = (c, dataSize)
    session = try c.open(schema ?? Fixtures.people())
    person = try session.insert("Person", ["age": 0])
  }

  /// Opens a store that another process has left.
  init(leftBy other: String, _ c: CaseContext) throws {
    (self.c, dataSize) = (c, 0)
    session = try c.open(Fixtures.people())
    guard let found = try session.objects("Person").first else { throw Failure("the person is gone, \(other)") }
    person = found
    saved = try count(of: session, other)
  }

  private func write(_ number: Int) throws {
    try session.commit {
      try $0.insert("Tag", ["label": .text("\(number)")])
      var values: [String: Cell] = ["age": .int(Int64(number))]
      if dataSize > 0 { values["photo"] = .data(Data(repeating: UInt8(number & 255), count: dataSize)) }
      try $0.update(person, values)
    }
  }

  /// One step under a fault. Returns the error, nil where the step was committed, and the number of calls that the
  /// fault has hit.
  ///
  /// The error must be true. A step that was not saved, by the error, is repeated without the fault by the same
  /// opening.
  @discardableResult
  func step(_ fault: FileFault) throws -> (error: StoreError?, hits: Int) {
    let (result, _, hits) = FailingFiles.disturb(fault) { Result { try write(saved + 1) } }
    var failure: StoreError?
    do {
      try result.get()
      saved += 1
    } catch let error as StoreError {
      failure = error
      c.expect(hits > 0, "an error though nothing has happened: \(error)")
      c.expect(error.code != .corrupt && error.code != .notAStore, "a failed call is no damage: \(error)")
    }
    let what = "\(fault.effect) at \(fault.first): \(failure.map { "\($0)" } ?? "committed")"
    let possible = failure?.outcome == .outcomeUnknown ? [saved, saved + 1] : [saved]
    let found = try count(of: session, what)
    c.expect(possible.contains(found), "\(what): \(found) there, possible are \(possible)")
    if c.capabilities.contains(.multipleOpens) { c.equal(try countElsewhere(what), found, what + ": elsewhere") }
    saved = found
    if failure != nil && found == possible[0] {
      do { repeated = try FailingFiles.calls([.write, .sync]) { try write(saved + 1) }.map(\.call) } catch {
        try c.fail("\(what): the same commit fails afterwards: \(error)")
      }
      saved += 1
      c.equal(try count(of: session, what), saved, what + ": again")
    }
    return (failure, hits)
  }

  /// Makes a step for each call that the fault can hit, one after the other. Returns the errors.
  @discardableResult
  func sweep(_ effect: FileFault.Effect, _ calls: FileFault.Calls) throws -> [StoreError] {
    var errors: [StoreError] = []
    for at in 1..<400 {
      let (error, hits) = try step(FileFault(effect, calls, at: at))
      if let error { errors.append(error) }
      if hits == 0 {
        c.expect(at > 1, "no call of a commit was met")
        break
      }
    }
    return errors
  }

  /// Makes one more step, without faults.
  func step() throws {
    try write(saved + 1)
    saved += 1
    c.equal(try count(of: session, "a step"), saved)
  }

  private func countElsewhere(_ what: String) throws -> Int {
    let other = try Session(c.backend, c.url, session.schema, StoreOptions(), .plain)
    let found = Result { try count(of: other, what) }
    try other.close()
    return try found.get()
  }

  private func count(of session: Session, _ what: String) throws -> Int {
    guard case .int(let age) = try session.value(person, "age") else {
      try c.fail("\(what): the age is no number")
    }
    c.equal(try session.objects("Tag").count, Int(age), what + ": tags")
    if dataSize > 0 && age > 0 {
      let data = Data(repeating: UInt8(truncatingIfNeeded: age), count: dataSize)
      c.expect(try session.value(person, "photo") == .data(data), what + ": the data is not the age's")
    }
    return Int(age)
  }
}

extension Session {
  /// Counts a step that another process has made.
  func countOn() throws {
    guard let person = try objects("Person").first, case .int(let age) = try value(person, "age") else {
      throw Failure("the person is gone")
    }
    try commit {
      try $0.insert("Tag", ["label": .text("\(age + 1)")])
      try $0.update(person, ["age": .int(age + 1)])
    }
  }
}
