import Foundation
import StoreProtocol
import StoreSchema

/// Runs one case on one store, and checks the postconditions of every case.
public struct CaseRun {
  /// The outcome of a case in this process. Also decides whether the case applies. Never throws.
  public static func run(
    _ conformanceCase: ConformanceCase, _ harness: any StoreHarness, _ profile: Profile, seed: UInt64 = 1,
    peers: [any StoreHarness] = [], processes: (any ProcessStarter)? = nil
  ) -> Outcome {
    switch conformanceCase.exemption(of: harness, profile) {
    case .missing(let names): return .notApplicable("requires " + names.joined(separator: ", "))
    case .declared(let names): return .notApplicable("is for stores without " + names.joined(separator: ", "))
    case nil: break
    }
    if (conformanceCase.needsProcesses || conformanceCase.disturbsFiles) && processes == nil {
      return .harnessError("the case needs other processes, or one to itself")
    }
    if conformanceCase.disturbsFiles && !FailingFiles.isPossible {
      return .notApplicable("no calls can be made to fail in this program: that needs ELF and glibc, and no sanitizer")
    }
    do {
      let context = try CaseContext(
        conformanceCase, harness, profile, seed: seed, peers: peers, processes: processes)
      let outcome = outcome(conformanceCase, context)
      for site in context.sites { try harness.destroy(site.location) }
      return outcome
    } catch { return .harnessError("\(error)") }
  }

  private static func outcome(_ conformanceCase: ConformanceCase, _ context: CaseContext) -> Outcome {
    do { try conformanceCase.body(context) } catch let failure as Failure {
      for problem in failure.problems { context.note(problem.text) }
    } catch let error as StoreError {
      context.note("unexpected \(error)")
    } catch is CaseEnded {
    } catch {
      return .harnessError("\(error)")
    }
    Postconditions(context).check()
    return context.failure.map(Outcome.failed) ?? .passed
  }
}

/// The postconditions of every case: U3 to U7 of the contract.
struct Postconditions {
  private let context: CaseContext
  private let harness: any StoreHarness

  init(_ context: CaseContext) {
    self.context = context
    harness = context.harness
  }

  func check() {
    for site in context.sites {
      let isPersistent = harness.backend.capabilities.contains(.persistent)
      if !isPersistent { checkOpen(site) }
      closeAll(site)
      if isPersistent { checkReopened(site) }
      checkFiles(site)
      checkDescriptors(site)
      destroy(site)
    }
  }

  private func closeAll(_ site: CaseContext.Site) {
    for session in site.sessions {
      do { try session.close() } catch { context.note("U6: the store cannot be closed: \(error)") }
    }
  }

  private func checkOpen(_ site: CaseContext.Site) {
    guard let store = site.sessions.last?.store, (try? store.snapshot()) != nil else { return }
    note("U3", ConsistencyCheck.problems(of: store))
  }

  private func checkReopened(_ site: CaseContext.Site) {
    guard let schema = site.schema, !site.isDamaged, harness.opensStores else { return }
    do {
      let store = try CheckedBackend(harness.backend).open(
        at: site.location.url, schema: schema, options: StoreOptions())
      note("U3", ConsistencyCheck.problems(of: store))
      if let identifier = site.identifier, identifier != store.identifier {
        context.note("U7: the identifier has become \(store.identifier), it was \(identifier)")
      }
      try store.close()
    } catch { context.note("U3: the store does not open again: \(error)") }
  }

  private func note(_ rule: String, _ problems: [String]) {
    for problem in problems.prefix(3) { context.note("\(rule): \(problem)") }
  }

  // MARK: Files

  private func checkFiles(_ site: CaseContext.Site) {
    guard let folder = site.location.folder, !site.isDamaged else { return }
    let files = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
    for file in files where !site.extraFiles.contains(file) {
      if !harness.belongs(file, to: site.location) { context.note("U4: the file \(file) is left behind") }
      let path = folder.appending(path: file).path
      let attributes = try? FileManager.default.attributesOfItem(atPath: path)
      let mode = (attributes?[.posixPermissions] as? NSNumber)?.intValue ?? 0
      let isLink = attributes?[.type] as? FileAttributeType == .typeSymbolicLink
      if mode & 0o077 != 0 && !isLink && mode != site.mode {
        context.note("U5: \(file) has the mode 0\(String(mode, radix: 8))")
      }
    }
  }

  /// Checks for open descriptors of this process in the location's folder. Does nothing on systems that cannot list
  /// descriptors.
  private func checkDescriptors(_ site: CaseContext.Site) {
    guard let folder = site.location.folder?.resolvingSymlinksInPath().path else { return }
    let list = "/proc/self/fd"
    for name in (try? FileManager.default.contentsOfDirectory(atPath: list)) ?? [] {
      let target = (try? FileManager.default.destinationOfSymbolicLink(atPath: "\(list)/\(name)")) ?? ""
      if target == folder || target.hasPrefix(folder + "/") {
        context.note("U6: the descriptor of \(target.dropFirst(folder.count)) is still open")
      }
    }
  }

  /// A destroyed store leaves nothing behind.
  private func destroy(_ site: CaseContext.Site) {
    guard site.schema != nil, !site.isDamaged, let folder = site.location.folder else { return }
    do {
      try harness.backend.destroy(at: site.location.url, options: StoreOptions())
      let left = try FileManager.default.contentsOfDirectory(atPath: folder.path)
        .filter { !site.extraFiles.contains($0) }
      if !left.isEmpty { context.note("U4: a destroyed store leaves \(left.sorted().joined(separator: ", "))") }
    } catch { context.note("U4: the store cannot be destroyed: \(error)") }
  }
}
