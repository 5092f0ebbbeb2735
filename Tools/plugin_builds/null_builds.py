"""Builds without a change: what the plugin costs then."""
import statistics

from . import packages
from .world import World, layers

LIMIT, ROUNDS = 1.5, 7


def compare(world: World):
    """Alternates builds of App and of Plain, which compiles the plugin's results directly."""
    packages.write_plain()
    found = {packages.APP: [], packages.PLAIN: []}
    for package in found:
        status, output, seconds = world.build(package=package)
        if status: return world.check("null build", f"{package.name} is not built", output[-2000:])
        # The second build without a change is one that has nothing left to remember.
        world.build(package=package)
    status, output, _ = world.build()
    world.check("commands of a null build", f"{len(layers(output))}", layers(output) and f"of {' '.join(layers(output))}")
    for _ in range(ROUNDS):
        for package, times in found.items(): times.append(world.build(package=package)[2])
    app, plain = map(statistics.median, found.values())
    world.check("null build", f"{app:.2f} s, without the plugin {plain:.2f} s, ratio {app / plain:.2f} (medians of {ROUNDS})",
                app > LIMIT * plain and f"the ratio must be at most {LIMIT}")
