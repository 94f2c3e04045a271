"""The files of deploy/ parse, and say what the Dockerfile and the app say: ports, user, sizes."""

import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from attnviz.app.server import opened_captures
from attnviz.app.server.class_socket import REDIS_VARIABLE
from tests.contracts import dockerfile, project
from tests.support import server

DEPLOY = project.ROOT / "deploy"
FINAL = dockerfile.stages(project.read(project.ROOT / "Dockerfile"))[-1]
PORT = int(FINAL.last("EXPOSE"))
NEEDED = (
    "proxy_http_version 1.1;",
    "proxy_set_header Upgrade $http_upgrade;",
    "proxy_set_header Connection $connection_upgrade;",
    "proxy_set_header Host $http_host;",
    "hash $attnviz_browser;",
    "add_header Set-Cookie $attnviz_set_cookie;",
)
INGRESS = "nginx.ingress.kubernetes.io"
UPLOAD = f"{opened_captures.MAX_BYTES // opened_captures.MIB + 2}m"  # and the form around it


def kubernetes(text: str) -> dict[str, Any]:
    """The objects of a file, by their kind."""
    return {entry["kind"]: entry for entry in yaml.safe_load_all(text)}


def _path(container: dict[str, Any], probe: str) -> str:
    path: str = container[probe]["httpGet"]["path"]
    return path


def kubernetes_problems(text: str) -> list[str]:
    objects = kubernetes(text)
    pod = objects["Deployment"]["spec"]["template"]["spec"]
    (container,) = pod["containers"]
    [service_port] = objects["Service"]["spec"]["ports"]
    annotations = objects["Ingress"]["metadata"]["annotations"]
    user = re.search(r"--uid (\d+)", project.read(project.ROOT / "Dockerfile"))
    assert user is not None
    labels = objects["Deployment"]["spec"]["template"]["metadata"]["labels"]
    settings = {entry["name"]: entry.get("value") for entry in container["env"]}
    checks = {
        "port": container["ports"][0]["containerPort"] == PORT,
        "user": pod["securityContext"]["runAsUser"] == int(user[1]),
        "command": not {"command", "args"} & container.keys(),
        "health": f":{PORT}{_path(container, 'readinessProbe')}'" in FINAL.last("HEALTHCHECK"),
        "alive": _path(container, "livenessProbe") == server.HEALTH,
        "selector": objects["Service"]["spec"]["selector"] == labels,
        "service port": service_port["targetPort"] == container["ports"][0]["name"],
        "sticky": annotations["nginx.ingress.kubernetes.io/affinity"] == "cookie",
        "log": annotations["nginx.ingress.kubernetes.io/enable-access-log"] == "false",
        "upload": annotations["nginx.ingress.kubernetes.io/proxy-body-size"] == UPLOAD,
        "host": objects["Ingress"]["spec"]["rules"][0]["host"].endswith("example.org"),
        "names": settings["STREAMLIT_SERVER_ALLOWED_HOSTS"]
        == objects["Ingress"]["spec"]["rules"][0]["host"],
        "proxies": settings["FORWARDED_ALLOW_IPS"] == "*",
        "limits": {f"{INGRESS}/limit-connections", f"{INGRESS}/limit-rps"} <= annotations.keys(),
        "memory": 4 * int(settings["ATTNVIZ_MAX_MODEL_MIB"]) + 2048
        <= 1024 * int(container["resources"]["limits"]["memory"].removesuffix("Gi")),
    }
    return [name for name, holds in checks.items() if not holds]


def compose_problems(text: str, proxy: str) -> list[str]:
    services = yaml.safe_load(text)["services"]
    app, before, store = services["attnviz"], services["proxy"], services["store"]
    address = re.fullmatch(r"redis://(\w+):6379/0", app["environment"].get(REDIS_VARIABLE, ""))
    mounted = {inside: DEPLOY / "compose" / file for file, inside in mounts(before)}
    included = set(re.findall(r"include (\S+);", proxy))
    checks = {
        "port": app["expose"] == [str(PORT)],
        "built": (DEPLOY / "compose" / app["build"] / "Dockerfile").resolve().is_file(),
        "command": "command" not in app and "entrypoint" not in app,
        "config": all(file.is_file() for file in mounted.values()),
        "includes": included <= mounted.keys(),
        "upstream": f"server attnviz:{PORT} " in proxy,
        "headers": all(line in proxy for line in NEEDED),
        "upload": f"client_max_body_size {UPLOAD};" in proxy,
        "store": address is not None and address[1] in app["depends_on"].keys() & services.keys(),
        "no disk": {"--save", "--appendonly"} <= set(store["command"]) and "volumes" not in store,
        "log": "access_log" in proxy and not re.search(r"\$request\b|\$args|\$request_uri", proxy),
        "braces": proxy.count("{") == proxy.count("}"),
    }
    return [name for name, holds in checks.items() if not holds]


def mounts(service: dict[str, Any]) -> list[tuple[str, str]]:
    """The files of this folder that a service sees, each with its place there."""
    volumes = (volume.removesuffix(":ro").rpartition(":") for volume in service["volumes"])
    return [(file, inside) for file, _, inside in volumes if file.startswith("./")]


def tls_problems(text: str, proxy: str) -> list[str]:
    """The faults of the files for TLS, which stand beside those of compose."""
    services = yaml.safe_load(text)["services"]
    (app, before), plain = (services["attnviz"], services["proxy"]), yaml.safe_load(COMPOSE)
    places = [inside for _, inside in mounts(plain["services"]["proxy"])]
    [(file, place)] = mounts(before)
    checks = {
        "same proxy": place in places and (DEPLOY / "compose" / file).is_file(),
        "includes": set(re.findall(r"include (\S+);", proxy)) <= set(places),
        "port": before["ports"] == ["443:443"] and "listen 443 ssl;" in proxy,
        "names": "ATTNVIZ_HOST" in app["environment"]["STREAMLIT_SERVER_ALLOWED_HOSTS"],
        "certificate": "/etc/nginx/certificate/privkey.pem;" in proxy,
        "moved": "return 301 https://$host$request_uri;" in proxy,
        "log": "access_log off;" in proxy.partition("return 301")[0],
        "braces": proxy.count("{") == proxy.count("}"),
    }
    return [name for name, holds in checks.items() if not holds]


def front_matter(text: str) -> dict[str, Any]:
    """The settings at the top of a Space's README."""
    match = re.match(r"---\n(.*?)\n---\n", text, re.DOTALL)
    assert match is not None, "no front matter"
    settings: dict[str, Any] = yaml.safe_load(match[1])
    return settings


KUBERNETES = project.read(DEPLOY / "kubernetes" / "attnviz.yaml")
COMPOSE = project.read(DEPLOY / "compose" / "compose.yaml")
NGINX = "".join(
    project.read(DEPLOY / "compose" / f"{name}.conf") for name in ("nginx", "shared", "app")
)
TLS, TLS_PROXY = (project.read(DEPLOY / "compose" / name) for name in ("tls.yaml", "tls.conf"))


def test_kubernetes_says_what_the_dockerfile_says() -> None:
    assert kubernetes(KUBERNETES).keys() == {"Deployment", "Service", "Ingress"}
    assert not kubernetes_problems(KUBERNETES)


def test_compose_says_what_the_dockerfile_says() -> None:
    assert not compose_problems(COMPOSE, NGINX)


def test_tls_stands_beside_compose() -> None:
    assert not tls_problems(TLS, TLS_PROXY)
    assert tls_problems(TLS, TLS_PROXY.replace("listen 443 ssl", "listen 443")) == ["port"]
    assert tls_problems(TLS, TLS_PROXY.replace("access_log off;", "")) == ["log"]


@pytest.mark.skipif(not shutil.which("nginx"), reason="needs nginx")
@pytest.mark.parametrize("name", ["nginx.conf", "tls.conf"])
def test_nginx_takes_the_files(name: str, tmp_path: Path) -> None:
    key, certificate = tmp_path / "privkey.pem", tmp_path / "fullchain.pem"
    command = f"openssl req -x509 -newkey rsa:2048 -nodes -days 1 -subj /CN=x -keyout {key}"
    subprocess.run([*command.split(), "-out", certificate], check=True, capture_output=True)
    places = {"/etc/nginx/attnviz": tmp_path, "/etc/nginx/certificate": tmp_path}
    for file in ("shared.conf", "app.conf", name):
        text = project.read(DEPLOY / "compose" / file).replace("server attnviz:", "server [::1]:")
        for place, here in places.items():
            text = text.replace(place, str(here))
        (tmp_path / file).write_text(text.replace("/var/log/nginx", str(tmp_path)))
    whole = f"pid {tmp_path}/pid; events {{}} http {{ include {tmp_path / name}; }}"
    (tmp_path / "main.conf").write_text(whole)
    command = f"nginx -t -c {tmp_path}/main.conf -e {tmp_path}/error.log"
    tried = subprocess.run(command.split(), capture_output=True, text=True)
    assert tried.returncode == 0, tried.stderr
    (tmp_path / "app.conf").write_text("location / { proxy_pas http://attnviz; }")
    assert subprocess.run(command.split(), capture_output=True).returncode != 0


@pytest.mark.skipif(not shutil.which("docker-compose"), reason="needs docker-compose")
def test_compose_takes_the_files(tmp_path: Path) -> None:
    plain = ["docker-compose", "-f", str(DEPLOY / "compose" / "compose.yaml")]
    tls = [*plain, "-f", str(DEPLOY / "compose" / "tls.yaml")]
    named = {"ATTNVIZ_HOST": "a.example", "ATTNVIZ_CERTIFICATE": str(tmp_path)}
    for command, env, is_taken in ((plain, {}, True), (tls, named, True), (tls, {}, False)):
        asked = [*command, "config", "--quiet"]
        tried = subprocess.run(asked, env={**os.environ, **env}, capture_output=True, text=True)
        assert (tried.returncode == 0) is is_taken, tried.stderr


def test_a_space_runs_the_dockerfile() -> None:
    text = project.read(DEPLOY / "huggingface" / "README.md")
    settings = front_matter(text)
    assert (settings["sdk"], settings["app_port"]) == ("docker", PORT)
    assert len(settings["short_description"]) <= 60  # more is refused
    assert "STREAMLIT_SERVER_ENABLE_XSRF_PROTECTION=false" in text


SPOILT = [
    ("containerPort: 8501", "containerPort: 8502", "port"),
    ("runAsUser: 10001", "runAsUser: 1000", "user"),
    ("image: attnviz:latest", "image: attnviz:latest\n          args: [x]", "command"),
    ("/healthz, port", "/health, port", "health"),
    ("/_stcore/health, port", "/healthz, port", "alive"),
    ("proxy-body-size: 66m", "proxy-body-size: 1m", "upload"),
    ("ALLOWED_HOSTS, value: attnviz.", "ALLOWED_HOSTS, value: other.", "names"),
    ('MODEL_MIB, value: "256"', 'MODEL_MIB, value: "8192"', "memory"),
    ("limit-rps", "limit-other", "limits"),
    ('enable-access-log: "false"', 'enable-access-log: "true"', "log"),
]


@pytest.mark.parametrize(("old", "new", "problem"), SPOILT)
def test_a_spoilt_file_is_found(old: str, new: str, problem: str) -> None:
    assert old in KUBERNETES
    assert problem in kubernetes_problems(KUBERNETES.replace(old, new))


def test_a_spoilt_proxy_is_found() -> None:
    assert compose_problems(COMPOSE.replace('"8501"', '"80"'), NGINX) == ["port"]
    assert compose_problems(COMPOSE, NGINX.replace("Upgrade $http", "Up $http")) == ["headers"]
    assert compose_problems(COMPOSE, NGINX.replace("$uri", "$request")) == ["log"]
    assert compose_problems(COMPOSE.replace("redis://store", "redis://other"), NGINX) == ["store"]


def test_every_folder_is_told_of() -> None:
    told = project.read(DEPLOY / "README.md")
    folders = [path.name for path in sorted(DEPLOY.iterdir()) if path.is_dir()]
    assert folders and all(f"`{name}/`" in told for name in folders)
