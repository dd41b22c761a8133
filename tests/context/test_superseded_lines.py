"""Which later statement supersedes an earlier one, and which only shares its words."""

from recollect.context.summary.superseded_lines import supersedes
from tables import each_row


@each_row(
    ("old", "new"),
    [
        ("we render the maps with Leaflet", "forget Leaflet, the maps are on MapLibre"),
        ("the hens eat barley", "no more barley, they get oats"),
        ("a session lasts 30 minutes", "a session lasts 45 minutes"),
        ("the choir meets on Tuesday", "the choir meets on Thursday now"),
        ("the fence is painted green", "green was too dark, paint it white"),
        ("we ship the crates by rail", "rail is out, we use lorries"),
        ("the tour starts on the 4th of May", "the tour moved, it starts on the 9th"),
        ("Ottokar does the payroll", "Ottokar quit, Femke does the payroll"),
        ("my dentist is Dr Loos", "my dentist is Dr Abara"),
    ],
)
def test_a_later_statement_supersedes_what_it_rejects_or_changes(old: str, new: str) -> None:
    assert supersedes(new, old)


@each_row(
    ("old", "new"),
    [
        ("bay 4 holds 12 crates", "bay 5 holds 10 crates"),
        ("the adult ticket is 14 euros", "the child ticket is 9 euros"),
        ("the hens eat barley", "the geese eat barley"),
        ("we ship the crates by rail", "the crates are made of pine"),
        ("the choir meets on Tuesday", "the choir meets on Tuesday"),
        ("a session lasts 30 minutes", "sessions are recorded"),
        ("do not use Leaflet", "no Leaflet, please"),
    ],
)
def test_statements_that_both_hold_are_left_alone(old: str, new: str) -> None:
    assert not supersedes(new, old)


@each_row(
    ("old", "new"),
    [
        ("die Sitzung ist am Montag um 9 in der Halle", "die Sitzung ist jetzt um 11 in der Halle"),
        ("la réunion est à 9 heures dans la salle", "la réunion est désormais à 11 heures"),
        ("la reunión es a las 9 en la sala", "ahora la reunión es a las 11 en la sala"),
        ("会议在大厅，9点开始", "会议改成11点，还是在大厅"),
    ],
)
def test_a_change_is_noticed_in_other_languages(old: str, new: str) -> None:
    assert supersedes(new, old)


@each_row(
    ("old", "new"),
    [
        ("die Sitzung ist am Montag um 9", "der Kuchen ist im Kühlschrank"),
        ("la réunion est à 9 heures", "le pain est dans la cuisine"),
    ],
)
def test_other_topics_in_other_languages_are_left_alone(old: str, new: str) -> None:
    assert not supersedes(new, old)
