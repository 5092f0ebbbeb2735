"""All parts: goal, unit, stated size, size of one night, and command.

The stated sizes are those of the column "long run" of the reliability goals. The rates and seconds are estimates. After
the first night the ledger has measured rates, which replace them.
"""
import re

from .part import Command, Outcome, Part
from .run import ROOT

FILES = ("SQLite", "XML", "Binary", "LMDB")
ROWS = ("sqlite", "xml", "binary", "lmdb")
ALL = (*ROWS, "memory")
TARGETS = 10
LINES = len(list((ROOT / "Tests" / "BrokenLines").glob("*.patch")))
# Some do not compile, and some are left out as twins.
MUTANTS = 245


def counts(done="", findings=""):
    """Reads the last match of each pattern as a number."""
    def last(pattern, text):
        found = re.findall(pattern, text, re.MULTILINE) if pattern else []
        return int(found[-1].replace(" ", "")) if found else None
    return lambda text: Outcome(last(done, text), last(findings, text))


def mutants(text):
    found = re.findall(r"^mutants: (\d+) / (\d+) caught.*?(\d+) more change nothing", text, re.MULTILINE)
    if found:
        caught, judged, equal = map(int, found[-1])
        return Outcome(judged + equal, judged - caught)
    # The time was over before all were judged.
    judged = re.findall(r"^mutants: \d+ \S+:\d+ (.*)$", text, re.MULTILINE)
    return Outcome(len(judged), sum(verdict.startswith("SURVIVED") for verdict in judged))


def broken_lines(text):
    judged = re.findall(r"^broken_line: \S+: (noticed|NOT NOTICED)", text, re.MULTILINE)
    return Outcome(len(judged), judged.count("NOT NOTICED"))


def opening_times(text):
    """The test opens two stores, with and without shared memory. Each may take one second."""
    seconds = [float(found) for found in re.findall(r"after a kill: \d+ bytes read, ([\d.e-]+) seconds", text)]
    slow = sum(found > 1 for found in seconds)
    return Outcome(findings=slow, is_wrong=slow > 0 or len(seconds) != 2)


# Goals of the benchmark that are missed today, as Benchmarks/README.md says with the cause. The report names them.
KNOWN_MISSES = ("W12",)


def misses(text):
    missed = re.findall(r"^(?:.* )?(W\d+\w*) .*\bMISS\b", text, re.MULTILINE)
    return Outcome(findings=sum(row not in KNOWN_MISSES for row in missed))


def conform(*arguments):
    """A command of store-conformance, built for release. The argument `N` stands for the size."""
    def command(programs, key, amount, seed):
        backend = ["--backend", key]
        sized = (amount if one == "N" else one for one in arguments)
        return Command([programs.release / "store-conformance", *sized, *backend, "--seed", seed])
    return command


def predicates(programs, key, amount, seed):
    least = ["--least-pushed", "sqlite=85"] if key == "sqlite" and amount >= 2000 else []
    return conform("diff-predicates", "--n", "N", *least)(programs, key, amount, seed)


def walkers(programs, key, amount, seed):
    # In a short run on a busy machine few links overlap.
    return Command([programs.debug / "store-conformance", "races", "--backend", key, "--seconds", amount, "--seed",
                    seed, "--least", min(500, amount), "--at-most", max(120, 3 * amount), "--replay-to",
                    programs.logs / f"races-{key}.txt"])


def writer(script, *arguments):
    """A script that runs crash-writer over a store. The arguments `N` and `SEED` stand for the size and the seed."""
    def command(programs, key, amount, seed):
        named = {"N": amount, "SEED": seed}
        return Command([script, programs.debug / "crash-writer", "--store", key, *(named.get(one, one) for one in
                                                                                 arguments)])
    return command


def graph(programs, key, amount, seed):
    """The walk of contexts against plain values, programs of 100 operations each; and as many programs of 60 steps over a
    family of contexts that read at different moments."""
    return Command([programs.debug / "OpenCoreDataPackageTests.xctest", "--testing-library", "swift-testing",
                    "--filter", "contextsShowWhatPlainValuesDo|aSavePassesOnWhatHasChanged"],
                   {"OPENCOREDATA_WALK_PROGRAMS": str(amount // 100), "OPENCOREDATA_WALK_SEED": str(seed)})


def opening(programs, key, amount, seed):
    return Command([programs.debug / "OpenCoreDataPackageTests.xctest", "--testing-library", "swift-testing",
                    "--filter", "openingAfterAKill"], {"OPENCOREDATA_GIGABYTE": "1"})


def hostile(programs, key, amount, seed):
    everything = ["--all"] if amount >= 2000 else []
    return Command(["Scripts/hostile", programs.debug / "coredata", *everything, "--mutants", amount, "--seed", seed])


def mutation(programs, key, amount, seed):
    # The same mutants every night: --resume skips the mutants that an earlier night has caught.
    return Command(["Scripts/mutants", "--count", MUTANTS, "--seed", 1, "--minutes", max(20, amount * 60 // 200),
                    "--resume", "--json", programs.logs / "mutants.json"])


def hostile_saves(programs, key, amount, seed):
    return Command(["Scripts/hostile_saves", programs.debug / "crash-writer", "--count", amount, "--seed", seed])


def whole_suite(programs, key, amount, seed):
    return Command([programs.debug / "store-conformance", "run", "--all", "--size", "M", "--seed", seed])


def script(name, *arguments):
    """A script in Scripts. The argument `N` stands for the size."""
    return lambda programs, key, amount, seed: Command(
        [f"Scripts/{name}", *(amount if one == "N" else one for one in arguments)])


def benchmarks(name, *arguments):
    return lambda programs, key, amount, seed: Command(
        [programs.benchmarks / name, *(amount if one == "N" else one for one in arguments)])


PARTS = [
    Part("crash", "G1", "kills", 25_000, 1_500, 3.5, writer("Scripts/crash", "--cycles", "N", "--seed", "SEED"),
         keys=FILES, needs="debug", least=10, beside=2),
    Part("fault", "G2", "sweeps", 1, 1, 0, writer("Scripts/fault"), keys=FILES, needs="debug", seconds=400, adds=False),
    Part("disk", "G4", "cycles", 10_000, 500, 1,
         writer("Scripts/powerloss", "--disk", "--cycles", "N", "--seed", "SEED"),
         keys=FILES, needs="debug", least=3, beside=2),
    Part("powerloss", "G4", "images", None, 500, 2, writer("Scripts/powerloss", "--images", "N", "--seed", "SEED"),
         keys=FILES, needs="debug", least=12),
    Part("model", "G5", "operations", 20_000_000, 200_000, 400, conform("model", "--operations", "N"), keys=ROWS,
         needs="release", least=150, beside=2),
    Part("model-memory", "G5", "operations", 500_000_000, 500_000, 800, conform("model", "--operations", "N"),
         keys=("memory",), needs="release", least=150),
    Part("graph", "G5", "operations", None, 1_000_000, 900, graph, needs="debug", least=20_000),
    Part("predicates", "G6", "predicates", 5_000_000, 100_000, 300, predicates, keys=("sqlite", "lmdb"),
         needs="release", least=200, beside=2),
    Part("memory", "G8", "rows", 1_000_000, 1_000_000, 5_000, benchmarks("store-memory", "--n", "N"),
         needs="benchmarks", least=100_000, adds=False, read=misses, most=1_000_000),
    # Five of the eleven parsers of G9 have no target; Scripts/fuzz says which parts of the night stand in for them.
    Part("fuzz", "G9", "seconds a target", 86_400, 600, 2 / TARGETS, script("fuzz", "--seconds", "N"), least=3,
         most=600, read=counts(findings=r"^fuzz: .*findings=(\d+)")),
    Part("mutate", "G10", "mutants", 2_000_000, 20_000, 50, conform("mutate", "--count", "N"), keys=ROWS,
         needs="release", least=50, beside=2),
    Part("hostile", "G10", "mutants", None, 2_000, 1, hostile, needs="debug", least=10, most=2_000,
         read=counts(findings=r"^hostile: .*failures=(\d+)")),
    Part("hostile-saves", "G10", "files", None, 3_000, 3, hostile_saves, needs="debug", least=20, most=3_000,
         script="Scripts/hostile_saves",
         read=counts(r"^hostile_saves: files=(\d+)", r"^hostile_saves: .*failures=(\d+)")),
    Part("tsan", "G11", "suites", 1, 1, 0, script("tsan", "*"), seconds=3_600, adds=False),
    Part("asan", "G11", "suites", 1, 1, 0, script("asan"), seconds=900, adds=False),
    Part("tsan-races", "G11", "seconds a store", None, 60, 1 / len(ALL), script("tsan", "--races", "N"), least=20,
         most=600),
    Part("asan-races", "G11", "seconds a store", None, 60, 1 / len(ALL), script("asan", "--races", "N"), least=5,
         most=600),
    Part("races", "G12", "seconds", 21_600, 600, 0.9, walkers, keys=ALL, needs="debug", least=20),
    Part("conformance", "G13", "suites", 1, 1, 0, whole_suite, needs="debug", seconds=1_800, adds=False),
    Part("lines", "G14", "lines", LINES, LINES, 0, script("broken_line"), seconds=3_000, adds=False,
         read=broken_lines),
    Part("mutants", "G14", "mutants", 200, 200, 0.055, mutation, adds=False, read=mutants, good=(0, 3), short=(3,),
         may_find=True, most=200, script="Scripts/mutants"),
    Part("plugin-builds", "-", "runs", None, 1, 0, script("plugin_builds"), seconds=600, adds=False,
         read=counts(findings=r"^plugin_builds: .*failed=(\d+)")),
    Part("opening", "G17", "gigabytes", 1, 1, 0, opening, needs="debug", seconds=240, adds=False,
         read=opening_times),
    Part("generated-classes", "-", "corpora", None, 1, 0, script("generated_classes"), needs="debug", seconds=400,
         adds=False, read=counts(findings=r"^generated_classes: .*failures=(\d+)")),
    Part("benchmark", "-", "runs", None, 1, 0, benchmarks("store-benchmark"), needs="benchmarks", seconds=1_500,
         adds=False, read=misses),
]
