"""The limits of a server's classes, and the refusal of what is above one.

In: a count. Out: nothing, or `TooLarge`.
"""

from dataclasses import dataclass

from attnviz.errors import TooLarge

MAX_CLICKS, CLICKS_S = 20, 10.0  # of one member
MAX_SENTENCES, SENTENCES_S = 6, 60.0  # of one member


@dataclass(frozen=True)
class Bounds:
    """The limits of one server's classes: counts, characters, seconds."""

    rooms: int = 50
    rooms_each: int = 3  # of one visitor at a time
    rooms_address: int = 20  # of one address at a time, as that of a school
    openings: int = 30  # of rooms on this server, a minute
    openings_address: int = 10
    wrong_codes: int = 8  # of one visitor, a minute
    wrong_codes_address: int = 120
    all_wrong_codes: int = 600  # on this server, a minute
    members: int = 220  # 200, and those who come back with a new seat before they take their own
    answers: int = 300
    stage_chars: int = 8000
    sentence_chars: int = 120
    curve_points: int = 40
    idle_s: float = 2 * 3600.0
    total_s: float = 12 * 3600.0
    present_s: float = 45.0  # after the last sign of life
    seen_s: float = 10.0  # within which one sign of life is enough
    pages: int = 4  # of one person that listen at once
    watchers: int = 884
    empty_s: float = 60.0


def check_count(unit: str, found: int, limit: int) -> None:
    """Refuse a count above the limit."""
    if found > limit:
        raise TooLarge(
            f"a room keeps {limit} {unit}, not {found}",
            code="room_too_large",
            found=found,
            limit=limit,
            unit=unit,
        )
