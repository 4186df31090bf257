"""Scripts with VTK in processes of their own.

It stays out of the caller, whose memory counts in that of the commands that it starts.
"""
import subprocess
import sys


def run(script, *arguments):
    """What the script prints."""
    return subprocess.run([sys.executable, script, *map(str, arguments)], stdout=subprocess.PIPE, text=True,
                          check=True).stdout
