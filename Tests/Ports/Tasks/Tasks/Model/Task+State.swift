import CoreData

extension TaskItem {
  enum State: Int16 {
    case open, done
  }

  var state: State {
    get { State(rawValue: rawState) ?? .open }
    set { rawState = newValue.rawValue }
  }

  @objc class func keyPathsForValuesAffectingState() -> Set<String> { [#keyPath(TaskItem.rawState)] }

  public override func awakeFromInsert() {
    super.awakeFromInsert()
    title = NSLocalizedString("New task", comment: "")
  }
}
