// The versions of Core Data by the systems that they came with, for code that compares them.

/// The version of this library, which is none of Apple's. It is above all of those below, so that code finds what they
/// had.
public nonisolated(unsafe) var NSCoreDataVersionNumber: Double = 1000

public let NSCoreDataVersionNumber10_4: Double = 46.0
public let NSCoreDataVersionNumber10_4_3: Double = 77.0
public let NSCoreDataVersionNumber10_5: Double = 185.0
public let NSCoreDataVersionNumber10_5_3: Double = 186.0
public let NSCoreDataVersionNumber10_6: Double = 246.0
public let NSCoreDataVersionNumber10_6_2: Double = 250.0
public let NSCoreDataVersionNumber10_6_3: Double = 251.0
public let NSCoreDataVersionNumber10_7: Double = 358.4
public let NSCoreDataVersionNumber10_7_2: Double = 358.12
public let NSCoreDataVersionNumber10_7_3: Double = 358.13
public let NSCoreDataVersionNumber10_7_4: Double = 358.14
public let NSCoreDataVersionNumber10_8: Double = 407.5
public let NSCoreDataVersionNumber10_8_2: Double = 407.7
public let NSCoreDataVersionNumber10_9: Double = 481.0
public let NSCoreDataVersionNumber10_9_2: Double = 481.1
public let NSCoreDataVersionNumber10_9_3: Double = 481.3
public let NSCoreDataVersionNumber10_10: Double = 526.0
public let NSCoreDataVersionNumber10_10_2: Double = 526.1
public let NSCoreDataVersionNumber10_10_3: Double = 526.2
public let NSCoreDataVersionNumber10_11: Double = 640.0
public let NSCoreDataVersionNumber10_11_3: Double = 641.3

public let NSCoreDataVersionNumber_iPhoneOS_3_0: Double = 241.0
public let NSCoreDataVersionNumber_iPhoneOS_3_1: Double = 248.0
public let NSCoreDataVersionNumber_iPhoneOS_3_2: Double = 310.2
public let NSCoreDataVersionNumber_iPhoneOS_4_0: Double = 320.5
public let NSCoreDataVersionNumber_iPhoneOS_4_1: Double = 320.11
public let NSCoreDataVersionNumber_iPhoneOS_4_2: Double = 320.15
public let NSCoreDataVersionNumber_iPhoneOS_4_3: Double = 320.17
public let NSCoreDataVersionNumber_iPhoneOS_5_0: Double = 386.1
public let NSCoreDataVersionNumber_iPhoneOS_5_1: Double = 386.5
public let NSCoreDataVersionNumber_iPhoneOS_6_0: Double = 419.0
public let NSCoreDataVersionNumber_iPhoneOS_6_1: Double = 419.1
public let NSCoreDataVersionNumber_iPhoneOS_7_0: Double = 479.1
public let NSCoreDataVersionNumber_iPhoneOS_7_1: Double = 479.3
public let NSCoreDataVersionNumber_iPhoneOS_8_0: Double = 519.0
public let NSCoreDataVersionNumber_iPhoneOS_8_3: Double = 519.15
public let NSCoreDataVersionNumber_iPhoneOS_9_0: Double = 640.0
public let NSCoreDataVersionNumber_iPhoneOS_9_2: Double = 641.4
public let NSCoreDataVersionNumber_iPhoneOS_9_3: Double = 641.6
