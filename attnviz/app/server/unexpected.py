"""Errors that are not ours: the traceback goes to the log, the visitor gets its reference.

In: the exception that is being handled. Out: an error that says where to look, and nothing more.
"""

import logging
import uuid

from attnviz.errors import AttnVizError

logger = logging.getLogger(__name__)


def logged(what: str) -> AttnVizError:
    """Log the exception that is being handled; returns the error that a visitor sees for it."""
    reference = uuid.uuid4().hex[:8]
    logger.exception("%s failed, reference %s", what, reference)
    return AttnVizError(
        f"something went wrong inside attnviz; the log has the details under {reference}",
        code="unexpected",
        reference=reference,
    )
