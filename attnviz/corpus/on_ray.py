"""Shards on a Ray cluster: actors that keep their model; the one place that imports ray.

In: the shards that have no file yet. Out: their files, in a folder that every node sees. Ray core
actors and not Ray Data, which waits for ever when each CPU holds an actor.
"""

from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any

from attnviz.corpus.engines import SurveyJob, Worker
from attnviz.corpus.shards import Shard
from attnviz.errors import BadInput, require_package

RETRIES = 3  # of an actor that died, and of the shard it was at


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
        _drain(ray, [actor.remote(job) for _ in range(workers)], todo, done)
    finally:
        ray.shutdown()


def _drain(
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
