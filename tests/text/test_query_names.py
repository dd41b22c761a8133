"""Which words of a question are names."""

from recollect.text.query_names import names_in_query
from tables import each_row


@each_row(
    ("query", "names"),
    [
        ("What does Caroline's necklace symbolize?", {"Caroline"}),
        ("Which podcast does Alen Jansen host?", {"Alen", "Jansen"}),
        ("Caroline has which necklace?", set()),  # a sentence begins with a capital
        ("Okay. Let me see, Anna said so. Hello Bob!", {"Anna", "Bob"}),
        ("What did I say on Friday, May 3rd?", set()),
        ("Where is my CV?", set()),
        ("do we use O'Reilly books in Bad Homburg", {"Reilly", "Bad", "Homburg"}),
        ("where did i leave my keys", set()),
        ("Wo wohnt Jürgen?", {"Jürgen"}),
        ("", set()),
        ("?!", set()),
    ],
)
def test_a_name_has_a_capital_inside_its_sentence(query: str, names: set[str]) -> None:
    assert names_in_query(query) == names
