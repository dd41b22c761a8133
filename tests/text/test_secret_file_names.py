"""Files that are there to hold secrets are known by their names."""

from recollect.text.secret_file_names import secret_path_reason
from tables import each_row


@each_row(
    "path",
    [
        ".env", ".env.production", "deploy/prod.env", "id_rsa", "keys/id_ed25519", "server.pem",
        "tls/server.key", ".git/config", ".git", "sub/.git/hooks/pre-commit", ".ssh/known_hosts",
        ".aws/config", ".npmrc", ".netrc", "terraform.tfstate", "secrets.yml", "credentials",
        # Other spellings of the same file on file systems that do not tell them apart.
        ".ENV", ".Git/config", "ID_RSA", ".env.", ".env ", ".env::$DATA", "Server.PEM",
    ],
)  # fmt: skip
def test_a_file_name_for_secrets_has_a_reason(path: str) -> None:
    assert secret_path_reason(path.split("/"))


@each_row(
    "path",
    [
        "env.py", "environment.md", ".env.example", ".env.sample", "id_rsa.pub", "key.py",
        "keys/readme.md", "secrets.py", "git/config", ".github/workflows/ci.yml", ".gitignore",
        "src/credentials.py", "monkey", "", "..",
    ],
)  # fmt: skip
def test_a_file_name_that_only_mentions_secrets_has_no_reason(path: str) -> None:
    assert secret_path_reason(path.split("/")) == ""
