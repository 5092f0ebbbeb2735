"""What a disk may hold when the power goes, from a trace of all changes to a folder (Conformance/CFailingFiles/trace.h).

Nothing but a sync makes anything last. A sync of a file keeps the file's bytes and size, not its name; a sync of a folder
keeps the names in it. Of everything else any part may have reached the disk: any of the writes, any of their sectors of 512
bytes, any of the changes of names, each of which is done or not. A file system promises more; a store must not need it.
"""
import os

SECTOR = 512


class Node:
    """A file or folder: what will last, and the writes and truncations since."""

    def __init__(self, is_folder=False):
        self.is_folder, self.is_mapped = is_folder, False
        self.lasting, self.pending, self.settled = bytearray(), [], 0

    @property
    def total(self):
        """How many operations there were; those that a sync then makes last."""
        return self.settled + len(self.pending)

    def settle(self, total):
        count = max(0, total - self.settled)
        for operation in self.pending[:count]:
            apply(self.lasting, operation)
        del self.pending[:count]
        self.settled += count


class Disk:
    """The state of a folder after some records of a trace."""

    def __init__(self, folder):
        self.folder = folder
        self.lasting, self.pending = {folder: Node(True)}, []  # names; pending: a dict of name and node, or None, each
        self.now = dict(self.lasting)
        self.nodes, self.syncs, self.said, self.saves = {}, {}, [], 0

    def node(self, inode):
        if inode not in self.nodes:
            raise ValueError(f"a record of an inode {inode} that nobody opened")
        return self.nodes[inode]

    def rename(self, change):
        """A change of names, done whole or not at all."""
        for path, node in change.items():
            if node is None:
                del self.now[path]
            else:
                self.now[path] = node
        self.pending.append(change)

    def take(self, record, is_done=True):
        """The effect of a record; of one in flight where it is not done, which has not reached what it waits for."""
        kind, words, data = record
        if kind in ("create", "mkdir"):
            self.nodes[int(words[0])] = node = Node(kind == "mkdir")
            self.rename({words[1]: node})
        elif kind == "open":
            self.nodes.setdefault(int(words[0]), self.now[words[1]])
        elif kind in ("write", "dwrite"):
            node = self.node(int(words[0]))
            node.pending.append(("write", int(words[1]), data))
            if kind == "dwrite" and is_done:
                node.settle(node.total)
        elif kind == "truncate":
            self.node(int(words[0])).pending.append(("truncate", int(words[1]), b""))
        elif kind == "sync":
            node = self.node(int(words[1]))
            self.syncs[words[0]] = (node, list(self.pending) if node.is_folder else node.total)
        elif kind == "synced" and is_done:
            self.settle(*self.syncs.pop(words[0]))
        elif kind == "link":
            self.rename({words[1]: self.node(int(words[0]))})
        elif kind == "unlink":
            self.rename({words[0]: None})
        elif kind == "rename":
            old, new = words[0].split("|")
            if self.now[old].is_folder:
                raise ValueError("a folder is renamed, which this does not follow")
            self.rename({new: self.now[old], old: None})
        elif kind == "map":
            self.node(int(words[0])).is_mapped = True
        elif kind == "say" and is_done:
            lines = data.decode().splitlines()
            self.said += lines
            self.saves += sum(line.startswith("saved") for line in lines)

    def settle(self, node, what):
        if not node.is_folder:
            return node.settle(what)
        folder, = [path for path, other in self.now.items() if other is node]
        for change in what:
            if any(os.path.dirname(path) == folder for path in change):
                rename(self.lasting, change)
                change.clear()
        self.pending = [change for change in self.pending if change]

    def image(self, random, mode=None):
        """The files that the disk may hold: {path below the folder: bytes, None for a folder}.

        `mode` says how much of what need not last is there: "none", "all", "first" for what came first, with the last write
        torn, "some" for some of the operations, "sectors" for some of their sectors; without a mode each file has its own.
        """
        names = dict(self.lasting)
        for change in chosen(self.pending, random, mode or random.choice(("none", "all", "first", "some"))):
            rename(names, change)
        return {os.path.relpath(path, self.folder): self.content(node, random, mode) for path, node in names.items()
                if path != self.folder and is_reachable(path, names, self.folder)}

    @staticmethod
    def content(node, random, mode):
        if node.is_folder:
            return None
        mode = mode or random.choice(("none", "all", "first", "some", "sectors"))
        content = bytearray(node.lasting)
        operations = chosen(node.pending, random, mode)
        for number, operation in enumerate(operations, 1):
            is_torn = mode == "sectors" or (mode == "first" and number == len(operations))
            for part in sectors(operation, random) if is_torn else [operation]:
                apply(content, part)
        return bytes(content)


def rename(names, change):
    for path, node in change.items():
        if node is None:
            names.pop(path, None)
        else:
            names[path] = node


def is_reachable(path, names, root):
    while (path := os.path.dirname(path)) != root:
        if path not in names:
            return False
    return True


def apply(content, operation):
    kind, offset, data = operation
    end = offset + len(data)
    if kind == "truncate":
        del content[offset:]
    content.extend(bytes(max(0, end - len(content))))
    if kind == "write":
        content[offset:end] = data


def chosen(operations, random, mode):
    if mode == "none":
        return []
    if mode == "first":
        return operations[:random.randint(0, len(operations))]
    if mode == "some":
        return [operation for operation in operations if random.random() < 0.5]
    return operations


def sectors(operation, random):
    """Some of the sectors of a write; a truncation is done or not."""
    kind, offset, data = operation
    if kind == "truncate":
        return [operation] if random.random() < 0.5 else []
    cuts = [offset, *range(offset - offset % SECTOR + SECTOR, offset + len(data), SECTOR), offset + len(data)]
    return [("write", start, data[start - offset:end - offset]) for start, end in zip(cuts, cuts[1:])
            if random.random() < 0.5]


def read_trace(path):
    """The records of a trace: (kind, words, bytes)."""
    records = []
    with open(path, "rb") as stream:
        while line := stream.readline():
            kind, _, rest = line.decode().rstrip("\n").partition(" ")
            words = rest.split(" ", 1) if kind in ("create", "open", "mkdir", "link") else rest.split(" ")
            if kind in ("unlink", "rename"):
                words = [rest]
            elif kind == "open":
                # A folder may be opened as the place within itself.
                words[1] = os.path.normpath(words[1])
            data = stream.read(int(words[-1])) if kind in ("write", "dwrite", "say") else b""
            records.append((kind, words, data))
    return records
