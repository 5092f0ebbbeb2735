// Brings libxml2's flags to those who depend on it. Its headers are included in C only: they bring ICU's, which
// Foundation has too.
