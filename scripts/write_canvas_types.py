"""Write the TypeScript of what each canvas is sent from the dataclasses that say so.

    python -m scripts.write_canvas_types            # write the files
    python -m scripts.write_canvas_types --check    # exit code 1 if one is not current

In: the views of `attnviz.pictures.*.CANVAS` and the English texts. Out: `types.d.ts` of each
canvas with its `Header`, `Arrays` and `Strings`, and `shared/heads.d.ts` with what several share.
"""

import argparse
import inspect
import re
import sys
import textwrap
from collections.abc import Iterator, Mapping
from dataclasses import is_dataclass
from importlib import import_module
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin

from attnviz import i18n
from attnviz.pictures.shared import bundle, heads, selection
from attnviz.pictures.shared.buffer import Lower
from attnviz.pictures.shared.canvas import (
    INLINE,
    LISTED,
    ROWS,
    Canvas,
    Encoded,
    SentPart,
    derived,
    is_array,
    is_array_mapping,
    parts_of,
)

WIDTH = 110
SHARED = "shared/heads"
# what several canvases are sent
SHARED_CLASSES = (selection.Extent, heads.Axes, heads.HeadsView)
PLAIN = {str: "string", int: "number", float: "number", bool: "boolean", NoneType: "null"}


class TypesFile:
    """The text of one file: the types that it declares, each once, and those that it imports."""

    def __init__(self, place: str) -> None:
        self.place = place  # "circuit/types", below `components`
        self.declared: dict[str, str] = {}
        self.imported: dict[str, set[str]] = {}

    def text(self, source: str) -> str:
        """The file, with a head that names its source."""
        imports = "".join(
            f'import type {{ {", ".join(sorted(names))} }} from "{_path(self.place, home)}.js";\n'
            for home, names in sorted(self.imported.items())
        )
        written = "// Written by `python -m scripts.write_canvas_types` from"
        head = f"{written} {source}: change that, not this.\n"
        return "\n".join([head, *([imports] if imports else []), *self.declared.values()])

    def use(self, home: str, name: str) -> str:
        """A type of another file."""
        self.imported.setdefault(home, set()).add(name)
        return name

    def interface(self, shape: type, name: str, strings: bool = False) -> str:
        """The name of a dataclass's type, declared where that dataclass is at home."""
        home = _home(shape)
        if home is not None and home != self.place and not strings:
            return self.use(home, name)
        if name in self.declared:
            return name
        self.declared[name] = ""  # keeps its place, and a type may contain itself
        parts = list(parts_of(shape))
        bases = [
            self.interface(part.hint, part.hint.__name__)
            for part in parts
            if INLINE in part.markers
        ]
        fields = ["strings: Strings;"] if strings else []
        for part in parts:
            if INLINE not in part.markers and not _is_sent_apart(part):
                fields += [*_comment(shape, part), f"{part.name}: {self._json(part, shape)};"]
        self.declared[name] = _declared(name, bases, fields, inspect.getdoc(shape) or "")
        return name

    def arrays(self, view: type) -> str:
        """The type of the arrays of a view."""
        fields = list(self._arrays(view, ""))
        if not fields:
            return "export type Arrays = Record<never, never>;\n"
        mapped = [field for field in fields if " in " in field]
        if not mapped:
            return _declared("Arrays", [], fields, "")
        plain = [field for field in fields if field not in mapped]
        kinds = [f"{{ {field} }}" for field in mapped]
        if plain:
            kinds.append("{\n" + "".join(f"  {field}\n" for field in plain) + "}")
        return f"export type Arrays = {' & '.join(kinds)};\n"

    def _arrays(self, shape: type, way: str) -> Iterator[str]:
        """The fields of arrays; those of an inner dataclass are there where that is."""
        for part in parts_of(shape):
            name = f"{way}{part.name}"
            hint, may_lack = _without_none(part.hint)
            if INLINE in part.markers:
                yield from self._arrays(hint, way)
            elif LISTED in part.markers or ROWS in part.markers:
                continue
            elif part.encoder is not None or is_array(hint):
                kind, axes = self._array_kind(hint, part.encoder)
                mark = "?" if may_lack else ""
                quoted = name if re.fullmatch(r"\w+", name) else f'"{name}"'
                yield from [f"/** [{axes}] */"] if axes and "${" not in name else []
                yield f"[array: `{name}`]: {kind};" if "${" in name else f"{quoted}{mark}: {kind};"
            elif is_array_mapping(hint):
                key, array = get_args(hint)
                kind, _ = self._array_kind(array, None)
                if key is str:
                    yield f"[{part.name}: string]: {kind};"
                else:
                    under = f" as `{part.prefix}${{S}}`" if part.prefix else ""
                    yield f"[S in {self._type(key, shape)}{under}]?: {kind}"
            elif is_dataclass(hint):
                yield from self._arrays(hint, f"{name}.")
            elif get_origin(hint) is tuple and is_dataclass(get_args(hint)[0]):
                yield from self._arrays(get_args(hint)[0], f"{name}.${{number}}.")

    def _array_kind(self, hint: Any, encoder: Encoded | None) -> tuple[str, str]:
        """The type of an array and the names of its axes."""
        options = [one for one in get_args(hint) or (hint,) if hasattr(one, "dim_str")]
        exact = options and (encoder is None or encoder.exact)
        exact = exact and all("float32" in one.dtypes or encoder for one in options)
        exact = exact and Lower not in get_args(hint)
        axes = (
            [axis for axis in options[0].dim_str.split() if axis.isidentifier()] if options else []
        )
        kind = self.use("shared/buffer", "FloatArray" if exact else "PackedArray")
        named = len(options) == 1 and len(axes) == len(options[0].dim_str.split())
        return kind, ", ".join(axes) if named else ""

    def _json(self, part: SentPart, shape: type) -> str:
        if LISTED in part.markers:
            return self.use(SHARED, "Flag") + "[]" * len(part.hint.dim_str.split())
        if ROWS in part.markers:
            row = get_args(part.hint)[0]
            return f"{self._row(row)}[]"
        return self._type(part.hint, shape)

    def _row(self, row: type) -> str:
        """The type of a dataclass that travels as the list of its values."""
        if self.place != SHARED and row.__name__ not in self.declared and _home(row) == SHARED:
            return self.use(SHARED, row.__name__)
        values = [
            f"{part.name}: {self._type(_without_none(part.hint)[0], row)}" for part in parts_of(row)
        ]
        declared = f"export type {row.__name__} = [{', '.join(values)}];\n"
        self.declared[row.__name__] = _documented(inspect.getdoc(row) or "") + declared
        return row.__name__

    def _type(self, hint: Any, shape: type) -> str:
        """The TypeScript of a Python type."""
        if hint in PLAIN:
            return PLAIN[hint]
        origin, inner = get_origin(hint), get_args(hint)
        if origin is Literal:
            return self._literal(hint, shape)
        if origin in (Union, UnionType):
            return self._alias(hint, shape) or " | ".join(self._type(one, shape) for one in inner)
        if origin is tuple and inner[-1] is not ...:
            return f"[{', '.join(self._type(one, shape) for one in inner)}]"
        if origin in (tuple, frozenset):
            item = self._type(inner[0], shape)
            return f"({item})[]" if " | " in re.sub(r"\[.*?\]", "", item) else f"{item}[]"
        if origin is Mapping:
            key, value = (self._type(one, shape) for one in inner)
            kind = f"Record<{key}, {value}>"
            return kind if inner[0] is str else f"Partial<{kind}>"
        assert is_dataclass(hint), f"{shape.__name__} has a {hint}, which has no TypeScript"
        return self.interface(hint, hint.__name__)  # type: ignore[arg-type]

    def _literal(self, hint: Any, shape: type) -> str:
        values = [
            f'"{value}"' if isinstance(value, str) else str(value).lower()
            for value in get_args(hint)
        ]
        return self._alias(hint, shape, values) or " | ".join(values)

    def _alias(self, hint: Any, shape: type, values: list[str] | None = None) -> str | None:
        """The name that the module of a dataclass has for a type, declared under it."""
        module = vars(sys.modules[shape.__module__])
        name = next(
            (name for name, value in module.items() if type(value) is type(hint) and value == hint),
            None,
        )
        if name is None:
            return None
        if name not in self.declared:
            values = values or [self._type(one, shape) for one in get_args(hint)]
            self.declared[name] = _union(name, values)
        return name


def _is_sent_apart(part: SentPart) -> bool:
    """True for what travels among the arrays alone."""
    if LISTED in part.markers or ROWS in part.markers:
        return False
    return part.encoder is not None or is_array(part.hint) or is_array_mapping(part.hint)


def _without_none(hint: Any) -> tuple[Any, bool]:
    """A type without None, and whether it had that."""
    kept = [one for one in get_args(hint) if one is not NoneType]
    if get_origin(hint) not in (Union, UnionType) or len(kept) == len(get_args(hint)):
        return hint, False
    return (kept[0] if len(kept) == 1 else Union[tuple(kept)]), True  # noqa: UP007


def _home(shape: type) -> str | None:
    """The file where a type is declared, None for that of whoever uses it."""
    module = shape.__module__.removeprefix("attnviz.pictures.")
    if shape.__module__ in (heads.__name__, selection.__name__, "attnviz.tokens.words"):
        return SHARED
    return f"{module}/types" if module in bundle.component_names() else None


def _path(place: str, home: str) -> str:
    return f"./{home.split('/')[1]}" if place.split("/")[0] == home.split("/")[0] else f"../{home}"


def _comment(shape: type, part: SentPart) -> list[str]:
    """The first line of a derived property's docstring."""
    member = vars(shape).get(part.name)
    return [f"/** {member.__doc__} */"] if isinstance(member, derived) and member.__doc__ else []


def _declared(name: str, bases: list[str], fields: list[str], doc: str) -> str:
    extends = f" extends {', '.join(bases)}" if bases else ""
    lines = "\n" + "".join(f"  {field}\n" for field in fields) if fields else ""
    return f"{_documented(doc)}export interface {name}{extends} {{{lines}}}\n"


def _union(name: str, values: list[str]) -> str:
    """The alias of a union as prettier breaks it: in one line, in two, or a row for each value."""
    joined = f"{' | '.join(values)};"
    if len(f"export type {name} = {joined}") <= WIDTH:
        return f"export type {name} = {joined}\n"
    if len(f"  {joined}") <= WIDTH:
        return f"export type {name} =\n  {joined}\n"
    rows = "".join(f"\n  | {value}" for value in values)
    return f"export type {name} ={rows};\n"


def _documented(doc: str) -> str:
    if not doc:
        return ""
    if "\n" not in doc and len(doc) <= WIDTH - 7:
        return f"/** {doc} */\n"
    paragraphs = (" ".join(part.split()) for part in doc.split("\n\n"))
    lines = [line for part in paragraphs for line in textwrap.wrap(part, WIDTH - 3)]
    return "/**\n" + "".join(f" * {line}\n" for line in lines) + " */\n"


def _strings(name: str, shared: bool) -> str:
    own = f"component.{name}."
    keys = [key.removeprefix(own) for key in i18n.catalogue(i18n.DEFAULT) if key.startswith(own)]
    fields = [f"readonly {key}: string;" for key in keys]
    if shared:
        return _declared("SharedStrings", [], fields, "The texts of every canvas.")
    return _declared(
        "Strings", ["SharedStrings"], fields, "The texts of this canvas, and the shared ones."
    )


def canvas_types(canvas: Canvas[Any]) -> str:
    """`types.d.ts` of one canvas."""
    file = TypesFile(f"{canvas.name}/types")
    file.use(SHARED, "SharedStrings")
    if len(canvas.views) == 1:
        (view,) = canvas.views
        if _home(view) == SHARED:
            base = file.use(SHARED, view.__name__)
            file.declared["Header"] = _declared("Header", [base], ["strings: Strings;"], "")
        else:
            file.interface(view, "Header", strings=True)
    else:
        names = [file.interface(view, view.__name__, strings=True) for view in canvas.views]
        file.declared["Header"] = f"export type Header = {' | '.join(names)};\n"
    file.declared["Arrays"] = file.arrays(canvas.views[0])
    file.declared["Strings"] = _strings(canvas.name, shared=False)
    return file.text(f"attnviz/pictures/{canvas.name}")


def shared_types() -> str:
    """`shared/heads.d.ts`."""
    file = TypesFile(SHARED)
    file.declared["Flag"] = "/** 0 or 1: a boolean of an array. */\nexport type Flag = 0 | 1;\n"
    for shape in SHARED_CLASSES:
        file.interface(shape, shape.__name__)
    file.declared["SharedStrings"] = _strings("shared", shared=True)
    file.imported.pop(SHARED, None)
    return file.text("attnviz/pictures/shared/heads.py")


def documents() -> dict[Path, str]:
    """Every file and its text."""
    canvases = [
        import_module(f"attnviz.pictures.{name}").CANVAS for name in bundle.component_names()
    ]
    return {
        bundle.FOLDER / f"{SHARED}.d.ts": shared_types(),
        **{bundle.FOLDER / canvas.name / "types.d.ts": canvas_types(canvas) for canvas in canvases},
    }


def main(arguments: list[str] | None = None) -> int:
    """Write the files, or say which are not current."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="only say which are not current")
    options = parser.parse_args(arguments)
    stale = [
        path
        for path, text in documents().items()
        if not path.exists() or path.read_text("utf-8") != text
    ]
    for path in stale:
        name = path.relative_to(bundle.FOLDER.parents[1])
        print(f"not current: {name}" if options.check else name)
        if not options.check:
            path.write_text(documents()[path], encoding="utf-8")
    return int(options.check and bool(stale))


if __name__ == "__main__":
    sys.exit(main())
