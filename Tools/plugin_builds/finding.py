"""Where programs are started from, and that each finds its models there."""
import shutil
import tempfile
from pathlib import Path

from .world import DEBUG, World, run


def starts(world: World):
    """The program prints what the containers and the merged model have, so that every start checks those."""
    world.check("started by swift run", "containers, merged model", world.differing(*run("swift", "run", "Program")))
    status, output = run("swift", "test", "--skip-build", "--disable-swift-testing")
    world.find("started by swift test", output, 0, "Executed 2 tests, with 0 failures")
    with tempfile.TemporaryDirectory(prefix="copied-", dir=DEBUG.parent.parent) as name:
        copied(world, Path(name))


def copied(world: World, folder: Path):
    """A debug build: a release build of the library takes minutes. Meanwhile the folders of the build are elsewhere."""
    shutil.copy(DEBUG / "Program", folder)
    resources = [path for path in DEBUG.iterdir() if path.suffix == ".resources"]
    for path in resources: shutil.copytree(path, folder / path.name)
    away = folder / "away"
    away.mkdir()
    for path in resources: path.rename(away / path.name)
    try:
        world.check("debug program and resources copied elsewhere", "containers, merged model",
                    world.difference(folder / "Program"))
    finally:
        for path in resources: (away / path.name).rename(path)
