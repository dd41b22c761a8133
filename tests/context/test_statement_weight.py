"""A sentence that would be missed later weighs more than talk."""

from recollect.context.summary.statement_weight import statement_weight
from recollect.text.sentence_classifier import normalize_sentence
from tables import each_row


@each_row(
    ("lasting", "passing"),
    [
        ("The hall holds at most 80 people, never more.", "Haha, that was a long evening."),
        ("Every invoice needs a number without gaps.", "Can you show me the invoice again?"),
        ("We go with the oak floor instead.", "I was at the floor shop yesterday."),
        ("Ilona keeps the keys of the boat house.", "Where are the keys?"),
        ("Backups run at 02:30 on Sundays.", "It looks weird right now."),
        ("Deliveries stop on Friday, because the road is closed.", 'He wrote: "we stop on Friday"'),
    ],
)
def test_what_lasts_weighs_more_than_what_passes(lasting: str, passing: str) -> None:
    assert statement_weight(lasting, normalize_sentence(lasting)) > 1.5 * statement_weight(
        passing, normalize_sentence(passing)
    )
