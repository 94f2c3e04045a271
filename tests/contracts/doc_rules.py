"""The rules on documents: what must be mentioned, which paths and links must exist."""

import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

FENCE = re.compile(r"^```(\w*)[^\n]*\n(.*?)^```", flags=re.MULTILINE | re.DOTALL)
INLINE = re.compile(r"`([^`\n]+)`")
LINK = re.compile(r"\]\(([^)\s]+)\)|<img[^>]*\ssrc=\"([^\"]+)\"")
PATH = re.compile(r"[\w.-]+(?:/[\w.{},-]+)+/?|[\w-]+\.(?:py|md|toml|txt)")


def blocks(document: str, *languages: str) -> list[str]:
    """The fenced blocks in one of these languages."""
    return [body for language, body in FENCE.findall(document) if language in languages]


def last_cells(document: str) -> list[str]:
    """The code in the last column of a document's tables that compare two tools."""
    return re.findall(r"^\|.*\| `([^`|]+)` \|$", document, flags=re.MULTILINE)


def code_of(document: str) -> str:
    """Everything a document sets as code, inline and in blocks."""
    fenced = [body for _, body in FENCE.findall(document)]
    return "\n".join([*fenced, *INLINE.findall(FENCE.sub("", document))])


def unmentioned(names: Iterable[str], documents: Mapping[str, str]) -> list[str]:
    """Names that no document sets as code."""
    code = "\n".join(map(code_of, documents.values()))
    return [name for name in names if not re.search(rf"(?<![\w-]){re.escape(name)}(?![\w-])", code)]


def expanded(path: str) -> Iterator[str]:
    """The paths that `a/{b,c}/d` stands for."""
    match = re.search(r"\{([^{}]*)\}", path)
    if match is None:
        yield path
        return
    for choice in match[1].split(","):
        yield from expanded(path[: match.start()] + choice.strip() + path[match.end() :])


def missing_paths(document: str, root: Path) -> list[str]:
    """Paths of the project that a document sets as inline code and that do not exist."""
    tops = {path.name for path in root.iterdir()}
    found = []
    for code in INLINE.findall(FENCE.sub("", document)):
        if not PATH.fullmatch(code) or ("/" in code and code.split("/")[0] not in tops):
            continue
        found += [path for path in expanded(code) if not (root / path).exists()]
    return found


def broken_links(name: str, document: str, root: Path) -> list[str]:
    """Relative links and pictures whose target does not exist."""
    folder = (root / name).parent
    targets = [link or picture for link, picture in LINK.findall(document)]
    local = [target for target in targets if not re.match(r"[a-z]+:|#", target)]
    return [target for target in local if not (folder / target.split("#")[0]).exists()]


def make_targets(makefile: str) -> set[str]:
    return {
        target
        for line in re.findall(r"^\.PHONY:(.*)$", makefile, flags=re.MULTILINE)
        for target in line.split()
    }


def commands(document: str) -> list[str]:
    """The lines a reader is asked to type, without prompts, comments and continuations."""
    lines = "\n".join(blocks(document, "sh", "bash", "console", "shell")).replace("\\\n", " ")
    stripped = (
        re.sub(r"(^\s*\$ )|(\s+#.*$)|(^#.*$)", "", line).strip() for line in lines.splitlines()
    )
    return [line for line in stripped if line]
