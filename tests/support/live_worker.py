"""The worker of a live page in Node: a model's files as Python prepares them, requests, answers.

In: a model and requests of `attnviz/live/index.d.ts`. Out: the worker's last answer to each, with
the pictures as bytes. Addresses are paths; the worker fetches them as a page's worker does.
"""

import base64
import json
import subprocess
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from attnviz.i18n import Language
from attnviz.live import prepared
from attnviz.models.loaded_model import LoadedModel
from attnviz.models.loader import packaged_folder
from attnviz.models.registry import REGISTRY, EmbeddedModel, PackagedModel
from attnviz.pictures.group.titles import model_title

ROOM = Path(prepared.__file__).parent
LIMIT_S = 300.0
PROGRAM = """
import { readFileSync, writeFileSync } from "node:fs";
const { default: work } = await import(WORKER);
const { requests } = JSON.parse(readFileSync(0, "utf8"));
const answers = [];
let resolve;
const fetchFile = async (path) => {
  if (String(path).startsWith("missing:")) return new Response(null, { status: 404 });
  return new Response(readFileSync(path));
};
const scope = {
  fetch: fetchFile,
  postMessage(answer) {
    if (answer.kind === "progress") return;
    const views = Object.entries(answer.views ?? {});
    const packed = views.map(([name, bytes]) => [name, Buffer.from(bytes).toString("base64")]);
    answers.push({ ...answer, ...(answer.views ? { views: Object.fromEntries(packed) } : {}) });
    resolve();
  },
};
work(scope);
for (const request of requests) {
  const rgb = request.input?.picture?.rgb;
  if (rgb) request.input.picture.rgb = Uint8Array.from(rgb);
  await new Promise((done) => { resolve = done; scope.onmessage({ data: request }); });
}
writeFileSync(1, JSON.stringify(answers));
"""


def answers(requests: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The worker's answers; the bytes of pictures are in `views`."""
    numbered = [{**request, "number": number} for number, request in enumerate(requests, 1)]
    program = PROGRAM.replace("WORKER", json.dumps((ROOM / "worker.js").as_uri()))
    result = subprocess.run(
        ["node", "--input-type=module", "--eval", program],
        input=json.dumps({"requests": numbered}),
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=LIMIT_S,
    )
    assert result.returncode == 0, result.stderr
    found: list[dict[str, Any]] = json.loads(result.stdout)
    for answer in found:
        views = answer.get("views", {}) if answer["kind"] == "shown" else {}
        answer.update(views={name: base64.b64decode(data) for name, data in views.items()})
    return found


def own_folder(name: str) -> Path:
    """The folder with the files of a registered model."""
    entry = REGISTRY[name]
    if isinstance(entry, EmbeddedModel):
        return entry.folder
    assert isinstance(entry, PackagedModel)
    folder = packaged_folder(entry)
    assert folder is not None
    return folder


def model_files(
    lm: LoadedModel, folder: Path, lang: Language = "en", reference: bytes | None = None
) -> dict[str, Any]:
    """The `ModelFiles` of a model; what Python prepares is written into the folder."""
    source = own_folder(lm.name)
    written = {"means.safetensors": prepared.mean_outputs(lm)}
    written["steps.json"] = json.dumps(prepared.step_headers(lm, lang)).encode()
    if reference is not None:
        written["reference.safetensors"] = reference
    for name, data in written.items():
        (folder / name).write_bytes(data)
    files = {
        "tokenizer": "tokenizer.json",
        "generation": "generation_config.json",
        "preprocessor": "preprocessor_config.json",
    }
    own = {key: str(source / name) for key, name in files.items() if (source / name).is_file()}
    return {
        "name": lm.name,
        "titles": {lang: model_title(lang, lm.name)},
        "kernels": str(ROOM / "engine" / "kernels.wasm"),
        "config": str(source / "config.json"),
        "weights": {"form": "plain", "file": str(source / "model.safetensors")},
        "means": str(folder / "means.safetensors"),
        "steps": {lang: str(folder / "steps.json")},
        "most": min(lm.max_tokens, 256),
        **({} if reference is None else {"reference": str(folder / "reference.safetensors")}),
        **own,
    }


@cache
def texts(lang: Language) -> dict[str, object]:
    """The worker's texts of a language."""
    return prepared.worker_texts(lang)


def opening(info: Mapping[str, Any], lang: Language = "en") -> list[dict[str, Any]]:
    """The requests with which a page begins."""
    return [{"kind": "texts", "texts": texts(lang)}, {"kind": "load", "model": info}]


def show(name: str, views: Sequence[str], **more: object) -> dict[str, Any]:
    """A request for pictures of a text."""
    request: dict[str, Any] = {"kind": "show", "model": name, "views": list(views)}
    text = more.pop("text", None)
    shown = {"input": {"text": text}, "layer": 0, "head": 0, "off": "", **more}
    return request | shown
