import StoreSchema

/// Dates in ISO 8601, in UTC.
enum DateText {
  private static let secondsToReferenceDate: Double = 978_307_200
  /// For years outside of 0001 to 9999 ISO 8601 has no agreed form.
  private static let range = -62_135_596_800.0..<253_402_300_800.0

  /// The ISO 8601 text of seconds since 2001, such as `2001-01-01T00:00:00.000Z`, with milliseconds, or with
  /// microseconds where necessary. The plain number where the date is out of range.
  static func iso8601(_ seconds: Double) -> String {
    let time = seconds + secondsToReferenceDate
    guard time.isFinite, range.contains(time) else { return JSONText.number(seconds) }
    // Both parts come from the seconds since 2001, which leave more digits for the fraction.
    var whole = seconds.rounded(.down) + secondsToReferenceDate
    var micros = ((seconds - seconds.rounded(.down)) * 1e6).rounded()
    if micros >= 1e6 { (whole, micros) = (whole + 1, 0) }
    let days = Int((whole / 86400).rounded(.down))
    let second = Int(whole) - days * 86400
    let (year, month, day) = civil(days)
    let fraction = Int(micros)
    let digits = fraction % 1000 == 0 ? padded(fraction / 1000, 3) : padded(fraction, 6)
    return "\(padded(year, 4))-\(padded(month, 2))-\(padded(day, 2))T"
      + "\(padded(second / 3600, 2)):\(padded(second / 60 % 60, 2)):\(padded(second % 60, 2)).\(digits)Z"
  }

  /// The proleptic Gregorian date of a day counted from 1970-01-01. Years are counted from March, so that a leap day
  /// comes last.
  private static func civil(_ days: Int) -> (year: Int, month: Int, day: Int) {
    let shifted = days + 719_468
    let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
    let dayOfEra = shifted - era * 146_097
    let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let month = (5 * dayOfYear + 2) / 153
    let year = yearOfEra + era * 400 + (month >= 10 ? 1 : 0)
    return (year, month < 10 ? month + 3 : month - 9, dayOfYear - (153 * month + 2) / 5 + 1)
  }

  private static func padded(_ number: Int, _ width: Int) -> String {
    let digits = String(number)
    return String(repeating: "0", count: max(0, width - digits.count)) + digits
  }
}
