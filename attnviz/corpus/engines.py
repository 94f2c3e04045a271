"""The engines that compute the shards: this process, several processes, or actors of a Ray cluster.

In: the shards that have no file yet. Out: their files, in any order; for a cluster in a folder that
every node sees. A worker reports only that a shard is done: results are files, so a worker that
dies loses one shard and nothing else. ray is imported here only; Ray core actors and not Ray Data,
which waits for ever when each CPU holds an actor.
"""

import multiprocessing
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, Literal, get_args

from attnviz.corpus.archive import write_tally
from attnviz.corpus.shards import Shard, file_name, fingerprint, tally
from attnviz.errors import AttnVizError, BadInput, require_package
from attnviz.models.loaded_model import LoadedModel
from attnviz.models.loader import load

Engine = Literal["process", "pool", "ray"]
ENGINES: tuple[Engine, ...] = get_args(Engine)
Done = Callable[[Shard], None]
AHEAD = 2  # shards for each worker that wait in memory
RETRIES = 3  # of an actor that died, and of the shard it was at


@dataclass(frozen=True)
class SurveyJob:
    """The work of a survey, for any shard: the name of a model and a folder for the results."""

    model: str
    fingerprint: str
    folder: str


class Worker:
    """A process that keeps its model between shards."""

    def __init__(self, job: SurveyJob) -> None:
        self.job = job
        self.lm = load(job.model)
        if fingerprint(self.lm) != job.fingerprint:
            raise AttnVizError(
                f"the model that a worker loaded as {job.model} has other numbers than the one"
                " here; give it by its name or folder",
                code="another_model",
                model=job.model,
            )

    def run(self, shard: Shard) -> None:
        """Count a shard, and write its file."""
        count_shard(self.lm, self.job, shard)


def count_shard(lm: LoadedModel, job: SurveyJob, shard: Shard) -> None:
    """Count a shard, and write its file."""
    write_tally(Path(job.folder) / file_name(job.fingerprint, shard), tally(lm, shard))


def in_this_process(lm: LoadedModel, job: SurveyJob, todo: Iterator[Shard], done: Done) -> None:
    """Count one shard after another with the model that is loaded."""
    for shard in todo:
        count_shard(lm, job, shard)
        done(shard)


def in_a_pool(job: SurveyJob, todo: Iterator[Shard], done: Done, workers: int) -> None:
    """Count shards in processes of their own, each with its own model.

    Raises `BadInput` if a worker was killed; the shards that are done stay.
    """
    context = multiprocessing.get_context("spawn")
    try:
        with ProcessPoolExecutor(workers, context) as pool:
            try:
                _drain(lambda shard: pool.submit(_work, job, shard), todo, done, workers)
            except BaseException:
                pool.shutdown(wait=False, cancel_futures=True)
                raise
    except BrokenProcessPool as error:
        raise BadInput(
            "a worker was killed, most often for memory; what is done stays in the folder: run the"
            " same survey again, with fewer workers",
            code="worker_killed",
            workers=workers,
        ) from error


def on_ray(
    job: SurveyJob,
    todo: Iterator[Shard],
    done: Callable[[Shard], None],
    workers: int,
    address: str,
) -> None:
    """Count shards in `workers` actors of the cluster at `address`.

    Ray listens on all addresses of a machine and runs what it is sent: who starts one must mean it.
    Raises `MissingExtra` without ray, `BadInput` if there is no cluster at the address.
    """
    require_package("ray", 'a survey with engine="ray"', "jobs")
    import ray

    try:
        ray.init(address=address, log_to_driver=False, logging_level="error")
    except (ConnectionError, ValueError) as error:
        raise BadInput(
            f"there is no Ray cluster at {address}: {error}",
            code="no_cluster",
            address=address,
        ) from error
    try:
        actor = ray.remote(num_cpus=1, max_restarts=RETRIES, max_task_retries=RETRIES)(Worker)
        _drain_actors(ray, [actor.remote(job) for _ in range(workers)], todo, done)
    finally:
        ray.shutdown()


def _drain_actors(
    ray: Any, actors: list[Any], todo: Iterator[Shard], done: Callable[[Shard], None]
) -> None:
    """Give each actor another shard when it is done with one."""
    running = {
        actor.run.remote(shard): (actor, shard)
        for actor, shard in zip(actors, islice(todo, len(actors)), strict=False)
    }
    while running:
        finished, _ = ray.wait(list(running))
        actor, shard = running.pop(finished[0])
        ray.get(finished[0])
        done(shard)
        for following in islice(todo, 1):
            running[actor.run.remote(following)] = (actor, following)


def _drain(
    submit: Callable[[Shard], "Future[None]"], todo: Iterator[Shard], done: Done, workers: int
) -> None:
    """Keep every worker busy, with few shards in memory."""
    running: dict[Future[None], Shard] = {}
    for shard in islice(todo, AHEAD * workers):
        running[submit(shard)] = shard
    while running:
        finished, _ = wait(running, return_when=FIRST_COMPLETED)
        for future in finished:
            shard = running.pop(future)
            future.result()
            done(shard)
            for following in islice(todo, 1):
                running[submit(following)] = following


_workers: list[Worker] = []


def _work(job: SurveyJob, shard: Shard) -> None:
    """Count a shard in a process of the pool, which loads its model for the first one."""
    if not _workers:
        _workers.append(Worker(job))
    _workers[0].run(shard)
