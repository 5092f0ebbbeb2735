"""Where programs are started from, and that each finds its models there."""
import shutil
import tempfile
from pathlib import Path

from .world import DEBUG, RELEASE, World, run


def starts(world: World):
    """The program prints what the containers, the merged model and the bundles have, so that every start checks those."""
    world.check("started by swift run", "containers, merged model, bundles", world.differing(*run("swift", "run", "Program")))
    status, output = run("swift", "test", "--skip-build", "--disable-swift-testing")
    world.find("started by swift test", output, 0, "Executed 2 tests, with 0 failures")
    copied(world, DEBUG)


def release(world: World):
    """What is delivered is a release build. It has no tests, whose models are beside a debug program."""
    printed = {"merged": world.expected["merged"].replace("Draft ", "")}
    status, output, seconds = world.build("--configuration", "release", "--product", "Program")
    world.check("release build", f"{seconds:.1f} s",
                output[-2000:] if status else world.difference(RELEASE / "Program", **printed))
    if status == 0: copied(world, RELEASE, **printed)


def copied(world: World, build: Path, **printed):
    """A copy of the program and its resources. Meanwhile the folders of all builds are elsewhere."""
    folders = [path for one in (DEBUG, RELEASE) if one.exists() for path in one.iterdir() if path.suffix == ".resources"]
    with tempfile.TemporaryDirectory(prefix="copied-", dir=build.parent.parent) as name:
        copies = Path(name)
        shutil.copy(build / "Program", copies)
        for path in folders:
            if path.parent == build: shutil.copytree(path, copies / path.name)
        for path in folders: path.rename(path.with_suffix(".away"))
        try:
            world.check(f"{build.name} program and resources copied elsewhere", "containers, merged model, bundles",
                        world.difference(copies / "Program", **printed))
        finally:
            for path in folders: path.with_suffix(".away").rename(path)
