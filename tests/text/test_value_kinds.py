"""The values of a statement, by kind, in the languages that are known."""

from recollect.text.value_kinds import values_by_kind
from tables import each_row


@each_row(
    ("text", "kind", "values"),
    [
        ("deploys run every Tuesday at 10:00", "weekday", {"tues"}),
        ("deploys run every Tuesday at 10:00", "time", {"10:00"}),
        ("wir liefern jetzt immer am Donnerstag aus", "weekday", {"donnerstag"}),
        ("le magasin est fermé le lundi et le mardi", "weekday", {"lundi", "mardi"}),
        ("例会改到星期三了", "weekday", {"星期三"}),
        ("country loaf is £4.80", "money", {"£4.80"}),
        ("the draft is due in March", "month", {"march"}),
        ("we keep invoices for 8 years", "unit year", {"8"}),
        ("we keep invoices for ten years", "unit year", {"ten"}),
        ("the loaf has 78 % water", "share", {"78%"}),
    ],
)
def test_a_value_is_found_with_its_kind(text: str, kind: str, values: set[str]) -> None:
    assert values_by_kind(text)[kind] == values


def test_a_text_without_values_has_none() -> None:
    assert values_by_kind("the detective is called Ilse") == {}
