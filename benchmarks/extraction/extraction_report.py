"""Render the results of `benchmarks.extraction` as Markdown."""

from collections.abc import Mapping, Sequence
from textwrap import fill

from benchmarks.extraction import handwritten, realmem
from benchmarks.extraction.proportion import Proportion, with_interval
from benchmarks.extraction.record_coverage import RULE
from benchmarks.markdown_table import table

WIDTH = 100
HANDWRITTEN = """\
Short messages written by hand, half of them with something worth remembering, half with something
that only looks like it. Each was captured as the only message of a session, in a store of its own,
with no model of any kind. *Found*: at least one candidate came of it. Shares in per cent, with
Wilson's 95 % interval. The rules were written with `dev` in view; of `test` only the figures are
looked at.
"""
REALMEM = f"""\
RealMem: sessions of people with an assistant, captured in order by rules alone, and the records
others made of those sessions. The measure: {RULE}. Half of the records rest on what the assistant
said, which is never taken for a fact; *records of the user* are the others. About half of the
sessions are distractors without a record: what is found there counts as wrong, true or not. Beside
it, what taking every sentence of the user for a candidate would come to. Three people (`dev`) may
be read by those who write rules; of the other two (`test`) only the figures are looked at.
"""


def render_handwritten(splits: Mapping[str, handwritten.HandwrittenScores]) -> list[str]:
    """Return the part about the hand-written set."""
    first = next(iter(splits.values()))
    rows = [
        ["texts", *(str(scores.texts) for scores in splits.values())],
        ["**precision**: of the texts that yield, those that hold something"]
        + [with_interval(scores.precision) for scores in splits.values()],
        ["**recall**: of the texts that hold something, those found"]
        + [with_interval(scores.recall) for scores in splits.values()],
        [
            "right type, of those found",
            *(with_interval(scores.right_type) for scores in splits.values()),
        ],
        ["texts that hold nothing and yield"]
        + [with_interval(scores.false_positives) for scores in splits.values()],
        ["junk: candidates from texts that hold nothing, of all candidates"]
        + [with_interval(scores.junk) for scores in splits.values()],
    ]
    kinds = [
        [kind, *(_recall_and_type(*scores.by_kind[kind]) for scores in splits.values())]
        for kind in first.by_kind
    ]
    traps = [
        [trap, *(_of(scores.by_trap[trap]) for scores in splits.values())] for trap in first.by_trap
    ]
    return [
        "## The hand-written set",
        "",
        HANDWRITTEN,
        *table(["", *splits], rows),
        "",
        "Found, and of those found with the right type:",
        "",
        *table(["kind", *splits], kinds),
        "",
        "What holds nothing and yielded all the same:",
        "",
        *table(["kind of nothing", *splits], traps),
        "",
    ]


def render_realmem(
    splits: Mapping[str, realmem.RealMemScores],
    everything: Mapping[str, realmem.RealMemScores],
    captured: realmem.CapturedSessions,
    messages: int,
) -> list[str]:
    """Return the part about RealMem."""
    columns = {
        **{f"rules, {split}": scores for split, scores in splits.items()},
        **{f"every sentence, {split}": scores for split, scores in everything.items()},
    }
    each = list(columns.values())
    rows = [
        ["sessions", *(f"{scores.sessions:,}" for scores in each)],
        ["candidates", *(f"{scores.findings:,}" for scores in each)],
        [
            "candidates per session",
            *(f"{scores.findings / scores.sessions:.2f}" for scores in each),
        ],
        ["**recall**, all records", *(with_interval(scores.recall) for scores in each)],
        [
            "**recall**, records of the user",
            *(with_interval(scores.recall_of_user) for scores in each),
        ],
        [
            "**precision**, in sessions with records",
            *(with_interval(scores.precision) for scores in each),
        ],
        [
            "precision, in all sessions",
            *(with_interval(scores.precision_overall) for scores in each),
        ],
        [
            "sessions without records that yield nothing",
            *(with_interval(scores.quiet) for scores in each),
        ],
    ]
    sessions = sum(scores.sessions for scores in splits.values())
    took = captured.capture_s + captured.drain_s
    return [
        "## RealMem",
        "",
        fill(REALMEM, WIDTH),
        "",
        *table(["", *columns], rows),
        "",
        f"{sessions:,} sessions with {messages:,} messages were captured in "
        f"{captured.capture_s:.1f} s and processed in {captured.drain_s:.1f} s, embeddings off: "
        f"{sessions / took:.0f} sessions and {messages / took:,.0f} messages a second.",
        "",
        "By rule, those that cover a record: in sessions with records, and in all.",
        "",
        *table(["rule", *_by_rule_header(splits)], _by_rule(splits)),
        "",
    ]


def _by_rule_header(splits: Mapping[str, realmem.RealMemScores]) -> list[str]:
    return [name for split in splits for name in (f"{split}, with records", f"{split}, all")]


def _by_rule(splits: Mapping[str, realmem.RealMemScores]) -> list[Sequence[str]]:
    rules = sorted({rule for scores in splits.values() for rule in scores.by_rule})
    none = (Proportion(0, 0), Proportion(0, 0))
    return [
        [
            rule,
            *(str(share) for scores in splits.values() for share in scores.by_rule.get(rule, none)),
        ]
        for rule in rules
    ]


def _recall_and_type(recall: Proportion, typed: Proportion) -> str:
    return f"{recall.part} of {recall.whole}, {typed.part}"


def _of(share: Proportion) -> str:
    return f"{share.part} of {share.whole}"
