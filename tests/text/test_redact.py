"""
Secrets that are removed before a text is stored, and text that is not changed.

Every secret here is made up, and put together from parts so that scanners of this repository stay
quiet.
"""

import string
from typing import NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recollect.text.redact import RedactionResult, redact, remove_multiline_secrets
from tables import each_row

MIXED = "a1B2c3D4"
HEX = "0123456789abcdef"
PEM_BODY = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASC\nBKcwggSjAgEAAoIBAQC7\n"


def pem(label: str) -> str:
    return f"-----BEGIN {label}-----\n{PEM_BODY}-----END {label}-----"


class Sample(NamedTuple):
    """*secret* stands in *text* where the braces are, and is taken for a *kind*."""

    kind: str
    text: str
    secret: str


ISSUED = [
    Sample("private-key", "key:\n{}\nend", pem("PRIVATE KEY")),
    Sample("private-key", "{}", pem("RSA PRIVATE KEY")),
    Sample("private-key", "{} thanks", pem("OPENSSH PRIVATE KEY")),
    Sample("private-key", "{}", pem("PGP PRIVATE KEY BLOCK")),
    Sample("private-key", "half a key: {}", "-----BEGIN EC PRIVATE KEY-----\n" + PEM_BODY),
    Sample("password-hash", "bob:{}", "$apr1$" + "x1234567$" + MIXED * 4),
    Sample("password-hash", "root:{}:19000:0:99999:7:::", "$6$" + "salt$" + MIXED * 6),
    Sample("password", "ConvertTo-SecureString '{}' -AsPlainText -Force", "Tr0ub4dor3"),
    Sample("age-key", "# key\n{}\n", "AGE-SECRET-KEY-1" + "QP0Z" * 14),
    Sample("anthropic-key", "use {} here", "sk-ant-" + "api03-" + MIXED * 5),
    Sample("openai-key", "use {} here", "sk-" + MIXED * 6),
    Sample("openai-key", "use {}, please", "sk-" + "proj-" + MIXED * 6),
    Sample("openai-key", "{}", "sk-" + "svcacct-" + MIXED * 6),
    Sample("openai-key", "{}", "sk-" + "or-v1-" + HEX * 4),
    Sample("aws-access-key", "id {} was rotated", "AKIA" + "IOSFODNN7EXAMPL2"),
    Sample("aws-access-key", "id {}.", "ASIA" + "Y34FZKBOKMUTVV7A"),
    Sample(
        "assigned-secret",
        "aws_secret_access_key = {}",
        "wJalrXUtnFEMI/K7MDENG/bPxRfiCY" + "A1b2" * 2 + "+/",
    ),
    Sample(
        "assigned-secret",
        '"AwsSecretKey": "{}"',
        "wJalrXUtnFEMI/K7MDENG/bPxRfiCY" + "A1b2" * 2 + "+/",
    ),
    Sample("github-token", "git clone with {}", "ghp_" + "a1B2" * 9),
    Sample("github-token", "({})", "gho_" + "a1B2" * 9),
    Sample("github-token", "{}\n", "github_" + "pat_" + "11ABCDEFG0" + "_" + MIXED * 4),
    Sample("gitlab-token", "export X={}", "glpat-" + MIXED * 3),
    Sample("gitlab-token", "runner {}", "glrt-" + MIXED * 3),
    Sample("slack-token", "bot {} joined", "xoxb-" + "123456789012-" + MIXED * 3),
    Sample("slack-token", "app {}", "xapp-" + "1-A012BC3D4-" + "5678901234-" + HEX * 2),
    Sample(
        "slack-webhook",
        "post to https://hooks.slack.com/services/{} now",
        "T00000000/B00000000/" + MIXED * 3,
    ),
    Sample("google-key", "maps key {}", "AIza" + "SyA1b2C3d" * 3 + "SyA1b2-_"),
    Sample("google-key", "client {}", "GOCSPX-" + "a1B2c3D" * 4),
    Sample("google-token", "{} expires", "ya29." + "a0AfH6SM" + MIXED * 3),
    Sample("stripe-key", "charge with {}", "sk_" + "live_" + MIXED * 3),
    Sample("stripe-key", "read with {}", "rk_" + "test_" + MIXED * 3),
    Sample("stripe-key", "verify with {}", "whsec_" + MIXED * 4),
    Sample("huggingface-token", "login {}", "hf_" + MIXED * 4),
    Sample("npm-token", "//packages.example.org/:_authToken {}", "npm_" + "a1B2" * 9),
    Sample("pypi-token", "upload with {}", "pypi-" + "AgEIcHlwaS5vcmc" + MIXED * 5),
    Sample("sendgrid-key", "mail {}", "SG." + MIXED * 2 + "abcdef" + "." + MIXED * 5),
    Sample("twilio-key", "sms {}", "SK" + HEX * 2),
    Sample("digitalocean-token", "doctl {}", "dop_" + "v1_" + HEX * 4),
    Sample("telegram-token", "bot {}", "123456789:" + "AA" + "Hd3k" * 8 + "x"),
    Sample("databricks-token", "dbx {}", "dapi" + HEX * 2),
    Sample("vault-token", "vault login {}", "hvs." + MIXED * 4),
    Sample("service-key", "groq {}", "gsk_" + MIXED * 5),
    Sample("service-key", "grok {}", "xai-" + MIXED * 5),
    Sample("service-key", "search {}", "tvly-" + MIXED * 4),
    Sample(
        "jwt", "cookie {};", "eyJhbGciOiJIUzI1NiJ9" + ".eyJzdWIiOiIxMjM0NTY3ODkwIn0." + MIXED * 4
    ),
]

NAMED = [
    Sample("password", "a senha é {}", "Tr0ub4dor3"),
    Sample("password", "la password è {}", "Tr0ub4dor3"),
    Sample("password", "пароль: {}", "Tr0ub4dor3"),
    Sample("password", "password? {}", "Tr0ub4dor3"),
    Sample("assigned-secret", "pass\u200bword: {}", "Tr0ub4dor3"),
    Sample("azure-key", "Endpoint=sb://x;AccountKey={};", "A1b2" * 11 + "=="),
    Sample("option", "sshpass -p {} ssh host", "S3cret99"),
    Sample("option", "curl -u admin:{} https://x.io", "S3cretPass"),
    Sample("option", "mysqldump --password {} db", "Hunter2222"),
    Sample("authorization", "Authorization: Token {}", "9944b09199c62bcf9418ad846dd0e4bb"),
    Sample("assigned-secret", "password: {}", "hunter2"),
    Sample("url-password", "postgres://ana:{}@db.acme.io:5432/app?sslmode=require", "s3cret-Pw"),
    Sample("url-password", "redis://:{}@cache:6379/0", "hunter2"),
    Sample("url-password", "git clone https://ana:{}@git.acme.io/site.git", "0auth-pw"),
    Sample("url-password", "amqp://guest:{}@mq", "p:w"),
    Sample("url-password", "postgres://ana:{}@db/app", "p@ss1word"),
    Sample("authorization", "Authorization: Bearer {}", MIXED * 4),
    Sample(
        "authorization", "curl -H 'authorization: bearer {}' https://x.io", "abc.def-123_456~7/+=="
    ),
    Sample("authorization", "Authorization: Basic {}", "YWxhZGRpbjpvcGVuc2VzYW1lMTIz"),
    Sample("authorization", "Authorization: Basic {}", "dXNlcjpzZWNyZXQ="),
    Sample("authorization", '{{"Authorization": "Basic {}"}}', "dXNlcjpzZWNyZXQ="),
    Sample("password", "the password is {} by the way", "hunter2x"),
    Sample("password", "The WiFi password was: {}.", "Winter-2024"),
    Sample("password", "My passphrase is '{}'", "0pen-Sesame"),
    Sample("assigned-secret", "DB_PASSWORD={}\nDB_HOST=db\n", "s3cr3t-pass"),
    Sample("assigned-secret", "export GH_TOKEN={}", "abcd1234efgh"),
    Sample("assigned-secret", "password: {}", "s3cr3t-pass"),
    Sample("assigned-secret", "db:\n  password: '{}'\n  host: db\n", "s3cr3t"),
    Sample("assigned-secret", '{{"api_key": "{}", "id": 7}}', "9f86d081884c"),
    Sample("assigned-secret", '{{"clientSecret" : "{}"}}', "Xy7!pq"),
    Sample("assigned-secret", "API_KEY = '{}'", "9f86d081884c"),
    Sample("assigned-secret", 'secret = "{}"', "9f86d081884c"),
    Sample("assigned-secret", "connect(user='ana', passwd='{}')", "tr0ub4dor"),
    Sample("option", "mysql --password={} -h db", "tr0ub4dor"),
    Sample("assigned-secret", "Server=db;User Id=ana;Pwd={};Timeout=5", "tr0ub4dor&3"),
    Sample("assigned-secret", "GET /v1?access_token={} HTTP/1.1", "9f86d081884c"),
    Sample("assigned-secret", "x-api-key: {}", "9f86d081884c"),
    Sample("assigned-secret", "my API key: {}", "9f86d081884c"),
    Sample("assigned-secret", "password = '{}'", "MyPassw0rd!"),
    Sample("assigned-secret", "password = '{}'", "theBest1!"),
    Sample("assigned-secret", 'password = "{}"', "P@$$w0rd"),
    Sample("assigned-secret", 'token: str = "{}"', "9f86d081884c"),
    Sample("assigned-secret", 'token := "{}"', "9f86d081884c"),
    Sample("assigned-secret", ':token => "{}"', "9f86d081884c"),
    Sample("assigned-secret", 'log: {{\\"password\\": \\"{}\\"}}', "tr0ub4dor"),
    Sample("assigned-secret", "- password: `{}`", "tr0ub4dor"),
    Sample("assigned-secret", "**Password:** {}", "tr0ub4dor"),
]

UNTOUCHED = [
    # prose
    "Forgot your password? Reset it by mail.",
    "A senha é obrigatória, la password è sbagliata.",
    "It cost $6$ and then $1$ more.",
    "The password must be changed every quarter.",
    "Users forget a password, so we send a reset link.",
    "The password is at least 12 characters long.",
    "The password is hashed with bcrypt before it is stored.",
    "The password is SHA-256 hashed before it leaves the browser.",
    "Password: minimum 8 characters, one digit.",
    "password: argon2id, never plain text",
    "Passwords are kept in 1Password.",
    "the secret of success is showing up 100% of the time",
    "Secret Santa is on 2024-12-20.",
    "token count: 4096",
    "The token limit is 128000 and the budget is 2000 tokens.",
    "Bearer tokens are preferred over basic authentication.",
    "We use basic authentication2024 nowhere.",
    "A bearer of 3 flags walked in.",
    "key: value",
    "The key insight: caching wins.",
    "Public key cryptography needs a private key and a public key.",
    "Ask Ana for the credentials.",
    "About the token:\nPostgres16 keeps it in the sessions table.",
    "xoxo-hugs-and-kisses",
    "The forgotten password: support@acme.io answers within a day.",
    # code
    "password = getpass()",
    "token: str",
    "token: Optional[str] = None",
    "def login(user: str, password: Annotated[str, Form()]) -> None:",
    "password: str|None = None",
    "secret: bytes = field(repr=False)",
    'api_key=os.environ["X"]',
    "api_key = os.getenv('OPENAI_API_KEY_2')",
    "const token = process.env.GITHUB_TOKEN_2;",
    "if password == other_password_2:",
    "assert token != expected_token_1",
    "token = tokens[0]",
    "token = parts[1].strip()",
    "self.token = self.tokens.pop(0)",
    "password = user.password1",
    "password=settings.DB_PASSWORD_2",
    "api_key=API_KEY_V2",
    "max_tokens=2048",
    "max_token=204800000",
    "num_tokens = len(tokenizer.encode(text1))",
    '<input type="password" name="pwd1" autocomplete="current-password">',
    "fetch(url, { credentials: 'same-origin' })",
    'rules = {"password": "required|min:8"}',
    "const secret = `${prefix}-${id}`;",
    'f"postgres://{user}:{password}@{host}/{name}"',
    '"mysql://%s:%s@%s/%s" % parts1',
    # configuration
    "password:\n  description: The user's password\n  minLength: 8\n",
    "secret:\n  secretName: tls-cert-2024\n",
    "GOOGLE_APPLICATION_CREDENTIALS=/etc/gcp/service-account-1.json",
    "ssh_private_key=~/.ssh/id_ed25519",
    "PWD=/home/ana/site-2",
    "PWD=C:\\Users\\ana\\site-2",
    "token_url: https://auth.acme.io/v2/token",
    "secret: https://vault.acme.io/ui/v2",
    "password: !vault |",
    # placeholders and masks
    "API_KEY=<your-key>",
    "API_KEY=your-api-key-123",
    "token: ${TOKEN}",
    "token: ${{ secrets.NPM_TOKEN_1 }}",
    "password=$DB_PASSWORD1",
    "password=xxxxxxxx1",
    "password: ********",
    'password: "changeme123"',
    "api_key: sk-...",
    "postgres://app:${DB_PASSWORD}@db/app",
    "postgres://app:<password>@db/app",
    "postgres://app:****@db/app",
    # identifiers and sums
    "fixed in 4fc2c16a9d0b1e2f3a4b5c6d7e8f9a0b1c2d3e4f",
    "run 0196b0f0-7c1a-7d3e-9a55-3f2b1c4d5e6f",
    "sha256:8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6",
    "sha512-" + "q8Xz/Gk" * 12 + "==",
    "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk",
    "sk-button-primary-large-rounded",
    '<div class="sk-toggleable__label sk-toggleable__label-arrow">',
    "call +49 30 901820 or 555-867-5309",
    # addresses
    "http://localhost:8080/@scope/pkg",
    "https://example.com:8443/users/@ana?x=1",
    "https://unpkg.com/react@18.2.0/umd/react.js",
    "https://medium.com/@ana/post-1234567890ab",
    "ana.smith+news@example.com",
    "git@github.com:acme/site.git",
    "ssh://git@github.com:22/acme/site.git",
    "https://git@github.com/acme/site.git",
    "C:\\Users\\ana\\secrets\\notes.txt",
    # not quite a tag
    "</private> was never opened",
    "<privateer> and <private-ish> are no tags",
    "-----BEGIN PUBLIC KEY-----\nMIIBIjANBgkqhkiG9w0B\n-----END PUBLIC KEY-----",
    "",
]


def unique_ids(names: list[str]) -> list[str]:
    """Return ids that differ, short enough to read in a report."""
    return [f"{number} {name[:40]}" for number, name in enumerate(names)]


def mark(kind: str) -> str:
    return f"[redacted:{kind}]"


def text_between_marks(result: RedactionResult) -> list[str]:
    """Return the pieces of the text between the marks."""
    pieces, at = [], 0
    for redaction in result.redactions:
        pieces.append(result.text[at : redaction.start])
        at = redaction.end
    return [*pieces, result.text[at:]]


@each_row("sample", ISSUED, ids=unique_ids([sample.kind for sample in ISSUED]))
def test_an_issued_key_is_replaced_by_its_mark_and_the_rest_stays(sample: Sample) -> None:
    redacted = redact(sample.text.format(sample.secret))

    assert redacted.text == sample.text.format(mark(sample.kind))
    assert [redaction.kind for redaction in redacted.redactions] == [sample.kind]


@each_row("sample", NAMED, ids=unique_ids([sample.text for sample in NAMED]))
def test_a_value_that_is_called_a_secret_is_replaced_and_the_rest_stays(sample: Sample) -> None:
    redacted = redact(sample.text.format(sample.secret))

    assert redacted.text == sample.text.format(mark(sample.kind))
    assert [redaction.kind for redaction in redacted.redactions] == [sample.kind]


@each_row("text", UNTOUCHED, ids=unique_ids(UNTOUCHED))
def test_text_that_is_not_a_secret_is_not_changed(text: str) -> None:
    redacted = redact(text)

    assert redacted == RedactionResult(text, ())


def test_several_secrets_are_each_replaced_in_order() -> None:
    github, stripe = "ghp_" + "a1B2" * 9, "sk_" + "live_" + MIXED * 3
    text = f"first {github}, then postgres://u:pw12@h/db, then {stripe}; token={MIXED}"

    redacted = redact(text)

    assert [redaction.kind for redaction in redacted.redactions] == [
        "github-token",
        "url-password",
        "stripe-key",
        "assigned-secret",
    ]
    assert redacted.text == (
        "first [redacted:github-token], then postgres://u:[redacted:url-password]@h/db, "
        "then [redacted:stripe-key]; token=[redacted:assigned-secret]"
    )


def test_an_issued_key_keeps_its_own_kind_when_it_is_assigned() -> None:
    redacted = redact("GITHUB_TOKEN=ghp_" + "a1B2" * 9)

    assert redacted.text == "GITHUB_TOKEN=[redacted:github-token]"


def test_a_key_that_ends_early_takes_the_whole_assigned_value_with_it() -> None:
    redacted = redact("password=sk-" + MIXED * 3 + "+tail-of-it9")

    assert "tail" not in redacted.text
    assert len(redacted.redactions) == 1


def test_an_address_after_a_token_in_a_query_does_not_save_the_token() -> None:
    redacted = redact(f"https://x.io/in?token={MIXED}9&next=https://y.io/")

    assert MIXED not in redacted.text


def test_a_token_used_as_a_url_user_is_marked_once_and_for_all() -> None:
    once = redact("https://ghp_" + "a1B2" * 9 + "@github.com/acme/site.git")

    twice = redact(once.text)

    assert once.text == "https://[redacted:github-token]@github.com/acme/site.git"
    assert twice.text == once.text


@each_row(
    ("text", "left"),
    [
        ("a <private>my diary</private> b", "a  b"),
        ("a <PRIVATE>my diary</Private> b", "a  b"),
        ("a < private >my diary< / private > b", "a  b"),
        ("a <private\n>my diary</private\n> b", "a  b"),
        ("a <private>x <private>y</private> z</private> b", "a  b"),
        ("<private>x</private>a<private>y</private>", "a"),
        ("a <private>never closed", "a "),
        ("a <private>x <private>y</private> z", "a "),
        ("a </private> b <private>x</private>", "a </private> b "),
        ("<private></private>", ""),
        ("a <private>token=abcd1234efgh</private> b", "a  b"),
    ],
)
def test_a_private_part_is_removed_with_its_content(text: str, left: str) -> None:
    redacted = redact(text)

    assert redacted.text == left
    assert {redaction.kind for redaction in redacted.redactions} == {"private"}


def test_a_private_part_leaves_an_empty_span_where_it_stood() -> None:
    redacted = redact("keep <private>this out</private> this; token=abcd1234efgh")

    assert [
        (redaction.kind, redaction.start, redaction.end) for redaction in redacted.redactions
    ] == [
        ("private", 5, 5),
        ("assigned-secret", 18, 44),
    ]


def test_a_private_part_inside_a_key_block_does_not_save_the_key() -> None:
    block = pem("PRIVATE KEY").replace("BKcw", "<private>x</private>BKcw")

    redacted = redact(f"a {block} b")

    assert "MIIEvQ" not in redacted.text
    assert "BKcw" not in redacted.text


def test_removing_a_private_part_does_not_join_a_secret_together() -> None:
    redacted = redact("sk-" + MIXED + "<private>x</private>" + MIXED * 2)

    assert MIXED not in redacted.text


def test_removing_a_private_part_does_not_open_another() -> None:
    redacted = redact("<pri<private>x</private>vate>my diary</private>")

    assert "diary" not in redacted.text


FRAGMENTS = [
    *(sample.secret for sample in [*ISSUED, *NAMED]),
    *("<private>", "</private>", "< private >", "<pri", "vate>", "-----BEGIN PRIVATE KEY-----"),
    *("password", "token", "api_key", "secret", "pwd", "Bearer", "authorization: basic"),
    *("://", "https://", "@", ":", "=", "==", " is ", "was", " ", "\n", '"', "'", "`", ",", ";"),
    *("[redacted:jwt]", "[", "]", "(", "${X}", "***", "sk-", "eyJ", "SG.", "AIza", "GOCSPX-"),
]
texts = st.lists(
    st.sampled_from(FRAGMENTS) | st.text(max_size=4) | st.text(string.ascii_letters, max_size=3),
    max_size=12,
).map("".join)


@pytest.mark.fuzz
@given(texts)
@settings(max_examples=100)
def test_a_redacted_text_does_not_change_when_redacted_again(text: str) -> None:
    once = redact(text)

    assert redact(once.text).text == once.text


@pytest.mark.fuzz
@given(texts)
@settings(max_examples=100)
def test_every_span_points_at_its_mark(text: str) -> None:
    redacted = redact(text)

    for redaction in redacted.redactions:
        expected = "" if redaction.kind == "private" else mark(redaction.kind)
        assert redacted.text[redaction.start : redaction.end] == expected


@pytest.mark.fuzz
@given(texts)
@settings(max_examples=100)
def test_the_text_between_the_marks_is_the_original_text_in_order(text: str) -> None:
    pieces = text_between_marks(redact(text))

    assert text.startswith(pieces[0])
    assert text.endswith(pieces[-1])
    at = 0
    for piece in pieces:
        at = text.find(piece, at)
        assert at >= 0
        at += len(piece)


@given(st.text(string.ascii_letters + " .,\n", max_size=200))
def test_plain_words_are_never_touched(text: str) -> None:
    redacted = redact(text)

    assert redacted == RedactionResult(text, ())


LONG = 200_000
# name: the text, and the kinds that are found in it
HOSTILE: dict[str, tuple[str, set[str]]] = {
    "opening tags": ("<private>" * (LONG // 9), {"private"}),
    "private parts among keys": (
        ("<private>a</private> sk-" + MIXED * 3 + " ") * (LONG // 48),
        {"private", "openai-key"},
    ),
    "tags inside tags": (
        "<pri" * (LONG // 19) + "<private></private>" + "vate></private>" * (LONG // 19),
        {"private"},
    ),
    "a tag full of spaces": ("<" + " " * LONG, set()),
    "a closing tag full of spaces": ("<" + " " * (LONG // 2) + "/" + " " * (LONG // 2), set()),
    "schemes": ("://" * (LONG // 3), set()),
    "a scheme that never ends": ("://" + "a.b" * (LONG // 3), set()),
    "dashes after a keyword": ("token " + "a-" * (LONG // 2), set()),
    "digits after a keyword": ("token " + "1" * LONG, set()),
    "keywords": ("token-" * (LONG // 6), set()),
    "a password that never comes": ("password is" + " " * LONG, set()),
    "an open key block": (
        "-----BEGIN PRIVATE KEY-----" + "-----END A " * (LONG // 11),
        {"private-key"},
    ),
    "starts of a web token": ("eyJ-" * (LONG // 4), set()),
    "starts of a key": ("sk-" * (LONG // 3), set()),
    "assignments": ("token=" * (LONG // 6), {"assigned-secret"}),
    "nouns": ("password " * (LONG // 36), set()),
    "nouns and verbs": ("password is " * (LONG // 48), set()),
    "backslashes": ("\\" * LONG, set()),
    "escaped letters": ("\\u0041" * (LONG // 6), set()),
    "escaped percent signs": ("%25" * (LONG // 3), set()),
    "options": ("--password " * (LONG // 44), set()),
    "users": ("://a:" * (LONG // 5), set()),
    "cookies": ("cookie: a=b;" * (LONG // 12), set()),
    "nouns of another language": ("密码是" * (LONG // 12), set()),
}


@pytest.mark.fuzz
@pytest.mark.timeout(20)
@pytest.mark.parametrize(("text", "kinds"), HOSTILE.values(), ids=HOSTILE.keys())
def test_a_long_hostile_text_is_read_in_time(text: str, kinds: set[str]) -> None:
    redacted = redact(text)

    assert {redaction.kind for redaction in redacted.redactions} == kinds


def test_lines_keep_their_numbers_if_requested() -> None:
    key = "-----BEGIN PRIVATE KEY-----\nMIIabc\n-----END PRIVATE KEY-----"
    text = f"one\n{key}\nfive <private>a\nb</private> six\nseven"

    expected = "one\n[redacted:private-key]\n\n\nfive \n six\nseven"
    assert redact(text, keep_lines=True).text == expected
    assert remove_multiline_secrets(text) == expected


def test_multiline_secrets_are_removed_and_short_ones_are_not() -> None:
    assert remove_multiline_secrets("password = 'hunter22x'") == "password = 'hunter22x'"
    assert remove_multiline_secrets("a <private>b\nc") == "a \n"


def test_private_parts_that_appear_repeatedly_are_removed_in_the_end() -> None:
    nested = "secret"
    for _ in range(8):
        nested = f"<<private>x</private>private>\n{nested}"

    left = remove_multiline_secrets(nested)

    assert "secret" not in left
    assert left.count("\n") == nested.count("\n")
