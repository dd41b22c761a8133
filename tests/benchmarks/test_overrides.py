"""Constants are set for one run and put back; what is no constant is refused."""

import pytest

from benchmarks.overrides import NotAConstant, Override, applied, parse_override, settings_of
from recollect.app import background
from recollect.client import recall as client_recall
from recollect.domain import promotion_policy
from recollect.service import context, recall

SURE = "recollect.domain.promotion_policy.SURE"  # a float
TOOL = "recollect.service.recall.TOOL_NAME"  # a text that another module imports


def test_a_constant_holds_inside_and_is_put_back() -> None:
    before = promotion_policy.MIN_CONFIDENCE

    with applied([parse_override(f"{SURE}=0.75")]):
        inside = promotion_policy.MIN_CONFIDENCE

    assert (inside, promotion_policy.MIN_CONFIDENCE) == (0.75, before)


def test_it_is_put_back_after_an_error() -> None:
    before = promotion_policy.MIN_CONFIDENCE

    with pytest.raises(RuntimeError), applied([Override(SURE, 0.75)]):
        raise RuntimeError

    assert before == promotion_policy.MIN_CONFIDENCE


def test_modules_that_import_the_constant_have_it_too() -> None:
    before = recall.TOOL_NAME

    with applied([parse_override(f"{TOOL} = 'other'")]):
        inside = recall.TOOL_NAME, vars(context)["TOOL_NAME"]

    assert inside == ("other", "other")
    assert recall.TOOL_NAME == vars(context)["TOOL_NAME"] == before


def test_another_constant_of_the_same_name_and_value_stays_as_it_is() -> None:
    assert background.FIRST_REST_S == client_recall.FIRST_BACKOFF_S

    with applied([Override("recollect.app.background.FIRST_REST_S", 9.0)]):
        inside = background.FIRST_REST_S, client_recall.FIRST_BACKOFF_S

    assert inside == (9.0, client_recall.FIRST_BACKOFF_S)


def test_a_whole_number_is_good_enough_where_a_float_is_wanted() -> None:
    assert parse_override(f"{SURE}=1") == Override(SURE, 1.0)


@pytest.mark.parametrize(
    ("written", "complaint"),
    [
        (SURE, "has no value"),
        (f"{SURE}=", "no Python literal"),
        (f"{SURE}=much", "no Python literal"),
        (f"{SURE}='0.5'", "is a float"),
        (f"{SURE}=True", "is a float"),
        ("recollect.domain.promotion_policy.SURER=0.5", "it has .*SURE"),
        ("recollect.domain.promotion_policy.promote=0.5", "no constant"),
        ("recollect.domain.promotions.SURE=0.5", "no module recollect.domain.promotions"),
        ("os.sep='/'", "not in recollect"),
        ("SURE=0.5", "not in recollect"),
    ],
)
def test_what_does_not_fit_is_refused(written: str, complaint: str) -> None:
    with pytest.raises(NotAConstant, match=complaint):
        parse_override(written)


def test_only_what_reads_leaves_the_store_alone() -> None:
    assert not Override("recollect.retrieval.score_fusion.SHARE", 0.5).changes_the_store
    assert Override("recollect.text.chunks.SIZE", 5).changes_the_store


def test_settings_are_kept_by_name_as_json_can_hold_them() -> None:
    kept = settings_of([Override(SURE, 0.5), Override("recollect.a.B", frozenset("ba"))])

    assert kept == {SURE: 0.5, "recollect.a.B": ["a", "b"]}
