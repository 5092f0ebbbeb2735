/// Files in Core Data's XML format that another program has changed.
extension ConformanceSuite {
  static let xmlDamage: [ConformanceCase] = [
    found("ATT-020/xml", "a text that is no UTF-8", .xml(">a<", ">\u{E000}<")),
    found("COR-010/xml/text", "a text for an integer", .xml(">30<", ">old<")),
    found("COR-010/xml/wide", "an integer too wide for its type", .xml(">30<", ">70000<")),
    found("COR-010/xml/date", "a text for a date", .xml("type=\"date\">1.0", "type=\"date\">today")),
    found("INH-010/xml", "an object of an unknown entity", .xml("type=\"TAG\"", "type=\"NOBODY\"")),
    found(
      "REL-024/xml", "a to-one key of no object",
      .xml("destination=\"TEAM\" idrefs=\"z", "destination=\"TEAM\" idrefs=\"z99")),
    found(
      "REL-024/xml/text", "a to-one key that is a text",
      .xml("destination=\"TEAM\" idrefs=\"z", "destination=\"TEAM\" idrefs=\"x")),
    found("COR-011/xml", "two objects of one key", .xml("type=\"TAG\" id=\"z", "type=\"TAG\" id=\"z1\" old=\"")),
    discreet("SEC-018/xml", .xml(">30<", ">hunter2<")),
    counter("xml/highest", .xml("<nextObjectID>", "<nextObjectID>9223372036854775807</nextObjectID><was>")),
  ]
}
