# SPDX-License-Identifier: MIT
"""Pictures in several processes, each with a separate simulation.  Processes are spawned,
so that they copy no threads of the parent."""
import multiprocessing
import multiprocessing.connection
import signal
import traceback

from .. import _images, _nanobragg


class Start:
    """Start of fits: words and arrays of a simulation, values of set_parameters, names of
    pictures, and a file of their orientations (may be None)."""

    def __init__(self, words, arrays, moves, pictures, orientations):
        self.words, self.arrays, self.moves = words, arrays, moves
        self.pictures, self.orientations = list(map(str, pictures)), orientations

    def open(self, notice):
        return _nanobragg.Starts(self.words, self.arrays, self.pictures, self.orientations, notice)


class Bench:
    """Data of a worker: the starts and a simulation."""

    def __init__(self, start, starts, threads, place, notice):
        self.start, self.starts, self.notice = start, starts, notice
        self.sim = starts.sim(_nanobragg.Sim, threads, place, notice)

    def begin(self, k):
        """Set the simulation to the start of picture k."""
        self.starts.begin(self.sim, k)
        if self.start.moves:
            self.sim.set_parameters(*zip(*self.start.moves))
        return self.sim

    def read(self, k):
        return _images.of_file(self.starts.read(self.sim, k))


def _work(pipe, start, job, threads, place):
    """Worker process: answers (number, method, arguments) with (number, value, notes)."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # ignored, because the parent ends this process
    notes = []
    try:
        bench = Bench(start, start.open(lambda line: None), threads, place, notes.append)
    except Exception as error:  # the parent raises it again
        pipe.send((-1, error, []))
        return
    while True:
        try:
            k, method, args = pipe.recv()
        except EOFError:
            return
        try:
            answer = getattr(job, method)(bench, k, *args)
        except Exception as error:
            error.__cause__ = None
            if not isinstance(error, (ValueError, OSError, MemoryError, RuntimeError, NotImplementedError)):
                error = RuntimeError(traceback.format_exc())
            answer = error
        pipe.send((k, answer, notes[:]))
        notes.clear()


class Workers:
    """Workers for a job with methods (bench, k, ...).  workers: number (None: auto)."""

    def __init__(self, start, starts, job, workers, notice):
        count, threads = starts.workers()
        workers = workers or count
        self.job, self.notice, self.pipes, self.processes, self.said = job, notice, [], [], set()
        self.bench = Bench(start, starts, threads, 0, notice) if workers == 1 else None
        spawn = multiprocessing.get_context("spawn")
        for place in range(workers if workers > 1 else 0):
            mine, theirs = spawn.Pipe()
            process = spawn.Process(target=_work, args=(theirs, start, job, threads, place), daemon=True)
            process.start()
            theirs.close()
            self.pipes.append(mine)
            self.processes.append(process)

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        for pipe in self.pipes:
            pipe.close()
        for process in self.processes:
            if kind:
                process.terminate()
            process.join()

    def _answer(self, pipe):
        try:
            k, value, notes = pipe.recv()
        except EOFError:
            raise RuntimeError("a process of the fit ended; it may have run out of memory") from None
        for line in notes:
            if line not in self.said:  # print each line once for all processes
                self.notice(line)
            self.said.add(line)
        if isinstance(value, Exception):
            raise value
        return k, value

    def each(self, method, tasks, sticky=True):
        """Call method for {k: arguments}; yield (k, value). sticky: the same k always
        goes to the same worker."""
        if self.bench:
            for k, args in tasks.items():
                yield k, getattr(self.job, method)(self.bench, k, *args)
            return
        n, busy = len(self.pipes) if sticky else 1, {}
        queues = [[k for k in tasks if k % n == i] for i in range(n)]

        def begin(pipe, queue):
            if queue:
                busy[pipe] = queue
                k = queue.pop(0)
                pipe.send((k, method, tasks[k]))

        for i, pipe in enumerate(self.pipes):
            begin(pipe, queues[i % n])
        while busy:
            for pipe in multiprocessing.connection.wait(list(busy)):
                answer = self._answer(pipe)
                begin(pipe, busy.pop(pipe))
                yield answer
