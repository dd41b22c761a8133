"""The files in deploy/ agree with the product: settings, ports, paths, users, packages."""

import json
import os
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from starlette.testclient import TestClient

from deploy_files import DEPLOY, DOCKERFILE, ROOT, environment_of, instructions
from doc_examples import ROOT as CHECKOUT
from recollect import LocalRecollect
from recollect.app.background_worker import FINISH_S, HANDED_BACK_S
from recollect.config import _VARIABLES, Settings, load_settings
from recollect.server.health import READ_TIMEOUT_S
from recollect.server.serve import GRACE_S
from recollect.server.web_app import web_app

PORT = Settings().port
KUBERNETES = sorted((DEPLOY / "kubernetes").glob("*.yaml"))
VARIABLES = {name for names in _VARIABLES.values() for name in names}
NOT_OURS = {"PATH", "HOME", "XDG_STATE_HOME", "PYTHONUNBUFFERED", "PGPASSWORD"}
LABEL = "app.kubernetes.io/name"
PIN = re.compile(r"^([a-z0-9][a-z0-9._-]*)==([^ \\]+)", re.MULTILINE)


def manifest(name: str) -> Any:
    return yaml.safe_load((DEPLOY / "kubernetes" / f"{name}.yaml").read_text(encoding="utf-8"))


@pytest.fixture
def pod() -> Any:
    return manifest("deployment")["spec"]["template"]["spec"]


@pytest.fixture
def container(pod: Any) -> Any:
    [only] = pod["containers"]
    return only


@pytest.fixture
def compose() -> Any:
    return yaml.safe_load((DEPLOY / "compose.yaml").read_text(encoding="utf-8"))


def settings_of(environment: dict[str, str]) -> Settings:
    """Return the settings that a server has with these variables; unknown ones are an error."""
    unknown = environment.keys() - VARIABLES - NOT_OURS
    assert not unknown, unknown
    # A variable of whoever starts it, ${NAME:?message}, has some value.
    environment = {name: "x" if "${" in text else text for name, text in environment.items()}
    return load_settings({**environment, "RECOLLECT_CONFIG": os.devnull})


# The image


def test_the_image_runs_as_a_user_with_a_number_that_is_not_root() -> None:
    [user] = [text for name, text in instructions() if name == "USER"]
    [made] = [text for name, text in instructions() if name == "RUN" and "useradd" in text]
    user_id, group_id = user.split(":")

    assert int(user_id) == int(group_id) > 0  # a number: Kubernetes cannot check a name
    assert f"--uid {user_id} " in made
    assert f"-o {user_id} -g {group_id} " in made


def test_what_the_image_copies_exists_and_is_sent_to_the_builder() -> None:
    copied = [
        source
        for name, text in instructions()
        if name == "COPY" and not text.startswith("--from")
        for source in text.split()[:-1]
    ]
    sent = (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines()

    assert len(copied) >= 4
    for source in copied:
        assert (ROOT / source).exists(), source
        assert f"!{source}" in sent, source


def test_the_wheel_needs_no_file_that_is_not_copied() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    sent = (ROOT / ".dockerignore").read_text(encoding="utf-8")

    for path in [
        project["project"]["readme"],
        *project["project"]["license-files"],
        *project["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"],
    ]:
        assert f"!{path.split('/')[0]}\n" in sent


def test_the_settings_of_the_image_are_settings() -> None:
    settings = settings_of(environment_of(DOCKERFILE))
    exposed = [text for name, text in instructions() if name == "EXPOSE"]

    assert exposed == [str(settings.port)] == [str(PORT)]
    assert settings.host == "0.0.0.0"
    assert settings.db.startswith("/data/")
    assert ("VOLUME", "/data") in instructions()


def test_the_command_of_the_image_is_one_of_ours() -> None:
    [entry] = [json.loads(text) for name, text in instructions() if name == "ENTRYPOINT"]
    [arguments] = [json.loads(text) for name, text in instructions() if name == "CMD"]

    assert entry == ["recollect"]
    assert arguments == ["serve"]


def test_the_packages_of_the_image_are_those_that_are_tested() -> None:
    tested = dict(PIN.findall((ROOT / "constraints.txt").read_text(encoding="utf-8")))
    installed = dict(PIN.findall((DEPLOY / "constraints.txt").read_text(encoding="utf-8")))

    assert installed.items() <= tested.items()
    assert not installed.keys() & {"pytest", "mypy", "ruff"}


def test_the_image_has_the_extras_of_a_server() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    installed = dict(PIN.findall((DEPLOY / "constraints.txt").read_text(encoding="utf-8")))

    for requirement in [
        *project["dependencies"],
        *(text for name in ("postgres", "mcp", "otel", "tokens") for text in extras[name]),
    ]:
        name = re.split(r"[\[<>=]", requirement)[0]
        assert name in installed, requirement


# Compose


def test_the_compose_file_starts_the_server_with_settings_that_exist(compose: Any) -> None:
    service = compose["services"]["recollect"]
    settings = settings_of(service["environment"])

    assert settings.is_on_server
    assert settings.db == "postgresql://recollect@postgres/recollect"
    assert service["ports"] == [f"127.0.0.1:{PORT}:{PORT}"]
    assert service["depends_on"]["postgres"]["condition"] == "service_healthy"


def test_the_compose_file_builds_our_image_and_keeps_no_secret(compose: Any) -> None:
    build = compose["services"]["recollect"]["build"]
    variables = {
        text
        for service in compose["services"].values()
        for name, text in service["environment"].items()
        if "PASSWORD" in name or "TOKEN" in name
    }

    assert (DEPLOY / build["context"]).resolve() == ROOT
    assert ROOT / build["dockerfile"] == DOCKERFILE
    assert variables == {
        "${POSTGRES_PASSWORD:?set it to a password}",
        "${RECOLLECT_TOKEN:?set it to a token}",
    }


def test_the_compose_file_has_only_what_it_declares(compose: Any) -> None:
    postgres = compose["services"]["postgres"]
    address = compose["services"]["recollect"]["environment"]["RECOLLECT_DB"]

    assert compose.keys() == {"name", "services", "volumes"}
    assert {entry.split(":")[0] for entry in postgres["volumes"]} == compose["volumes"].keys()
    for name in (postgres["environment"]["POSTGRES_USER"], postgres["environment"]["POSTGRES_DB"]):
        assert name in address


# Kubernetes


@pytest.mark.parametrize("path", KUBERNETES, ids=lambda path: path.stem)
def test_a_manifest_is_one_object_with_the_names_of_the_others(path: Path) -> None:
    content = yaml.safe_load(path.read_text(encoding="utf-8"))

    assert {"apiVersion", "kind", "metadata"} <= content.keys()
    assert content["metadata"]["name"] == "recollect"
    assert content["metadata"]["labels"] == {LABEL: "recollect"}


def test_service_deployment_and_budget_select_the_same_pods() -> None:
    deployment, service = manifest("deployment")["spec"], manifest("service")["spec"]
    budget = manifest("pod-disruption-budget")["spec"]
    labels = deployment["template"]["metadata"]["labels"]

    assert deployment["selector"]["matchLabels"] == labels
    assert service["selector"] == labels
    assert budget["selector"]["matchLabels"] == labels
    assert 0 < budget["minAvailable"] < deployment["replicas"]


def test_the_pods_have_settings_that_exist_and_keys_of_the_secret(container: Any) -> None:
    secret = manifest("secret")
    values = {
        entry["name"]: entry.get("value", "postgresql://db/team") for entry in container["env"]
    }
    keys = {
        entry["valueFrom"]["secretKeyRef"]["key"]
        for entry in container["env"]
        if "valueFrom" in entry
    }

    settings_of(environment_of(DOCKERFILE) | values)
    assert keys == secret["stringData"].keys()
    assert set(secret["stringData"].values()) == {"REPLACE-ME"}


def probes(container: Any) -> Iterator[Any]:
    for name in ("startupProbe", "readinessProbe", "livenessProbe"):
        yield container[name]


def test_the_server_answers_the_probes_without_a_token(
    container: Any, words_only: LocalRecollect
) -> None:
    app = web_app(words_only, Settings(token="s3cret", host="0.0.0.0"))
    with TestClient(app, base_url="http://10.1.2.3:8283") as client:
        for probe in probes(container):
            assert client.get(probe["httpGet"]["path"]).status_code == 200


def test_the_ports_are_those_of_the_server(container: Any) -> None:
    [port] = container["ports"]
    [service_port] = manifest("service")["spec"]["ports"]

    assert port["containerPort"] == PORT
    assert {probe["httpGet"]["port"] for probe in probes(container)} == {port["name"]}
    assert service_port["targetPort"] == port["name"]


def test_a_probe_waits_longer_than_the_server_needs_to_answer_it(container: Any) -> None:
    assert container["readinessProbe"]["timeoutSeconds"] > READ_TIMEOUT_S


def test_liveness_does_not_depend_on_the_database(container: Any) -> None:
    assert container["livenessProbe"]["httpGet"]["path"] == "/live"
    assert container["readinessProbe"]["httpGet"]["path"] == "/ready"


def test_a_pod_has_the_time_to_end_and_is_not_ready_before(pod: Any, container: Any) -> None:
    values = {entry["name"]: entry.get("value") for entry in container["env"]}
    delay_s = int(values["RECOLLECT_SHUTDOWN_DELAY_S"])
    probe = container["readinessProbe"]
    strategy = manifest("deployment")["spec"]["strategy"]["rollingUpdate"]

    assert delay_s >= probe["periodSeconds"] * probe["failureThreshold"]
    needed_s = delay_s + GRACE_S + FINISH_S + HANDED_BACK_S + 10  # 10: the log of retrievals
    assert pod["terminationGracePeriodSeconds"] > needed_s
    assert strategy["maxUnavailable"] == 0


def test_the_pods_meet_the_restricted_standard(pod: Any, container: Any) -> None:
    context = container["securityContext"]

    assert pod["securityContext"]["runAsNonRoot"]
    assert pod["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
    assert context["allowPrivilegeEscalation"] is False
    assert context["readOnlyRootFilesystem"] is True
    assert context["capabilities"] == {"drop": ["ALL"]}
    assert not pod["automountServiceAccountToken"]


def test_the_pods_run_as_the_user_of_the_image_and_write_where_it_writes(
    pod: Any, container: Any
) -> None:
    [user] = [text for name, text in instructions() if name == "USER"]
    security = pod["securityContext"]
    mounted = {mount["mountPath"] for mount in container["volumeMounts"]}
    environment = environment_of(DOCKERFILE)

    assert user == f"{security['runAsUser']}:{security['runAsGroup']}"
    assert mounted == {environment["HOME"], environment["XDG_STATE_HOME"]}
    assert {mount["name"] for mount in container["volumeMounts"]} == {
        volume["name"] for volume in pod["volumes"]
    }


def test_the_guide_names_every_file_and_metric_that_exists(words_only: LocalRecollect) -> None:
    guide = (CHECKOUT / "docs" / "guides" / "deployment.md").read_text(encoding="utf-8")
    app = web_app(words_only, Settings(metrics=True))
    text = TestClient(app, base_url="http://127.0.0.1").get("/metrics").text

    for path in re.findall(r"`(deploy/[\w./-]*)`", guide):
        assert (ROOT / path).exists(), path
    named = set(re.findall(r"\b(recollect_\w+|process_\w+)\b", guide))
    assert len(named) > 5
    for name in named:
        assert f"# TYPE {name} " in text, name
