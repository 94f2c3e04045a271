"""From a request to a plan: one planner for each kind of request.

In: a model and a `Request`. Out: its `Plan`, or an error that names what the model cannot read.
"""

from collections.abc import Callable

from attnviz.capture.plan.images import plan_image
from attnviz.capture.plan.inputs import plan_example, plan_inputs
from attnviz.capture.plan.plan import Plan
from attnviz.capture.plan.sound import plan_sound
from attnviz.capture.plan.text import plan_text
from attnviz.capture.plan.text_image import plan_text_image, require_picture
from attnviz.capture.request import Request, RequestKind
from attnviz.models.loaded_model import LoadedModel


def plan(lm: LoadedModel, request: Request) -> Plan:
    """The plan for a request.

    Raises `BadInput` for anything that the model cannot read or write, and `TooLarge` for more
    tokens than it takes.
    """
    return PLANNERS[request.kind](lm, request)


def _plan_text_alone(lm: LoadedModel, request: Request) -> Plan:
    require_picture(lm)
    return plan_text(lm, request)


PLANNERS: dict[RequestKind, Callable[[LoadedModel, Request], Plan]] = {
    "text": _plan_text_alone,
    "image": plan_image,
    "text-image": plan_text_image,
    "sound": plan_sound,
    "inputs": plan_inputs,
    "example": plan_example,
}
