"""What nodes have built."""
import os
import pathlib


def built_environments(home):
    """Folders of environments that are ready, of all nodes below `home`. While jobs end: what goes as it is
    looked at is not there."""
    found = []
    for folder, folders, files in os.walk(home):
        if "activation.json" in files:
            found.append(pathlib.Path(folder))
            folders.clear()
        folders[:] = [name for name in folders if name != "attempts"]
    return found
