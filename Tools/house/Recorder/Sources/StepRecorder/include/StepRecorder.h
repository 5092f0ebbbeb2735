#pragma once

/// From here on each call of sqlite3_step writes a line to `file`: `operation`, and where in the program the call came from, innermost
/// first.
void record_steps(const char *operation, const char *file);

/// Ends that.
void record_nothing(void);
