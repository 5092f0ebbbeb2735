import StoreSchema

/// Chooses the changes of an operation to the present objects.
struct ModelPlan {
  private let model: ModelSchema
  private let store: ReferenceStore
  private var random: SplitMix64

  init(_ model: ModelSchema, _ store: ReferenceStore, _ operation: ModelOperation) {
    self.model = model
    self.store = store
    random = SplitMix64(seed: operation.numbers.reduce(0) { $0 &* 0x100_0000_01B3 ^ $1 })
  }

  /// The changes of an operation, empty where it has nothing to choose from. No object is changed twice, as in any
  /// change set.
  mutating func changes(_ kind: ModelOperation.Kind) -> [ModelChange] {
    var changed: Set<Int> = []
    return parts(kind).filter { change in
      switch change {
      case .update(let number, _, _, _), .delete(let number, _): changed.insert(number).inserted
      default: true
      }
    }
  }

  private mutating func parts(_ kind: ModelOperation.Kind) -> [ModelChange] {
    switch kind {
    case .insert: insertion(store.nextNumber)
    case .update, .otherWriter: update(age: 0)
    case .link: link()
    case .tag: tag(isAdded: true)
    case .untag: tag(isAdded: false)
    case .reorder: reorder()
    case .pick: pick()
    case .keep: keep()
    case .delete: deletion(age: 0)
    case .several: insertion(store.nextNumber) + team(store.nextNumber + 1) + update(age: 0)
    case .staleUpdate: insertion(store.nextNumber) + update(age: 1)
    case .staleDelete: insertion(store.nextNumber) + staleDeletion()
    case .duplicate: duplicate()
    case .goneUpdate: []
    case .swap: swap()
    case .reopen, .takeKeys: []
    }
  }

  private mutating func choose(_ numbers: [Int]) -> Int? {
    numbers.isEmpty ? nil : numbers[random.below(numbers.count)]
  }

  private mutating func values(_ entity: String, of count: Int? = nil) -> [String: Cell] {
    var result: [String: Cell] = [:]
    for (path, attribute) in model.schema.entity(named: entity)?.plainAttributes ?? []
    where count == nil || random.below(3) < count ?? 0 {
      result[path] = ModelValues.value(attribute, &random)
    }
    return result
  }

  private mutating func insertion(_ number: Int) -> [ModelChange] {
    // Limits the number of objects, because all of them are compared after each step.
    if store.objects.count > 40 { return deletion(age: 0) }
    let entity = ModelSchema.entities[random.below(ModelSchema.entities.count)]
    var targets: [String: Int] = [:]
    var changes: [ModelChange] = []
    switch entity {
    case "Person", "Employee":
      if random.below(2) == 0 { targets["team"] = choose(store.numbers(of: "Team")) }
      if random.below(3) == 0 { targets["boss"] = choose(store.numbers(of: "Person", "Employee")) }
    case "Item":
      if let list = choose(store.numbers(of: "List")) {
        targets["list"] = list
        var items = store.orders[list] ?? []
        items.insert(number, at: random.below(items.count + 1))
        changes.append(.order(list, items))
      }
    default: break
    }
    return [.insert(number, entity: entity, values: values(entity), targets: targets)] + changes
  }

  private mutating func team(_ number: Int) -> [ModelChange] {
    [.insert(number, entity: "Team", values: values("Team"), targets: [:])]
  }

  private mutating func update(age: Int64) -> [ModelChange] {
    guard let number = choose(store.numbers), let object = store.objects[number] else { return [] }
    return [.update(number, values: values(object.entity, of: 1), targets: [:], age: age)]
  }

  private mutating func staleDeletion() -> [ModelChange] {
    guard let number = choose(store.numbers) else { return [] }
    return [.delete(number, age: 1)]
  }

  private mutating func link() -> [ModelChange] {
    guard let number = choose(store.numbers(of: "Person", "Employee", "Item", "Team")),
      let object = store.objects[number]
    else {
      return []
    }
    if object.entity == "Item" { return move(number, object) }
    let isFirst = random.below(2) == 0
    let name = object.entity == "Team" ? (isFirst ? "rival" : "lead") : (isFirst ? "team" : "boss")
    let candidates =
      switch name {
      case "team", "rival": store.numbers(of: "Team")
      case "lead": store.numbers(of: "Employee")
      default: store.numbers(of: "Person", "Employee")
      }
    let target = random.below(4) == 0 ? nil : choose(candidates)
    return [.update(number, values: [:], targets: [name: target], age: 0)]
  }

  /// Moves an item out of its list into another one, or into none.
  private mutating func move(_ number: Int, _ object: ReferenceStore.Object) -> [ModelChange] {
    let target = random.below(4) == 0 ? nil : choose(store.numbers(of: "List"))
    var changes: [ModelChange] = [.update(number, values: [:], targets: ["list": target], age: 0)]
    if let old = object.targets["list"], old != target {
      changes.append(.order(old, (store.orders[old] ?? []).filter { $0 != number }))
    }
    if let target {
      var items = (store.orders[target] ?? []).filter { $0 != number }
      items.insert(number, at: random.below(items.count + 1))
      changes.append(.order(target, items))
    }
    return changes
  }

  private mutating func tag(isAdded: Bool) -> [ModelChange] {
    guard let person = choose(store.numbers(of: "Person", "Employee")), let tag = choose(store.numbers(of: "Tag"))
    else {
      return []
    }
    return [.tag(person, tag, isAdded: isAdded)]
  }

  private mutating func reorder() -> [ModelChange] {
    guard let list = choose(store.numbers(of: "List")), let items = store.orders[list], items.count > 1 else {
      return []
    }
    return [.order(list, items.shuffled(using: &random))]
  }

  /// Adds an item to the picks of a list, removes one, or shuffles them.
  private mutating func pick() -> [ModelChange] {
    guard let list = choose(store.numbers(of: "List")), let item = choose(store.numbers(of: "Item")) else { return [] }
    var items = store.picks[list] ?? []
    if random.below(4) == 0 {
      items.shuffle(using: &random)
    } else if let position = items.firstIndex(of: item) {
      items.remove(at: position)
    } else {
      items.insert(item, at: random.below(items.count + 1))
    }
    return [.pick(list, items)]
  }

  /// Lets a team keep a tag, taking it from any other team, or stop keeping it.
  private mutating func keep() -> [ModelChange] {
    guard let team = choose(store.numbers(of: "Team")), let tag = choose(store.numbers(of: "Tag")) else { return [] }
    guard let keeper = store.keepers[tag] else { return [.keep(team, tag, isAdded: true)] }
    return [.keep(keeper, tag, isAdded: false)] + (keeper == team ? [] : [.keep(team, tag, isAdded: true)])
  }

  /// A deletion, with the changes that the layer above makes: no row refers to the object any more.
  private mutating func deletion(age: Int64) -> [ModelChange] {
    guard let number = choose(store.numbers), let object = store.objects[number] else { return [] }
    // No link without an inverse is left behind.
    let kept = store.keepers.filter { $0.key == number || $0.value == number }.sorted { $0.key < $1.key }
    var changes: [ModelChange] = kept.map { .keep($0.value, $0.key, isAdded: false) } + [.delete(number, age: age)]
    for other in store.numbers where other != number {
      let names = (store.objects[other]?.targets ?? [:]).filter { $0.value == number }.keys
      if names.isEmpty { continue }
      changes.append(
        .update(other, values: [:], targets: Dictionary(uniqueKeysWithValues: names.map { ($0, nil) }), age: 0))
    }
    if let list = object.targets["list"] {
      changes.append(.order(list, (store.orders[list] ?? []).filter { $0 != number }))
    }
    return changes
  }

  private mutating func duplicate() -> [ModelChange] {
    let holders = store.numbers(of: "Person", "Employee").filter {
      !(store.objects[$0]?.values["email"]?.value ?? .null).isNull
    }
    guard let holder = choose(holders), let email = store.objects[holder]?.values["email"] else { return [] }
    var values = values("Person")
    values["email"] = email
    return [.insert(store.nextNumber, entity: "Person", values: values, targets: [:])]
  }

  private mutating func swap() -> [ModelChange] {
    let people = store.numbers(of: "Person", "Employee")
    guard let a = choose(people), let b = choose(people), a != b, let x = store.objects[a]?.values["email"],
      let y = store.objects[b]?.values["email"]
    else { return [] }
    return [
      .update(a, values: ["email": y], targets: [:], age: 0), .update(b, values: ["email": x], targets: [:], age: 0),
    ]
  }
}
