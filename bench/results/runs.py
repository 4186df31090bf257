"""Data sets, trainings and evaluations by the command, each made once and kept in a folder."""
import concurrent.futures
import dataclasses
import hashlib
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import threading
import time


class Failed(Exception):
    """A command ended with an error."""


@dataclasses.dataclass
class Inside:
    """A folder in one that is there, or that a future will name."""
    folder: object
    name: str


class Workshop:
    """Runs `funcattn` on one thread each, `jobs` at a time, and keeps what was made in `folder`.

    What a command makes is named by a digest of its arguments, so that tables share it and a second
    call finds it there.
    """

    def __init__(self, program, folder, jobs):
        self.program = str(program)
        self.folder = pathlib.Path(folder)
        self.folder.mkdir(parents=True, exist_ok=True)
        # Threads that wait for what another one makes take no turn from those that could go on.
        self._pool = concurrent.futures.ThreadPoolExecutor(max_workers=1024)
        self._turns = threading.Semaphore(jobs)
        self._closed = threading.Event()
        self._lock = threading.Lock()
        self._made = {}
        self.processor_seconds = 0.0  # Of all trainings and evaluations, also those kept.

    def dataset(self, *arguments):
        """Future of the folder that `funcattn generate` makes of the arguments."""
        return self._once("data", arguments, self._generate)

    def derived(self, make, source, *arguments):
        """Future of the folder that make(source, folder, *arguments) writes."""
        def write(path, parts):
            return self._into(path, lambda part: make(source, part, *arguments))
        return self._once("data", (make.__name__, source, *arguments), write)

    def trained(self, data, arguments, seed):
        """Future of what `train --json` prints, with `operator` the file.

        @param data a path, or a future of one, as the arguments may be
        """
        return self._once("operators", ("train", data, *arguments, "--seed", seed), self._train)

    def evaluated(self, training, sets, options=()):
        """Future of the entry that `evaluate --json` has for the operator of a training.

        @param sets paths, futures of them, or Inside
        """
        return self._once("evaluations", ("evaluate", training, *sets, *options), self._evaluate)

    def trained_on_task(self, task, arguments, seed):
        """As trained(), on samples that are drawn in memory."""
        return self._once("operators", ("train", "--task", task, *arguments, "--seed", seed),
                          self._train)

    def evaluated_on_task(self, training, task):
        """As evaluated(), on samples of a task, with its studies."""
        return self._once("evaluations", ("evaluate", training, "--task", task, "--episodes", 100,
                                          "--resample", 1, 32, "--ood", "alpha", "x"),
                          self._evaluate)

    def close(self):
        """Waits for what is running; what has not begun is dropped."""
        self._closed.set()
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
        return self._into(path, lambda part: self._call("generate", *arguments, "--out", part,
                                                        "--quiet"))

    @staticmethod
    def _into(path, write):
        """The folder, which `write` fills under another name if it is not there yet."""
        if not path.exists():
            part = path.with_name(path.name + ".part")
            shutil.rmtree(part, ignore_errors=True)
            part.parent.mkdir(parents=True, exist_ok=True)
            write(part)
            part.rename(path)
        return path

    def _train(self, path, parts):
        _, data, *arguments = parts
        source = [data] if data == "--task" else ["--data", resolved(data)]
        return self._measured(path, "train", *source, *map(resolved, arguments), "--out",
                              path.with_suffix(".safetensors"), "--overwrite")

    def _evaluate(self, path, parts):
        _, training, *what = parts
        source = what if what[0] == "--task" else ["--data", *map(resolved, what)]
        report = self._measured(path, "evaluate", "--operator", resolved(training)["operator"],
                                *source)
        return {**report["operators"][0], "peak_bytes": report["peak_bytes"]}

    def _measured(self, path, *arguments):
        """The JSON of a command, kept in a file, with its peak memory and processor time."""
        kept = path.with_suffix(".json")
        if not kept.exists():
            kept.parent.mkdir(parents=True, exist_ok=True)
            printed, usage = self._call(*arguments, "--threads", 1, "--quiet", "--json")
            atomically = kept.with_suffix(".part")
            atomically.write_text(json.dumps({**json.loads(printed), **usage}))
            atomically.rename(kept)
        result = json.loads(kept.read_text())
        with self._lock:
            self.processor_seconds += result["processor_seconds"]
        return result

    def _call(self, *arguments):
        """@return what the command printed, and its peak memory and processor time"""
        command = [self.program, *map(str, arguments)]
        with self._turns, tempfile.TemporaryFile() as printed, tempfile.TemporaryFile() as told:
            if self._closed.is_set():
                raise Failed(f"{' '.join(command)}: not begun")
            begin = time.monotonic()
            process = subprocess.Popen(command, stdout=printed, stderr=told)
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
            if process.returncode != 0:
                raise Failed(f"{' '.join(command)}: exit status {process.returncode}: "
                             f"{text_of(told).strip()[-2000:]}")
            print(f"{time.monotonic() - begin:7.1f} s  {' '.join(command[1:])}", file=sys.stderr)
            return text_of(printed), {"peak_bytes": usage.ru_maxrss * 1024,
                                      "processor_seconds": usage.ru_utime + usage.ru_stime}


def fastest_step(trained):
    """Seconds of a training step: the least mean between two lines of the log.

    What else the machine does makes others longer, and so do the first steps.
    """
    log = pathlib.Path(trained["operator"]).with_suffix(".log.jsonl")
    lines = [json.loads(line) for line in log.read_text().splitlines()]
    means = [(after["seconds"] - before["seconds"]) / (after["step"] - before["step"])
             for before, after in zip(lines, lines[1:])]
    return min(means, default=trained["ms_per_step"] / 1e3)


def text_of(stream):
    stream.seek(0)
    return stream.read().decode()


def identity(part):
    """What tells one part of a command from another: a future's is that of its command."""
    if isinstance(part, Inside):
        return f"{identity(part.folder)}/{part.name}"
    return part.identity if isinstance(part, concurrent.futures.Future) else str(part)


def resolved(part):
    if isinstance(part, Inside):
        return resolved(part.folder) / part.name
    return part.result() if isinstance(part, concurrent.futures.Future) else part
