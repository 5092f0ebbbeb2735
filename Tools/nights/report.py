"""What the ledger says of each part: the table of --report, and its last line."""
from .ledger import Ledger
from .part import Part
from .run import Line


def verdict(part: Part, ledger: Ledger) -> str:
    """What the last runs of a part came to."""
    missing = [key or part.name for key in part.keys if not ledger.runs(part, key)]
    if any(ledger.failed_seeds(part, key) for key in part.keys): return "FAILED"
    if missing: return f"never run: {' '.join(missing)}"
    if any(ledger.runs(part, key)[-1]["status"] in part.short for key in part.keys):
        return "not complete: the time was over"
    return "ok"


def reported(parts: list[Part], ledger: Ledger) -> list[Line]:
    """The lines of --report. Findings are those of the last run of each seed."""
    lines = []
    for part in parts:
        runs = [run for key in part.keys for run in ledger.runs(part, key)]
        found = sum(run["findings"] for key in part.keys for run in ledger.last_runs(part, key))
        lines.append(Line(part.row, part.name, part.unit, len(part.keys), part.stated, 0, ledger.done_of_each(part),
                          found, round(sum(run["seconds"] for run in runs)), verdict(part, ledger),
                          " ".join(ledger.commits(part)) or "-"))
    return lines


def summary(lines: list[Line], commit: str) -> str:
    """How many parts were run without a finding, reached their stated size, and were run at this commit."""
    good = sum(line.result == "ok" for line in lines)
    sized = [line for line in lines if line.stated is not None]
    reached = sum(line.is_reached for line in sized)
    now = sum(line.commits == commit for line in lines)
    return (f"nightly: {good} of {len(lines)} parts were run without a finding; {reached} of the {len(sized)} with a "
            f"stated size have reached it; {now} were last run at this commit, {commit}")
