"""
Find keys that a service issued: their prefix or shape identifies them without any context.

Each format names the fixed strings (clues) that it contains. The clues are searched first, which is
fast; a pattern is tried only at a clue. Every pattern reads a bounded text or one run of
characters, so the time is linear.
"""

import re
from collections.abc import Iterator

from recollect.lazy_dataclass import dataclass
from recollect.text.lazy_pattern import LazyPattern

MIN_LENGTH = 16  # no issued key is shorter
_MAX_LENGTH = 400  # of a key whose clue is not at its beginning

SecretSpan = tuple[int, int, str]


@dataclass(frozen=True)
class KeyFormat:
    """
    The keys of one service.

    *pattern*: matches from the clue on, or, if *before* is set, from at most that many characters
    before it. Group "secret" is the key, or the whole match.
    """

    kind: str
    clues: tuple[str, ...]
    pattern: LazyPattern
    before: int = 0


def _prefixed(kind: str, rest: str, *prefixes: str) -> KeyFormat:
    """Return the format of keys with one of *prefixes*, followed by the pattern *rest*."""
    starts = "|".join(map(re.escape, prefixes))
    return KeyFormat(kind, prefixes, LazyPattern(rf"(?<![A-Za-z0-9])(?:{starts}){rest}"))


def _format(kind: str, clues: str, pattern: str, before: int = 0) -> KeyFormat:
    return KeyFormat(kind, tuple(clues.split()), LazyPattern(pattern), before)


_ANY = r"[A-Za-z0-9_-]"
_UUID = r"[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}"
_PEM = "-----BEGIN"
_KEY_BLOCKS = (
    _format(
        "private-key",
        _PEM,
        r"-----BEGIN (?:[A-Z0-9]+ ){0,4}PRIVATE KEY(?: BLOCK)?-----"
        r"[\s\S]*?(?:-----END (?:[A-Z0-9]+ ){0,4}PRIVATE KEY(?: BLOCK)?-----|\Z)",
    ),
    _format(
        "private-key",
        "Private-Lines:",
        r"Private-Lines: \d+\s{1,9}(?P<secret>(?:[\w+/=]+\s{0,9})+)",
    ),
)
FORMATS: tuple[KeyFormat, ...] = (
    _format(
        "password-hash",
        "$apr1$ $1$ $5$ $6$ $y$ $2a$ $2b$ $2y$",
        r"\$(?:apr1|[156y]|2[aby])\$[\w./$=,+-]{20,400}",
    ),
    _format(
        "password",
        "ConvertTo-SecureString",
        r"ConvertTo-SecureString\s{1,8}(?:-String\s{1,8})?[\"'](?P<secret>[^\"'\n$]{4,200})[\"']",
    ),
    _prefixed("age-key", r"[0-9A-Z]{50,}", "AGE-SECRET-KEY-1"),
    _prefixed("anthropic-key", _ANY + "{20,}", "sk-ant-"),
    _prefixed("openai-key", r"(?:proj-|svcacct-|admin-|or-v1-)?" + _ANY + "{20,}", "sk-"),
    _format("aws-access-key", "AKIA ASIA ABIA ACCA", r"\b(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}\b"),
    _prefixed("aws-bedrock-key", r"[A-Za-z0-9+/=]{60,}", "ABSK"),
    _prefixed("github-token", r"[A-Za-z0-9]{36,255}\b", "ghp_", "gho_", "ghu_", "ghs_", "ghr_"),
    _prefixed("github-token", r"\w{22,255}\b", "github_pat_"),
    _prefixed(
        "gitlab-token",
        _ANY + "{20,}",
        *[
            "glpat-",
            "gldt-",
            "glrt-",
            "glcbt-",
            "glptt-",
            "glft-",
            "glsoat-",
            "glagent-",
            "glimt-",
            "gloas-",
            "GR1348941",
        ],
    ),
    _prefixed("slack-token", r"[A-Za-z0-9.-]{10,}", *(f"xox{kind}-" for kind in "abeoprsd")),
    _prefixed("slack-token", r"[A-Za-z0-9-]{10,}", "xoxe.xoxp-", "xoxe.xoxb-", "xapp-"),
    _format(
        "slack-webhook",
        "hooks.slack.com/",
        r"hooks\.slack\.com/(?:services|workflows|triggers)/(?P<secret>[\w/-]{20,})",
    ),
    _format(
        "webhook",
        "/api/webhooks/ hooks.zapier.com/ webhook.office.com/",
        r"/api/webhooks/\d{10,}/(?P<secret>[\w-]{40,})"
        r"|hooks\.zapier\.com/hooks/catch/(?P<secret2>\d+/\w{6,})"
        r"|webhook\.office\.com/webhookb2/(?P<secret3>[\w@/-]{36,})",
    ),
    _format("google-key", "AIza", r"\bAIza[\w-]{35}(?![\w-])"),
    _prefixed("google-key", _ANY + "{28,}", "GOCSPX-"),
    _prefixed("google-token", _ANY + "{20,}", "ya29.", "1//0"),
    _format("google-key", ":APA91b", r"\b[\w-]{8,20}:APA91b[\w-]{100,}", 24),
    _prefixed(
        "stripe-key", "[0-9A-Za-z]{16,}", "sk_live_", "sk_test_", "rk_live_", "rk_test_", "sk_"
    ),
    _prefixed("stripe-key", r"[0-9A-Za-z+/=]{24,}", "whsec_"),
    _prefixed("huggingface-token", r"[A-Za-z0-9]{30,}", "hf_", "api_org_"),
    _prefixed("npm-token", r"[A-Za-z0-9]{36}\b", "npm_"),
    _prefixed("pypi-token", _ANY + "{50,}", "pypi-"),
    _prefixed("sendgrid-key", r"[\w-]{16,32}\.[\w-]{16,64}", "SG."),
    _format("twilio-key", "SK", r"\bSK[0-9a-f]{32}\b"),
    _format("twilio-key", "AC", r"\bAC[0-9a-f]{32}:(?P<secret>[0-9a-f]{32})\b"),
    _prefixed("digitalocean-token", r"[a-f0-9]{64}\b", "dop_v1_", "doo_v1_", "dor_v1_"),
    _format("telegram-token", ":AA", r"\b\d{8,10}:AA[\w-]{32,35}(?![\w-])", 10),
    _format(
        "discord-token",
        "MT Nz OD Nj",
        r"\b(?:MT|Nz|OD|Nj)[\w-]{22,26}\.[\w-]{6}\.[\w-]{27,40}(?![\w-])",
    ),
    _format("databricks-token", "dapi", r"\bdapi[a-f0-9]{32}(?:-\d)?\b"),
    _prefixed("vault-token", _ANY + "{24,}", "hvs.", "hvb.", "hvr."),
    _format("azure-key", "Q~", r"(?<![\w~.])[\w~.]{3}\dQ~[\w~.-]{31,34}", 4),
    _format(
        "azure-key",
        "AccountKey= SharedAccessKey=",
        r"(?:Account|SharedAccess)Key=(?P<secret>[A-Za-z0-9+/=]{40,})",
    ),
    _format(
        "signature", "sig= X-Amz-Signature=", r"(?:sig|X-Amz-Signature)=(?P<secret>[\w%+/=-]{32,})"
    ),
    _format("sentry-dsn", "://", r"://(?P<secret>[0-9a-f]{32})(?=@[\w.-]*/\d)"),
    _format(
        "url-token", "://", r"://(?P<secret>[A-Za-z0-9_-]{20,})(?=(?::[^\s/@]{1,200})?@[\w.-]+)"
    ),
    _format("mailchimp-key", "-us", r"\b[0-9a-f]{32}-us\d{1,2}\b", 32),
    _prefixed("mailgun-key", r"[0-9a-f]{32}\b", "key-"),
    _format("terraform-token", ".atlasv1.", r"\b\w{14}\.atlasv1\.[\w-]{60,70}", 14),
    _format("asana-token", "1/ 2/", r"(?<![\w/])[12]/\d{16}(?:/\d{1,20})?:[0-9a-f]{32}\b"),
    _format("airtable-token", "pat", r"\bpat\w{14}\.[0-9a-f]{64}\b"),
    _format("square-token", "EAAA", r"\bEAAA[\w-]{56,64}(?![\w-])"),
    _prefixed("facebook-token", r"[A-Za-z0-9]{60,}", "EAAB", "EAAC", "EAAG"),
    _format("mapbox-token", "sk.eyJ", r"\bsk\.eyJ[\w-]{20,}\.[\w-]{20,}"),
    _prefixed("heroku-key", _UUID, "HRKU-"),
    _prefixed("launchdarkly-key", _UUID, "sdk-", "api-", "mob-", "sk-lf-"),
    _prefixed("plaid-token", _UUID, "access-production-", "access-sandbox-", "access-development-"),
    _prefixed("notion-token", r"[A-Za-z0-9]{43}\b", "secret_"),
    _prefixed("dynatrace-token", r"[A-Z0-9]{24}\.[A-Z0-9]{64}", "dt0c01.", "dt0s01."),
    _prefixed("cloudflare-key", r"[0-9a-f]{24}-[0-9a-f]{100,}", "v1.0-"),
    _prefixed("fly-token", r"[A-Za-z0-9+/=,_-]{40,}", "FlyV1 fm2_", "fm2_"),
    _prefixed("resend-key", r"[A-Za-z0-9]{8}_[A-Za-z0-9]{20,}", "re_"),
    _prefixed("atlassian-token", r"[A-Za-z0-9_=-]{60,}", "ATATT3", "ATCTT3"),
    _format("atlassian-token", "ATBB", r"\bATBB[A-Za-z0-9]{32}\b"),
    _prefixed("dropbox-token", _ANY + "{100,}", "sl."),
    _prefixed("sendinblue-key", r"[0-9a-f]{64}-\w{16}", "xkeysib-", "xsmtpsib-"),
    _prefixed("flutterwave-key", r"[0-9a-zA-Z]{32}-X", "FLWSECK-", "FLWSECK_TEST-"),
    _prefixed("alibaba-key", r"[A-Za-z0-9]{20}\b", "LTAI"),
    _prefixed("artifactory-key", r"[A-Za-z0-9]{60,}", "AKCp", "cmVmd"),
    _prefixed("1password-key", r"[A-Za-z0-9+/=]{100,}", "ops_eyJ"),
    _prefixed("easypost-key", r"[A-Za-z0-9]{54}\b", "EZAK", "EZTK"),
    _prefixed("nuget-key", r"[a-z0-9]{43}\b", "oy2"),
    _prefixed("crates-token", r"[A-Za-z0-9]{32}\b", "cio"),
    _prefixed(
        "service-key",
        r"[A-Za-z0-9_.=+/~-]{19,}",
        *[
            "gsk_",
            "xai-",
            "lin_api_",
            "lin_oauth_",
            "ntn_",
            "r8_",
            "tvly-",
            "pplx-",
            "fw_",
            "shpat_",
            "shpca_",
            "shppa_",
            "shpss_",
            "sq0csp-",
            "sq0atp-",
            "sq0idp-",
            "NRAK-",
            "NRII-",
            "NRJS-",
            "NRAA-",
            "sntrys_",
            "sntryu_",
            "dp.pt.",
            "dp.st.",
            "dp.ct.",
            "dp.sa.",
            "dp.scim.",
            "dp.audit.",
            "pscale_tkn_",
            "pscale_pw_",
            "pscale_oauth_",
            "PMAK-",
            "pul-",
            "rubygems_",
            "shippo_live_",
            "shippo_test_",
            "sbp_",
            "sb_secret_",
            "tskey-",
            "tfp_",
            "glsa_",
            "glc_eyJ",
            "dckr_pat_",
            "dckr_oat_",
            "figd_",
            "nvapi-",
            "lsv2_pt_",
            "lsv2_sk_",
            "pcsk_",
            "jina_",
            "napi_",
            "CFPAT-",
            "pnu_",
            "rnd_",
            "CLOJARS_",
            "rdme_",
            "duffel_live_",
            "duffel_test_",
            "fio-u-",
            "sqp_",
            "squ_",
            "sqa_",
            "vercel_blob_rw_",
            "nfp_",
            "vcp_",
            "vck_",
            "bkua_",
            "CCIPAT_",
            "CCIPRJ_",
            "phx_",
            "sgp_",
            "waka_",
            "AstraCS:",
            "eyJrIjoi",
        ],
    ),
    _prefixed("service-key", r"[A-Za-z0-9]{14,}", "rzp_live_", "rzp_test_"),
    _format("jwt", "eyJ", r"(?<![A-Za-z0-9_-])eyJ[\w-]{8,}\.eyJ[\w-]{8,}\.[\w-]{8,}"),
)
_BY_CLUE: tuple[tuple[str, KeyFormat], ...] = tuple(
    (clue, format_) for format_ in FORMATS for clue in format_.clues
)
_RUN = LazyPattern(r"[A-Za-z0-9_.+/=~:@$-]{13,}")
_DIGIT = LazyPattern("[0-9]")
_ORDINARY = LazyPattern(r"(?i)x{5}|\.{3}|your|example[-_]|placeholder|([a-z.])\1{7}|<|\*{3}")


def issued_keys(text: str) -> Iterator[SecretSpan]:
    """Yield the span and the kind of each issued key in *text*."""
    for format_ in _KEY_BLOCKS:
        for clue in format_.clues:
            if clue in text:
                yield from _keys_of(format_, clue, text)
    words = text.split()
    if max(map(len, words), default=0) < MIN_LENGTH:
        return
    long_words = [word for word in words if len(word) >= MIN_LENGTH]
    runs = [run for run in _RUN.findall("\n".join(long_words)) if _may_be_random(run)]
    searched = "\n".join(runs)  # usually a small part of the text
    for clue, format_ in _BY_CLUE:
        if clue in searched:
            yield from _keys_of(format_, clue, text)


def private_keys(text: str) -> list[SecretSpan]:
    """Return the spans of the private keys in *text*, which have several lines."""
    return list(_keys_of(_KEY_BLOCKS[0], _PEM, text)) if _PEM in text else []


def _keys_of(format_: KeyFormat, clue: str, text: str) -> Iterator[SecretSpan]:
    at = text.find(clue)
    while at >= 0:
        end = at + len(clue)
        if match := _match(format_, text, at):
            group = next((name for name, value in match.groupdict().items() if value), 0)
            start, last = match.span(group)
            if format_ in _KEY_BLOCKS or _is_random(text[start:last]):
                yield start, last, format_.kind
            end = max(match.end(), end)
        at = text.find(clue, end)


def _may_be_random(run: str) -> bool:
    return not run.isalpha() and (_DIGIT.search(run) is not None or not run.islower())


def _match(format_: KeyFormat, text: str, at: int) -> re.Match[str] | None:
    if not format_.before:
        return format_.pattern.match(text, at)
    return format_.pattern.search(text, max(0, at - format_.before), at + _MAX_LENGTH)


def _is_random(key: str) -> bool:
    """Return whether *key* is not a name or a placeholder: sk-button-primary, ghp_xxxx."""
    if _ORDINARY.search(key):
        return False
    mixed = any(char.islower() for char in key) and any(char.isupper() for char in key[4:])
    return mixed or any(char.isdigit() for char in key[3:])
