"""Data sets, trainings and evaluations by the command, each made once and kept in a folder."""
import concurrent.futures
import hashlib
import json
import pathlib
import shutil
import subprocess
import sys
import threading
import time


class Failed(Exception):
    """A command ended with an error."""


class Workshop:
    """Runs `funcattn` on one thread each, `jobs` at a time, and keeps what was made in `folder`.

    What a command makes is named by a digest of its arguments, so that tables share it and a second
    call finds it there.
    """

    def __init__(self, program, folder, jobs):
        self.program = str(program)
        self.folder = pathlib.Path(folder)
        self.folder.mkdir(parents=True, exist_ok=True)
        self._pool = concurrent.futures.ThreadPoolExecutor(jobs)
        self._lock = threading.Lock()
        self._made = {}

    def dataset(self, *arguments):
        """Future of the folder that `funcattn generate` makes of the arguments."""
        return self._once("data", arguments, self._generate)

    def trained(self, data, arguments, seed):
        """Future of what `train --json` prints, with `operator` the file.

        @param data a path, or a future of one
        """
        return self._once("operators", ("train", data, *arguments, "--seed", seed), self._train)

    def evaluated(self, training, sets):
        """Future of the entry that `evaluate --json` has for the operator of a training.

        @param sets paths, or futures of them
        """
        return self._once("evaluations", ("evaluate", training, *sets), self._evaluate)

    def close(self):
        """Waits for what is running; what has not begun is dropped."""
        self._pool.shutdown(cancel_futures=True)

    def _once(self, kind, parts, make):
        name = hashlib.sha1("\0".join(map(identity, parts)).encode()).hexdigest()[:16]
        with self._lock:
            if name not in self._made:
                path = self.folder / kind / name
                future = self._pool.submit(make, path, parts)
                future.identity = name
                self._made[name] = future
            return self._made[name]

    def _generate(self, path, arguments):
        if not path.exists():
            part = path.with_name(path.name + ".part")
            shutil.rmtree(part, ignore_errors=True)
            part.parent.mkdir(parents=True, exist_ok=True)
            self._call("generate", *arguments, "--out", part, "--quiet")
            part.rename(path)
        return path

    def _train(self, path, parts):
        _, data, *arguments = parts
        report = path.with_suffix(".json")
        if not report.exists():
            report.parent.mkdir(parents=True, exist_ok=True)
            made = self._call("train", "--data", resolved(data), *arguments, "--out",
                              path.with_suffix(".safetensors"), "--threads", 1, "--overwrite",
                              "--quiet", "--json")
            report.write_text(made)
        return json.loads(report.read_text())

    def _evaluate(self, path, parts):
        _, training, *sets = parts
        report = path.with_suffix(".json")
        if not report.exists():
            report.parent.mkdir(parents=True, exist_ok=True)
            made = self._call("evaluate", "--operator", resolved(training)["operator"], "--data",
                              *map(resolved, sets), "--threads", 1, "--quiet", "--json")
            report.write_text(made)
        return json.loads(report.read_text())["operators"][0]

    def _call(self, *arguments):
        command = [self.program, *map(str, arguments)]
        begin = time.monotonic()
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        if done.returncode != 0:
            raise Failed(f"{' '.join(command)}: exit status {done.returncode}: "
                         f"{done.stderr.strip()[-2000:]}")
        print(f"{time.monotonic() - begin:7.1f} s  {' '.join(command[1:])}", file=sys.stderr)
        return done.stdout


def identity(part):
    """What tells one part of a command from another: a future's is that of its command."""
    return part.identity if isinstance(part, concurrent.futures.Future) else str(part)


def resolved(part):
    return part.result() if isinstance(part, concurrent.futures.Future) else part
