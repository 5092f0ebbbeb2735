"""The parts of Scripts/nightly, what was done of each, and how they are run."""
