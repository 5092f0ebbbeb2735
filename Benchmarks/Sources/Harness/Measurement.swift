import BenchmarkSupport
import Foundation

/// What one side of one workload cost.
struct Measurement: Codable {
  /// CPU seconds of the process, all threads.
  var cpu: Double
  /// Seconds that passed.
  var wall: Double
  /// Bytes given to write calls.
  var bytesWritten: Int
  /// Calls of fsync and fdatasync.
  var fsyncs: Int
  /// Bytes of memory at the highest, over what was in use at the start.
  var peak: Int
  /// What is held against the goal where that is no ratio: milliseconds of ``Workload/w10``, heap bytes of one object
  /// of ``Workload/w11``.
  var value: Double?
}

/// What a child process reports.
struct CellResult: Codable {
  var measurement: Measurement
  /// Equal on both sides where they read the same values and wrote the same rows.
  var checksum: String

  /// The same with the time that passed as the value to be compared.
  var withMilliseconds: CellResult {
    var result = self
    result.measurement.value = measurement.wall * 1000
    return result
  }
}

/// Measures `body`, which gives back a checksum of the values it read.
@inline(never)
func measure(_ body: () throws -> Double) rethrows -> CellResult {
  ProcessFigures.resetPeak()
  let memory = ProcessFigures.residentBytes
  let (written, syncs) = (ProcessFigures.bytesWritten, bench_sync_count())
  let (cpu, wall) = (bench_cpu_time(), bench_wall_time())
  bench_toggle_collection()
  StatementTrace.isCounting = true
  let checksum = try body()
  StatementTrace.isCounting = false
  bench_toggle_collection()
  let (cpuSpent, wallSpent) = (bench_cpu_time() - cpu, bench_wall_time() - wall)
  let measurement = Measurement(
    cpu: cpuSpent, wall: wallSpent, bytesWritten: ProcessFigures.bytesWritten - written,
    fsyncs: Int(bench_sync_count() - syncs), peak: max(0, ProcessFigures.peakBytes - memory), value: nil)
  return CellResult(measurement: measurement, checksum: "\(checksum)")
}

/// What Linux says of this process.
enum ProcessFigures {
  static var residentBytes: Int { status("VmRSS:") * 1024 }
  static var peakBytes: Int { status("VmHWM:") * 1024 }
  static var bytesWritten: Int { number("wchar:", in: "/proc/self/io") }

  /// Makes the peak begin again at what is in use now.
  static func resetPeak() {
    guard let file = fopen("/proc/self/clear_refs", "w") else { return }
    fputs("5", file)
    fclose(file)
  }

  private static func status(_ key: String) -> Int { number(key, in: "/proc/self/status") }

  private static func number(_ key: String, in path: String) -> Int {
    guard let text = try? String(contentsOfFile: path, encoding: .utf8) else { return 0 }
    for line in text.split(separator: "\n") where line.hasPrefix(key) {
      return line.dropFirst(key.count).split(whereSeparator: \.isWhitespace).first.flatMap { Int($0) } ?? 0
    }
    return 0
  }
}
