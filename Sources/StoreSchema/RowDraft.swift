import Foundation

/// An incomplete row: its key, its version and its references to other new objects may still change.
///
/// The code that makes a change set packs drafts. The engine that commits the change set seals them, and only then are
/// they rows. Sealing writes into the draft's own memory and copies nothing. One thread at a time uses a draft.
///
/// Sendable, unchecked: a draft is passed on with its change set, and a sealed draft does not change any more.
public struct RowDraft: @unchecked Sendable {
  @usableFromInline var row: Row

  /// No other code may hold `row`.
  init(unsealed row: Row) {
    self.row = row
    row.block.withUnsafeMutablePointerToHeader { $0.pointee.isDraft = true }
  }

  /// Index of the object's own entity.
  @inlinable public var entity: Int { row.entity }
  /// The object's key. Zero or less: the object needs a key.
  @inlinable public var key: Int64 { row.key }
  /// The version that the row will have.
  @inlinable public var version: Int64 { row.version }
  /// The number of slots of the entity.
  @inlinable public var slotCount: Int { row.slotCount }
  /// The number of bytes of the row in memory.
  public var byteCount: Int { row.byteCount }
  /// The present entity and key.
  @inlinable public var reference: ObjectReference { row.reference }

  /// The present values. Valid while the draft is held.
  @inlinable public var view: RowView { row.view }
  /// Whether a slot has no value.
  @inlinable public func isNull(_ slot: Int) -> Bool { row.isNull(slot) }
  /// A value by its kind. A reference to a new object is a negative number until the draft is sealed.
  public func value(_ slot: Int, _ kind: SlotKind) -> Value { row.value(slot, kind) }

  /// Whether the draft is complete. From then on nothing changes it.
  @inlinable public var isSealed: Bool { !row.header.isDraft }

  /// The row of a sealed draft. Stops the program before the draft is sealed.
  @inlinable public var sealedRow: Row {
    precondition(isSealed, "the draft of a row is not sealed")
    return row
  }

  /// Whether the object needed a key, and got it when the draft was sealed.
  public var gotKey: Bool { row.header.gotKey }

  /// Sets a slot whose word is the value itself. Returns false, and does nothing, for a value that needs variable
  /// bytes.
  public func patch(_ slot: Int, _ value: Value) -> Bool {
    precondition(!isSealed, "a row does not change")
    let word: UInt64?
    switch value {
    case .null: word = nil
    case .bool(let x): word = x ? 1 : 0
    case .int(let x): word = UInt64(bitPattern: x)
    case .double(let x), .date(let x): word = x == 0 ? 0 : x.bitPattern
    case .reference(let x): word = UInt64(bitPattern: x.key)
    case .decimal, .string, .uri, .uuid, .data: return false
    }
    let mask: UInt64 = 1 &<< UInt64(slot & 63)
    row.block.withUnsafeMutablePointers { header, words in
      if word == nil { words[slot &>> 6] |= mask } else { words[slot &>> 6] &= ~mask }
      words[header.pointee.bitmapWords + slot] = word ?? 0
    }
    return true
  }

  /// Completes the row: sets its key, its version and its references to new objects.
  ///
  /// `keys[n]` is the key of the n-th new object; words of `referenceSlots` that hold `-(n + 1)` become `keys[n]`. If
  /// the draft was sealed before with another key or version, returns false and does nothing, because its references
  /// are already resolved.
  public func seal(key: Int64, version: Int64, referenceSlots: [Int] = [], keys: [Int64] = []) -> Bool {
    row.block.withUnsafeMutablePointers { header, elements in
      if !header.pointee.isDraft { return header.pointee.key == key && header.pointee.version == version }
      header.pointee.gotKey = header.pointee.key <= 0
      header.pointee.key = key
      header.pointee.version = version
      header.pointee.isDraft = false
      let words = elements + header.pointee.bitmapWords
      for slot in referenceSlots {
        let word = Int64(bitPattern: words[slot])
        guard word < 0, -(word + 1) < Int64(keys.count) else { continue }
        words[slot] = UInt64(bitPattern: keys[Int(-(word + 1))])
      }
      return true
    }
  }

  /// Sets the key that was allocated for the object; zero stands for an object that needs a key. Call it before the
  /// draft is sealed.
  public func setKey(_ key: Int64) {
    precondition(!isSealed, "a row does not change")
    row.block.withUnsafeMutablePointerToHeader { $0.pointee.key = key }
  }

  /// Completes a row that has its key and version, and no reference to a new object.
  @inlinable @inline(__always)
  package func sealAsIs() { row.block.withUnsafeMutablePointerToHeader { $0.pointee.isDraft = false } }

  /// A draft with the same values in its own memory, and with another version unless that is nil. A copy of a sealed
  /// draft keeps its key.
  public func copy(version: Int64? = nil) -> RowDraft { RowDraft(unsealed: row.copy(version: version ?? self.version)) }

  /// Exchanges the row of a sealed draft with `other`, which is released with the draft. Neither is retained.
  package mutating func exchange(_ other: inout Row) { swap(&row, &other) }
}

extension Row {
  /// A draft with the values of this row and another version.
  public func draft(version: Int64) -> RowDraft { RowDraft(unsealed: copy(version: version)) }

  /// A copy of this row with another version.
  public func copy(version: Int64) -> Row { withExtendedLifetime(block) { view.copy(version: version) } }
}

extension RowView {
  /// See ``Row/draft(version:)``.
  package func draft(version: Int64) -> RowDraft { RowDraft(unsealed: copy(version: version)) }

  /// See ``Row/copy(version:)``.
  package func copy(version: Int64) -> Row {
    var header = self.header.pointee
    header.version = version
    let total = Int(header.byteCount)
    let copy = unsafeDowncast(RowBlock.create(minimumCapacity: (total + 7) / 8) { _ in header }, to: RowBlock.self)
    copy.withUnsafeMutablePointerToElements {
      UnsafeMutableRawPointer($0).copyMemory(from: words, byteCount: total)
    }
    if header.ownsObjects {
      copy.withUnsafeMutablePointerToHeader {
        RowObjects.own(sameAs: UInt(bitPattern: self.header), by: UInt(bitPattern: $0))
      }
    }
    return Row(copy)
  }
}

extension RowBuilder {
  /// Finishes a row like ``finish(key:entity:version:)``, as a draft.
  public func finishDraft(key: Int64, entity: Int, version: Int64) -> RowDraft {
    RowDraft(unsealed: finish(key: key, entity: entity, version: version))
  }

  /// Copies one slot of a draft of the same layout.
  public func copy(_ slot: Int, _ kind: SlotKind, from draft: RowDraft) { copy(slot, kind, from: draft.row) }
}

/// The rows of sealed drafts.
public struct SealedRows: RandomAccessCollection, Sendable {
  @usableFromInline let drafts: [RowDraft]

  /// The drafts must be sealed.
  @inlinable package init(_ drafts: [RowDraft]) { self.drafts = drafts }

  @inlinable public var startIndex: Int { 0 }
  @inlinable public var endIndex: Int { drafts.count }
  @inlinable public subscript(index: Int) -> Row { drafts[index].row }
}
