"""Constants are changed for one run and restored; unknown names and wrong types are refused."""

import pytest

from benchmarks.constant_overrides import (
    NotAConstant,
    Override,
    apply_overrides,
    parse_override,
    settings_of,
)
from recollect.domain import promotion_policy
from recollect.retrieval import ranking_constants
from recollect.service import search_messages, task_context
from tables import each_row

CONFIDENCE = "recollect.domain.promotion_policy.MIN_CONFIDENCE"  # a float
TOOL = "recollect.service.search_messages.TOOL_NAME"  # a text that another module imports


def test_a_constant_holds_inside_and_is_put_back() -> None:
    before = promotion_policy.MIN_CONFIDENCE

    with apply_overrides([parse_override(f"{CONFIDENCE}=0.75")]):
        inside = promotion_policy.MIN_CONFIDENCE

    assert (inside, promotion_policy.MIN_CONFIDENCE) == (0.75, before)


def test_it_is_put_back_after_an_error() -> None:
    before = promotion_policy.MIN_CONFIDENCE

    with pytest.raises(RuntimeError), apply_overrides([Override(CONFIDENCE, 0.75)]):
        raise RuntimeError

    assert before == promotion_policy.MIN_CONFIDENCE


def test_modules_that_import_the_constant_have_it_too() -> None:
    before = search_messages.TOOL_NAME

    with apply_overrides([parse_override(f"{TOOL} = 'other'")]):
        inside = search_messages.TOOL_NAME, vars(task_context)["TOOL_NAME"]

    assert inside == ("other", "other")
    assert search_messages.TOOL_NAME == vars(task_context)["TOOL_NAME"] == before


def test_another_constant_of_the_same_name_and_value_stays_as_it_is() -> None:
    before = ranking_constants.ADJACENT_TOP
    assert before == ranking_constants.CONFLICT_TOP

    with apply_overrides([Override("recollect.retrieval.ranking_constants.ADJACENT_TOP", 9)]):
        inside = ranking_constants.ADJACENT_TOP, ranking_constants.CONFLICT_TOP

    assert inside == (9, before)


def test_a_whole_number_is_good_enough_where_a_float_is_wanted() -> None:
    assert parse_override(f"{CONFIDENCE}=1") == Override(CONFIDENCE, 1.0)


@each_row(
    ("written", "complaint"),
    [
        (CONFIDENCE, "has no value"),
        (f"{CONFIDENCE}=", "no Python literal"),
        (f"{CONFIDENCE}=much", "no Python literal"),
        (f"{CONFIDENCE}='0.5'", "is a float"),
        (f"{CONFIDENCE}=True", "is a float"),
        ("recollect.domain.promotion_policy.MIN_CONFIDENCES=0.5", "it has .*MIN_CONFIDENCE"),
        ("recollect.domain.promotion_policy.promote=0.5", "no constant"),
        ("recollect.domain.promotions.MIN_CONFIDENCE=0.5", "no module recollect.domain.promotions"),
        ("os.sep='/'", "not in recollect"),
        ("MIN_CONFIDENCE=0.5", "not in recollect"),
    ],
)
def test_what_does_not_fit_is_refused(written: str, complaint: str) -> None:
    with pytest.raises(NotAConstant, match=complaint):
        parse_override(written)


def test_only_what_reads_leaves_the_store_alone() -> None:
    assert not Override("recollect.retrieval.ranking_constants.WORD_WEIGHT", 0.5).changes_the_store
    assert Override("recollect.text.chunks.CHUNK_SIZE", 5).changes_the_store


def test_settings_are_kept_by_name_as_json_can_hold_them() -> None:
    settings = settings_of([Override(CONFIDENCE, 0.5), Override("recollect.a.B", frozenset("ba"))])

    assert settings == {CONFIDENCE: 0.5, "recollect.a.B": ["a", "b"]}
