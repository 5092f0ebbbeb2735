import Foundation
import StoreConformance

/// Another process of this program, which runs some workers of a race.
///
/// It prints `ready`, `meet NUMBER WORKER`, `event JSON` and `done`, and reads `start` and `go WORKER TIME`.
final class RacePeer: @unchecked Sendable {
  private let process = Process()
  private let (output, input) = (Pipe(), Pipe())
  private let ended = DispatchSemaphore(value: 0)
  private let ready = DispatchSemaphore(value: 0)
  private let writing = NSLock()
  private let meeting: LocalMeeting
  private let note: @Sendable (RaceEvent) -> Void
  private var isDone = false

  /// Starts the process and waits until it has opened its stores.
  init(
    _ number: Int, _ program: RaceProgram, _ backend: String, _ urls: [URL], _ meeting: LocalMeeting,
    _ note: @escaping @Sendable (RaceEvent) -> Void
  ) throws {
    (self.meeting, self.note) = (meeting, note)
    process.executableURL = Self.program
    process.arguments =
      ["races-worker", "--backend", backend, "--process", "\(number)"]
      + urls.flatMap { ["--url", $0.absoluteString] }
    process.standardOutput = output
    process.standardInput = input
    try process.run()
    try? output.fileHandleForWriting.close()
    send(program.text + "end\n")
    Thread.detachNewThread { self.listen() }
    ready.wait()
  }

  private static var program: URL {
    if let path = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe") {
      return URL(filePath: path)
    }
    return URL(filePath: CommandLine.arguments[0])
  }

  func start() { send("start\n") }

  /// Waits until the process's workers have finished.
  func wait() {
    ended.wait()
    process.waitUntilExit()
    if !isDone || process.terminationStatus != 0 {
      note(.problem("a process ended with status \(process.terminationStatus)"))
    }
  }

  private func send(_ text: String) {
    writing.withLock { try? input.fileHandleForWriting.write(contentsOf: Data(text.utf8)) }
  }

  private func listen() {
    let lines = LineReader(output.fileHandleForReading)
    while let line = lines.next() {
      let words = line.split(separator: " ", maxSplits: 1).map(String.init)
      switch words.first {
      case "ready": ready.signal()
      case "meet": meet(words[1])
      case "event":
        if let event = try? JSONDecoder().decode(RaceEvent.self, from: Data(words[1].utf8)) { note(event) }
      case "done": isDone = true
      default: note(.problem("a process said: \(line)"))
      }
    }
    if !isDone { meeting.end() }
    ready.signal()
    ended.signal()
  }

  private func meet(_ words: String) {
    let numbers = words.split(separator: " ").compactMap { Int($0) }
    guard numbers.count == 2 else { return }
    Thread.detachNewThread {
      let time = self.meeting.meet(numbers[0])
      self.send("go \(numbers[1]) \(time)\n")
    }
  }
}

/// The code of the other process; see ``RacePeer``.
enum RacePeerProcess {
  static func run(_ harness: any StoreHarness, _ urls: [URL], process: Int) throws {
    let lines = LineReader(.standardInput)
    var text = ""
    while let line = lines.next(), line != "end" { text += line + "\n" }
    let program = try RaceProgram(text: text)
    let stage = try RaceStage(program, process: process, harness, urls)
    let line = RemoteLine()
    line.say("ready")
    guard lines.next() == "start" else { return }
    Thread.detachNewThread { while let answer = lines.next() { line.answer(answer) } }
    let own = program.workers.indices.filter { program.workers[$0].process == process }
    atOnce(own.count) { index in
      let meeting = RemoteMeeting(line, worker: own[index])
      RaceWorker(own[index], program.workers[own[index]], stage, meeting) { event in
        if let data = try? JSONEncoder().encode(event) { line.say("event " + String(decoding: data, as: UTF8.self)) }
      }.run()
    }
    stage.close()
    line.say("done")
  }
}

/// The connection of a process to the one that started it.
private final class RemoteLine: @unchecked Sendable {
  private let condition = NSCondition()
  private var times: [Int: UInt64] = [:]

  func say(_ text: String) {
    condition.withLock { try? FileHandle.standardOutput.write(contentsOf: Data((text + "\n").utf8)) }
  }

  func answer(_ text: String) {
    let words = text.split(separator: " ")
    guard words.count == 3, let worker = Int(words[1]), let time = UInt64(words[2]) else { return }
    condition.withLock {
      times[worker] = time
      condition.broadcast()
    }
  }

  func await(_ worker: Int) -> UInt64 {
    condition.lock()
    defer { condition.unlock() }
    while true {
      if let time = times.removeValue(forKey: worker) { return time }
      condition.wait()
    }
  }
}

private final class RemoteMeeting: RaceMeeting {
  private let line: RemoteLine
  private let worker: Int
  init(_ line: RemoteLine, worker: Int) { (self.line, self.worker) = (line, worker) }

  func meet(_ number: Int) -> UInt64 {
    line.say("meet \(number) \(worker)")
    return line.await(worker)
  }
}

/// Reads lines from a file handle. Used by one thread at a time.
final class LineReader: @unchecked Sendable {
  private let handle: FileHandle
  private var buffer = Data()
  init(_ handle: FileHandle) { self.handle = handle }

  func next() -> String? {
    while true {
      if let end = buffer.firstIndex(of: UInt8(ascii: "\n")) {
        let text = String(decoding: buffer[buffer.startIndex..<end], as: UTF8.self)
        buffer = Data(buffer[(end + 1)...])
        return text
      }
      let part = handle.availableData
      if part.isEmpty { return nil }
      buffer.append(part)
    }
  }
}
