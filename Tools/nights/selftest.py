"""Tests of Scripts/nightly with small Python programs in the role of parts."""
import pathlib
import sys
import tempfile
import threading

from . import table
from .ledger import Ledger
from .part import NIGHT, Command, Outcome, Part, in_hours, rest, scaled
from .report import reported, summary
from .run import Night, Programs, Stopped


def program(code):
    """A command that runs Python code with the key, the size and the seed as arguments."""
    return lambda programs, key, amount, seed: Command([sys.executable, "-c", code, key, amount, seed])


def part(name="some", code="", **more):
    given = {"row": "G0", "unit": "things", "stated": 1_000, "night": 100, "rate": 1.0, "command": program(code)}
    return Part(name, **given | more)


def need(condition, text):
    if not condition: raise AssertionError(text)


def sizes():
    one, whole = part(rate=1, night=1_200, keys=("a", "b"), beside=2), part("whole", rate=0, night=1, seconds=600)
    need(scaled([one, whole], 0.5) == {"some": 600, "whole": 1}, "half a night")
    need(scaled([one], 1e-9) == {"some": 1}, "never less than the least")
    need(one.time(600) == 600 and whole.time(1) == 600, "two keys beside one another take the time of one")
    need(in_hours([one, whole], 0.5) == {"some": 1_200, "whole": 1}, "half an hour")
    try: in_hours([whole], 0.1)
    except ValueError: pass
    else: raise AssertionError("what cannot be divided was divided")
    need(one.slices(1_500) == [500, 500, 500], f"slices {one.slices(1_500)}")
    need(sum(one.slices(1_801)) == 1_801 and one.slices(0) == [], "slices are the whole")
    bounded = part(most=100).slices(250)
    need(max(bounded) <= 100 and sum(bounded) == 250, f"no slice is larger than the most: {bounded}")


def sums(folder):
    ledger, one = Ledger(folder / "ledger.json"), part(keys=("a", "b"))
    night = Night(Programs(folder, folder, folder, folder), ledger, 7, False, "commit")
    line = night.run(one, {"a": 100, "b": 60})
    need((line.tonight, line.so_far, line.result) == (60, 60, "ok"), f"the first night: {line}")
    line = Night(night.programs, Ledger(folder / "ledger.json"), 7, False, "another").run(one, {"a": 10, "b": 10})
    need((line.tonight, line.so_far) == (10, 70), f"the second night: {line}")
    # The same seeds once more: the larger run of a seed counts.
    line = Night(night.programs, Ledger(folder / "ledger.json"), 7, True, "another").run(one, {"a": 90, "b": 90})
    need(line.so_far == 100, f"a seed counts once: {line}")
    left = rest([one], Ledger(folder / "ledger.json").done)
    need(left == {"some": {"a": 890, "b": 900}}, f"what is left: {left}")
    need(ledger.measured(one).rate == 1, "runs of a moment measure no rate")
    for key in one.keys:
        ledger.add(one, key, {"seed": 9000, "done": 500, "findings": 0, "status": 0, "seconds": 100})
    need(4.5 < ledger.measured(one).rate < 6.5, f"the measured rate: {ledger.measured(one).rate}")
    whole = part("whole", rate=0, night=1, stated=1, adds=False)
    for _ in range(2): line = night.run(whole, {"": 1})
    need(line.so_far == 1, f"the whole counts once: {line}")


def verdicts(folder, show):
    night = Night(Programs(folder, folder, folder, folder), Ledger(folder / "verdicts.json"), 7, False, "commit")
    failing = part("failing", "import sys; print('found=3'); sys.exit(sys.argv[1] == 'b')", keys=("a", "b"),
                   read=table.counts(findings=r"^found=(\d+)"))
    line = night.run(failing, {"a": 5, "b": 5})
    need((line.result, line.tonight, line.so_far, line.findings) == ("FAILED", 0, 0, 6), f"a failed part: {line}")
    need("FAILED" in show([line]), "the table says so")
    counted = part("counted", "print('did=40')", read=table.counts(r"^did=(\d+)"))
    need(night.run(counted, {"": 50}).so_far == 40, "what a program says that it did")
    cannot = part("cannot", "import sys; print('no disk'); sys.exit(77)")
    line = night.run(cannot, {"": 5})
    need((line.result, line.so_far) == ("skipped: no disk", 0), f"a skipped part: {line}")
    need(all(night.ledger.failed_seeds(failing, key) == [7000] for key in "ab"), "both failed, a by its findings alone")
    night.ledger.add(failing, "b", {"seed": 7001, "done": 5, "findings": 0, "status": 0})
    need(night.ledger.failed_seeds(failing, "b") == [7000], "another seed repairs nothing")
    night.ledger.add(failing, "b", {"seed": 7000, "done": 5, "findings": 0, "status": 0})
    need(not night.ledger.failed_seeds(failing, "b"), "the same seed passed later")
    absent = part("absent", script="Scripts/there-is-none")
    line = night.run(absent, {"": 5})
    need(line.result.startswith("skipped: there is no"), f"a part without its script: {line}")
    missing = Part("missing", "G0", "things", 1, 1, 1, lambda *_: Command([folder / "no-program"]))
    need(night.run(missing, {"": 1}).result == "FAILED", "a program that is not there")
    slow = part("slow", read=lambda text: Outcome(is_wrong=True))
    line = night.run(slow, {"": 5})
    need((line.result, line.so_far, line.findings) == ("FAILED", 0, 1), f"what was printed is wrong: {line}")
    over = part("over", "import sys; sys.exit(3)", good=(0, 3), short=(3,), read=lambda text: Outcome(7))
    line = night.run(over, {"": 20})
    need((line.result, line.tonight) == ("not complete: the time was over", 7), f"an end because time was over: {line}")


def reports(folder, show, head):
    """What --report says of runs with findings, of a later run without, and of sizes."""
    ledger, found = Ledger(folder / "reports.json"), table.counts(findings=r"^found=(\d+)")
    night = Night(Programs(folder, folder, folder, folder), ledger, 7, True, "first")
    missing = part("missing", rate=0, night=1, stated=None, adds=False, read=table.misses,
                   code="print('W12  2.00 wall  \u2264 1.50 wall  MISS');print('W5  2.00  \u2264 1.80  MISS')")
    line = night.run(missing, {"": 1})
    need((line.result, line.findings, line.so_far) == ("FAILED", 1, 0), f"a missed goal with status 0: {line}")
    # A ledger may have such a run with status 0 and as done.
    ledger.add(missing, "", {"seed": 7000, "size": 1, "done": 1, "findings": 1, "status": 0, "seconds": 9, "commit": "old"})
    line = reported([missing], ledger)[0]
    need((line.result, line.findings, line.so_far, line.commits) == ("FAILED", 1, 0, "old"), f"it is reported: {line}")
    ledger.add(missing, "", {"seed": 7001, "size": 1, "done": 1, "findings": 0, "status": 0, "seconds": 9, "commit": "new"})
    line = reported([missing], ledger)[0]
    need((line.result, line.findings, line.share, line.commits) == ("ok", 0, "-", "new"), f"the goal is met later: {line}")
    need(not line.is_reached, "no size is stated, so none is reached")
    allowed = part("allowed", "print('found=3')", may_find=True, read=found)
    need(night.run(allowed, {"": 1_000}).result == "ok", "findings that the goal allows")
    over = part("over", "import sys; sys.exit(3)", good=(0, 3), short=(3,), keys=("a", "b"), read=lambda text: Outcome(5))
    night.run(over, {"a": 20, "b": 20})
    lines = reported([missing, allowed, over, part("never")], ledger)
    need([line.result for line in lines] == ["ok", "ok", "not complete: the time was over", "never run: never"],
         f"all: {lines}")
    need([line.share for line in lines] == ["-", "100 %", "0.5 %", "0 %"], f"shares: {[line.share for line in lines]}")
    need([line.is_reached for line in lines] == [False, True, False, False], "the stated sizes that are reached")
    said = summary(lines, "first")
    need("2 of 4 parts" in said and "1 of the 3 with" in said and "2 were last run at this commit" in said, said)
    shown = show(lines, head)
    need("0.5 %" in shown and "not complete" in shown and "tonight" not in shown, f"the table:\n{shown}")
    ledger.add(over, "b", {"seed": 8000, "size": 2_000, "done": 2_000, "findings": 0, "status": 0, "seconds": 9,
                           "commit": "second"})
    line = reported([over], ledger)[0]
    need((line.so_far, line.commits, line.result[:3]) == (5, "first second", "not"), f"one key of two: {line}")


def ends(folder):
    ledger = Ledger(folder / "ends.json")
    night = Night(Programs(folder, folder, folder, folder), ledger, 7, False, "commit")
    asleep = part("asleep", "import time; time.sleep(60)")
    threading.Timer(0.5, night.processes.stop).start()
    try: night.run(asleep, {"": 5})
    except Stopped: pass
    else: raise AssertionError("what ran went on when the night was ended")
    need(not ledger.runs(asleep, ""), "a run that was ended from outside is no run")
    status, text = Night(night.programs, ledger, 7, False, "commit").processes.execute(["sleep", "60"], {}, 0.5)
    need((status, text) == (124, "not done after 0 s\n"), f"a run that took too long: {status} {text}")


def parts():
    names = [one.name for one in table.PARTS]
    need(len(set(names)) == len(names), "names of parts are their own")
    hours = sum(one.time(one.night) for one in table.PARTS) / 3600
    need(0.75 * NIGHT <= hours * 3600 <= 1.15 * NIGHT, f"a night takes {hours:.1f} hours")
    programs = Programs(*(pathlib.Path("/programs") for _ in range(3)))
    for one in table.PARTS:
        need(one.least <= one.night, f"{one.name}: the least is more than a night")
        for key in one.keys:
            made = [str(text) for text in one.command(programs, key, one.night, 7).arguments]
            need(not {"N", "SEED"} & set(made), f"{one.name}: {made}")
    report = "mutants: 190 / 196 caught (96.9 %), 2 by a crash, 1 by a hang; 4 more change nothing that can be seen"
    judged = "mutants: 7 Context/A.swift:3 failed: x (4 s)\nmutants: 9 Context/B.swift:3 SURVIVED (4 s)"
    need(table.mutants(report) == Outcome(200, 6), f"mutants: {table.mutants(report)}")
    need(table.mutants(judged) == Outcome(2, 1), f"those judged until time was over: {table.mutants(judged)}")
    opening = "after a kill: 9 bytes read, 0.5 seconds\n"
    need(not table.opening_times(2 * opening).is_wrong, "two short openings")
    need(table.opening_times(opening).is_wrong, "one opening of two")
    need(table.opening_times(opening + opening.replace("0.5", "1.5")).is_wrong, "a long opening")
    lines = "broken_line: 1.1-x: noticed by 2: A B\nbroken_line: 2.1-y: NOT NOTICED"
    need(table.broken_lines(lines) == Outcome(2, 1), f"broken lines: {table.broken_lines(lines)}")


def run_self_test(show, head):
    with tempfile.TemporaryDirectory(prefix="nightly-") as folder:
        checks = [sizes, lambda: sums(pathlib.Path(folder)), lambda: verdicts(pathlib.Path(folder), show),
                  lambda: reports(pathlib.Path(folder), show, head),
                  lambda: ends(pathlib.Path(folder)), parts]
        for check in checks: check()
    print(f"nightly: the self-test of {len(table.PARTS)} parts passed")
    return 0
