"""The parts of Scripts/mutants."""
