"""Dates in other languages: a table of sentences, all said on Monday 2026-10-05 at noon."""

from datetime import UTC, datetime

from recollect.text.date_parser import find_dates
from tables import each_row

SAID_AT = datetime(2026, 10, 5, 12, 0, tzinfo=UTC)  # a Monday


@each_row(
    ("text", "first", "until"),
    [
        ("die Lieferung kommt am Mittwoch und nicht früher", "2026-10-07", "2026-10-08"),
        ("wir ziehen nächste Woche in das neue Büro", "2026-10-12", "2026-10-19"),
        ("das ist erst vor 3 Tagen so gekommen", "2026-10-02", "2026-10-03"),
        ("die Abgabe ist am 15. März 2027, nicht später", "2027-03-15", "2027-03-16"),
        ("der Vertrag läuft bis Ende März und nicht länger", "1970-01-01", "2027-04-01"),
        ("das war gestern noch nicht so", "2026-10-04", "2026-10-05"),
        ("la livraison est pour mercredi et pas avant", "2026-10-07", "2026-10-08"),
        ("c'est dans 3 jours que nous partons", "2026-10-08", "2026-10-09"),
        ("on l'a vu la semaine dernière avec les autres", "2026-09-28", "2026-10-05"),
        ("la reunión es el 3 de mayo con todos", "2027-05-03", "2027-05-04"),
        ("eso fue hace 2 semanas en la oficina", "2026-09-21", "2026-09-28"),
        ("o prazo é até 30 de novembro para todos", "1970-01-01", "2026-12-01"),
        ("ci vediamo domani con gli altri della squadra", "2026-10-06", "2026-10-07"),
        ("è successo 4 giorni fa con il nuovo server", "2026-10-01", "2026-10-02"),
        ("de vergadering is volgende week op kantoor", "2026-10-12", "2026-10-19"),
        ("dat was 2 dagen geleden op het werk", "2026-10-03", "2026-10-04"),
        ("明天交报告", "2026-10-06", "2026-10-07"),
        ("会议在11月3日", "2026-11-03", "2026-11-04"),
        ("下周三发布", "2026-10-14", "2026-10-15"),
        ("2027年1月8日に公開します", "2027-01-08", "2027-01-09"),
        ("来週の水曜日に会いましょう", "2026-10-14", "2026-10-15"),
        ("어제 회의를 했어요", "2026-10-04", "2026-10-05"),
        ("11월 3일에 출발해요", "2026-11-03", "2026-11-04"),
    ],
)
def test_a_date_in_another_language_is_read(text: str, first: str, until: str) -> None:
    [date] = find_dates(text, asked_at=SAID_AT, direction="future")

    assert (date.start.date().isoformat(), date.end.date().isoformat()) == (first, until)
    assert date.text in text


@each_row("text", ["wir haben keine Zeit für so etwas", "ils ont mangé avec nous", "我们喝茶"])
def test_a_text_without_a_date_has_none(text: str) -> None:
    assert find_dates(text, asked_at=SAID_AT) == ()
