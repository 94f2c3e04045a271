"""The pages of the app, in the groups of its navigation.

In: nothing. Out: `Literal` aliases, one for each group, and `PAGES` in their order: the single list
of what a component can open and of what `ui/session/routes.py` leads to.
"""

from typing import Literal, get_args

StartPage = Literal["start"]
ExploringPage = Literal["overview", "head", "compare", "output"]
TakingApartPage = Literal["steps", "masks", "geometry", "switches", "circuit"]
ManyTextsPage = Literal["map", "atlas"]
LearningPage = Literal["learn", "calculator"]
Page = Literal[StartPage, ExploringPage, TakingApartPage, ManyTextsPage, LearningPage]
PAGES: tuple[Page, ...] = get_args(Page)
