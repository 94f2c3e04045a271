"""Korean particles chosen from the value that is inserted before them.

In: a template in which a particle behind a placeholder names both of its forms ("{token}이(가)",
"{n}(으)로"), and the values. Out: the template with the form that fits each value. A value whose
sound is unknown (a full stop, an emoji) leaves both forms as they are. Browsers choose in the same
way (pictures/shared/particles.js).
"""

import re
from collections.abc import Callable
from functools import partial
from typing import Literal

Ending = Literal["vowel", "consonant", "rieul"]

# (form after a consonant, form after a vowel)
FORMS = {
    "은(는)": ("은", "는"),
    "이(가)": ("이", "가"),
    "을(를)": ("을", "를"),
    "과(와)": ("과", "와"),
    "(으)로": ("으로", "로"),
    "(이)": ("이", ""),
}
PARTICLE = r"(?P<particle>은\(는\)|이\(가\)|을\(를\)|과\(와\)|\(으\)로|\(이\)(?=[고나라며므]))"
CLOSING = "\"'”’」』»)]*`\\."  # signs without a sound between a value and its particle
DIGITS: tuple[Ending, ...] = (
    *("consonant", "rieul", "vowel", "consonant", "vowel"),  # 영 일 이 삼 사
    *("vowel", "consonant", "rieul", "rieul", "vowel"),  # 오 육 칠 팔 구
)
FIRST_SYLLABLE, LAST_SYLLABLE, FINALS, RIEUL = 0xAC00, 0xD7A3, 28, 8
WORD = re.compile(r"[A-Za-z]+$")
CLOSED_WORD = re.compile(r"(?:[mn]|ng|ck|(?:^|[^aeiou])[aeiou][ckpt])$")


def pattern(placeholder: str) -> re.Pattern[str]:
    """The pattern of a particle behind a placeholder, whose own pattern has a group "name"."""
    closing = re.escape(CLOSING)
    return re.compile(rf"(?P<value>{placeholder})(?P<closing>[{closing}]*){PARTICLE}")


def choose(
    template: str, particles: re.Pattern[str], value: Callable[[re.Match[str]], str | None]
) -> str:
    """The template with each particle in the form that fits `value` of its match.

    A value of None leaves both forms.
    """
    return particles.sub(partial(_with_form, value), template)


def _with_form(value: Callable[[re.Match[str]], str | None], match: re.Match[str]) -> str:
    inserted = value(match)
    particle = match["particle"]
    form = particle if inserted is None else fitting(inserted, particle)
    return match["value"] + match["closing"] + form


def fitting(value: str, particle: str) -> str:
    """The form of a particle after a value.

    >>> fitting("0.3", "을(를)"), fitting("L2.H1", "은(는)"), fitting("7", "(으)로")
    ('을', '은', '로')
    """
    last = ending(value)
    if last is None:
        return particle
    closed, open_form = FORMS[particle]
    takes_open = last == "vowel" or (last == "rieul" and particle == "(으)로")
    return open_form if takes_open else closed


def ending(value: str) -> Ending | None:
    """The last sound of a value as it is read in Korean; None where that is unknown."""
    plain = value.rstrip(CLOSING)
    sign = plain[-1:]
    if "0" <= sign <= "9":
        return DIGITS[int(sign)]
    if sign and FIRST_SYLLABLE <= ord(sign) <= LAST_SYLLABLE:
        final = (ord(sign) - FIRST_SYLLABLE) % FINALS
        return "vowel" if final == 0 else "rieul" if final == RIEUL else "consonant"
    if sign in ("%", "°"):  # 퍼센트, 도
        return "vowel"
    word = WORD.search(plain)
    return None if word is None else _of_word(word[0])


def _of_word(word: str) -> Ending:
    """The last sound of a Latin word; one in capitals is spelled, as L (엘) and Q (큐)."""
    if word.isupper():
        return "rieul" if word[-1] in "LR" else "consonant" if word[-1] in "MN" else "vowel"
    lower = word.lower()
    if lower.endswith(("l", "le")):
        return "rieul"
    return "consonant" if CLOSED_WORD.search(lower) else "vowel"
