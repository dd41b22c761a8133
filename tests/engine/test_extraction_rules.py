"""
Which sentences are extracted, and by which rule; and sentences that are not.

The tables are the specification: a row is a sentence somebody may say. To extend the rules,
add the row first.
"""

import pytest

from recollect.domain.candidate import ExtractedStatement
from recollect.domain.transcript import Voice
from recollect.engine.extract.classify_sentence import ExtractionMode
from recollect.engine.extract.find_statements import find_statements
from recollect.engine.extract.utterances import MAX_TURN_CHARS
from recollect.engine.source_text import SourceTurn
from recollect.text.extraction_rules import RULES
from recollect.text.fence import INTRODUCTION, fence_text
from support import START
from tables import each_row

TALK = ExtractionMode()
NOTE = ExtractionMode(states_everything=True)
SUMMARY = ExtractionMode(states_everything=True, reported=True)


def statements_in(
    text: str, *, voice: Voice = Voice.USER, mode: ExtractionMode = TALK
) -> list[ExtractedStatement]:
    """Return the statements of one message that are proposed."""
    found = find_statements(text, [SourceTurn(0, len(text), voice, "", START)], mode)
    return [statement for statement in found if statement.is_proposed]


def only_statement(text: str) -> ExtractedStatement:
    [statement] = statements_in(text)
    return statement


def regression(*values: object, reason: str) -> object:
    """A row that failed once, and why."""
    assert reason
    return pytest.param(*values)


TYPE_OF = {rule.name: rule.type for rule in RULES}

SENTENCES = [
    # left open
    ("question", "Open question: do we need a second replica?"),
    ("question", "It is still unclear whether the vendor signs the contract."),
    ("question", "We still need to figure out how the refunds are booked."),
    ("question", "We haven't decided on a name for the mobile app."),
    ("question", "I have not yet figured out how to bill the trial users."),
    ("question", "I'm not sure yet if we move the blog."),
    ("question", "Undecided: monthly or weekly invoices."),
    ("question", "Whether we keep the free tier remains open."),
    ("question", "The retention period is to be decided."),
    ("question", "Retention of audit logs: TBD"),
    ("question", "We need to find out whether the old key still works."),
    ("question", "Unclear whether the vendor can ship in May."),
    ("question", "Decision for Friday: keep or drop the beta program?"),
    ("question", "We should figure out soon which region is cheapest."),
    ("question", "Maybe we drop the beta, but that is still undecided."),
    # to be done
    ("next", "Next step: wire the retry logic into the importer."),
    ("next", "TODO: rotate the signing key"),
    ("next", "Follow-up: ask legal about the export clause."),
    ("next", "Reminder for tomorrow: send the invoices"),
    ("next", "Remind me to call the landlord about the heating."),
    ("next", "What's left to do is the French translation."),
    ("next", "We need to renew the certificate before June."),
    ("next", "Tomorrow we must move the fixtures to S3."),
    ("next", "Next week I'm going to clean up the fixtures."),
    ("next", "I'll write the migration guide after lunch."),
    ("next", "We should benchmark the new parser next week."),
    ("next", "Don't let me forget the tax form."),
    # decided
    ("decision", "We decided to store events in Kafka."),
    ("decision", "I settled on Lisbon for the offsite."),
    ("decision", "After the vote the team agreed on trunk-based development."),
    ("decision", "I've decided to write my thesis in English."),
    ("decision", "We decided against Kafka."),
    ("decision", "Let's go with Tailwind for the styles."),
    ("decision", "We'll use Redis for the session store."),
    ("decision", "We won't support Internet Explorer."),
    ("decision", "We're dropping support for Python 3.10."),
    ("decision", "Going with pnpm for the monorepo."),
    ("decision", "Decision: no ORM in the billing service."),
    ("decision", "Our final choice is the blue logo."),
    ("decision", "We made up our minds: the office moves to Leipzig."),
    # how the user wants things
    ("preference", "I prefer tabs over spaces."),
    ("preference", "I always want type hints."),
    ("preference", "I'd rather read code than prose."),
    ("preference", "I really enjoy hiking trips."),
    ("preference", "I hate long meetings."),
    ("preference", "I don't like emojis in commit messages."),
    ("preference", "I always want a summary by default."),
    ("preference", "I want small commits instead of big ones."),
    ("preference", "From now on, use British spelling."),
    ("preference", "When you explain things, give me an example first."),
    ("preference", "Please never use abbreviations in variable names."),
    ("preference", "Always answer in bullet points."),
    ("preference", "Don't add comments that repeat the code."),
    ("preference", "Keep your answers short."),
    ("preference", "Reply in German."),
    ("preference", "Call me Ana."),
    ("preference", "My pronouns are they and them."),
    ("preference", "My favourite editor is Helix."),
    ("preference", "I'm a big fan of functional programming."),
    ("preference", "No small talk, please."),
    ("preference", "Diagrams are how I learn best."),
    # who the user is
    ("identity", "My wife is a violinist."),
    ("identity", "My sister, Carla, lives in Bremen."),
    ("identity", "My birthday is on 4 March."),
    ("identity", "I'm Dana."),
    ("identity", "I am Inês Santos-Cruz, nice to meet you."),
    ("identity", "My name's Ana!"),
    ("identity", "I'm a nurse in a children's hospital."),
    ("identity", "I'm originally from Peru."),
    ("identity", "I live in Ghent."),
    ("identity", "We live near the harbour."),
    ("identity", "I work at a small bakery."),
    ("identity", "I lead a team of six."),
    ("identity", "I'm allergic to peanuts."),
    ("identity", "I just turned 34."),
    ("identity", "I have two kids."),
    ("identity", "I'm on Fedora 40."),
    ("identity", "I use Emacs for everything."),
    ("identity", "I speak Polish and some Turkish."),
    ("identity", "I have worked in logistics for about 12 years."),
    ("identity", "I'm studying marine biology."),
    ("identity", "I go by Max."),
    ("identity", "I don't eat pork."),
    ("identity", "I'm not a developer."),
    # how to
    ("howto", "To reset the cache: stop the worker, delete the folder and start it again."),
    ("howto", "To build the docs, run make html and then open index.html."),
    ("howto", "To get into the lab: ring twice."),
    ("howto", "Release steps: bump the version, tag it, push the tag."),
    ("howto", "How we publish: merge, wait for the checks, then press the button."),
    ("howto", "The upload goes like this: zip the folder, then drop it into the bucket."),
    ("howto", "The trick here is to unplug the dock, and wait a minute."),
    ("howto", "This is how we deploy: merge, wait for CI, press the button."),
    ("howto", "When the build hangs, kill the daemon and run it again."),
    ("howto", "First export the csv, then import it, and finally compare the totals."),
    ("howto", "You can skip the cache by setting NO_CACHE to 1."),
    ("howto", "For our bread we mix flour, water, salt and yeast"),
    # how things are in the project
    ("convention", "In this repo we name branches after tickets."),
    ("convention", "Our API returns dates in ISO 8601."),
    ("convention", "All endpoints must be versioned."),
    ("convention", "The staging database lives on db2."),
    ("convention", "The port of the admin panel is 9001."),
    ("convention", "Commits follow the conventional format."),
    ("convention", "We deploy with Ansible."),
    ("convention", "We don't use inheritance."),
    ("convention", "Nobody merges on Fridays."),
    ("convention", "Don't push to main."),
    ("convention", "By convention the adapters end in Port."),
    ("convention", "Integration tests are started by running tox."),
    ("convention", "It's hosted on a small machine in Falkenstein."),
    ("convention", "Grafana is hosted on the ops cluster."),
]


@each_row(("rule", "sentence"), SENTENCES)
def test_a_sentence_is_extracted_by_its_rule_with_its_type(rule: str, sentence: str) -> None:
    statement = only_statement(sentence)

    assert (statement.rule, statement.type) == (rule, TYPE_OF[rule])


def test_every_rule_is_in_the_table() -> None:
    assert {rule for rule, _ in SENTENCES} == set(TYPE_OF)


@each_row(("rule", "sentence"), SENTENCES)
def test_a_statement_quotes_its_sentence_word_for_word(rule: str, sentence: str) -> None:
    front, behind = "Good morning to you.\n", "\nThat is all for the moment."
    text = front + sentence + behind

    [statement] = [candidate for candidate in statements_in(text) if candidate.rule == rule]

    [span] = statement.spans
    assert text[span.start : span.end] == sentence
    assert span.voice is Voice.USER


@each_row(("rule", "sentence"), SENTENCES)
def test_filler_at_the_start_changes_nothing(rule: str, sentence: str) -> None:
    [statement] = statements_in(f"ok, by the way, {sentence}")

    assert statement.rule == rule
    assert statement.content.lower() == only_statement(sentence).content.lower()


@each_row(
    ("sentence", "rule"),
    [
        ("im a nurse", "identity"),
        ("ive worked as a nurse for 5 years", "identity"),
        ("id rather read code than prose", "preference"),
        ("i dont like emojis", "preference"),
        ("pls dont use emojis", "preference"),
        ("lets go with tailwind", "decision"),
        ("I’m a nurse", "identity"),
        ("We haven’t decided on a name.", "question"),
        ("I PREFER TABS OVER SPACES", "preference"),
        ("i  prefer\ttabs over spaces", "preference"),
    ],
)
def test_chat_spelling_is_understood(sentence: str, rule: str) -> None:
    assert only_statement(sentence).rule == rule


def test_every_sentence_of_a_message_is_read_in_order() -> None:
    text = (
        "I live in Porto. Thanks for yesterday! We deploy with Ansible.\n- I prefer tabs to spaces"
    )

    assert [(statement.rule, statement.content) for statement in statements_in(text)] == [
        ("identity", "I live in Porto."),
        ("convention", "We deploy with Ansible."),
        ("preference", "I prefer tabs to spaces"),
    ]


# Sentences that are not extracted.

QUESTIONS = [
    "Do you know where I live?",
    "Is the staging database on db2?",
    "What is my favourite editor?",
    "Should we use Redis for the session store?",
    "Why do we deploy with Ansible?",
    "Which of our tests run with pytest?",
    "I live in Ghent, right?",
    "how do we deploy the staging server",
    "is our API behind a proxy",
    "can we use Redis for the session store",
    "where is the staging database",
]
SUPPOSITIONS = [
    "Maybe we use Redis for sessions.",
    "Perhaps I prefer tabs.",
    "If I lived in Ghent I would cycle.",
    "If we used Kafka, our API would be faster.",
    "Imagine we use Redis for sessions.",
    "We might use Redis for sessions.",
    "Suppose I'm a nurse.",
    "Hypothetically our API returns XML.",
    "I was thinking about using Redis: we use it at work.",
    "Let's say our API returns XML.",
    "Had I known, I would live in Ghent.",
]
REPORTS = [
    "My boss says we use Redis for sessions.",
    "She said I'm a bad cook.",
    "The docs say our API returns XML.",
    "The readme says we deploy with Ansible.",
    "According to the wiki our API returns XML.",
    "Somebody told me I'm allergic to peanuts.",
    "My colleague thinks I prefer tabs.",
    "The sign reads: I live in Ghent.",
    "People keep saying I'm a workaholic.",
]
JOKES = [
    "I live in the terminal lol",
    "I prefer crashing in production haha",
    "I just love long meetings.",
    "I live in the terminal 😂",
    "I prefer tabs /s",
    "Oh great, I love flaky tests again.",
    "I love flaky tests, said nobody ever.",
    "I'm the king of Belgium, just kidding.",
]
OF_THE_MOMENT = [
    "I'm tired today.",
    "I'm stuck.",
    "I'm sure you are right.",
    "I'm looking for a bug.",
    "I'm in a meeting.",
    "I'm a bit lost.",
    "I have a question.",
    "I'm getting an error in the log.",
    "I prefer this one.",
    "I like it.",
    "I hate this bug.",
    "I don't want that.",
    "I'd like you to write a test.",
    "Let's use it.",
    "Let's try Kafka.",
    "We decided that.",
    "Nobody decided to use Kafka.",
    "The build is failing.",
    "The tests are green.",
    "The database is slow today.",
    "The page looks weird.",
    "The error is gone.",
    "We use it everywhere.",
    "We run into errors when we deploy.",
    "Run the tests.",
    "Show me the code.",
    "Write a function that sorts a list.",
    "Use Redis here.",
    "Never mind, I got it.",
    "Next time please.",
    "I'll check the logs tomorrow.",
    "See you next week, I'll be back.",
]
EXCEPTIONS = [  # each fits a rule, and what the rule excepts
    "Do you know if it is still unclear whether the key works?",
    "I have no idea yet why this fails.",
    "It's not that we haven't decided on a name.",
    "Next time we should meet after lunch.",
    "That's so nice, we should celebrate after work.",
    "Never mind, we should talk after lunch.",
    "I'll run it after lunch.",
    "Nobody knows what we decided to drop.",
    "We decided to drop it right now.",
    "Let's keep going with the next one.",
    "Let's use Kafka and try it.",
    "I don't want any more cake.",
    "I would like to add a button for me.",
    "I'm in Rome and I'm tired.",
    "I'm in Rome right now.",
    "I'm a writer and live for it.",
    "To reset the cache: stop the worker, then what?",
    "To reset the cache: stop the worker, then wait, as I do right now.",
    "When I open the page, check the log, I get an error.",
    "The build is on the host and it suddenly died.",
    "The problem with the server is the cable.",
]
NO_FACTS = ["ok", "Thanks!", "haha", "Great.", "yes", "lol", "hmm", "", " ", "...", "?!", "👍"]


@each_row(
    "sentence", QUESTIONS + SUPPOSITIONS + REPORTS + JOKES + OF_THE_MOMENT + EXCEPTIONS + NO_FACTS
)
def test_nothing_is_found_in_a_sentence_that_states_no_lasting_fact(sentence: str) -> None:
    assert statements_in(sentence) == []


REQUESTS_FOR_TEXT = [
    "Write me a story.",
    "Pretend you are my sister.",
    "Act as a lawyer.",
    "Let's play a game.",
    "In my novel there is a nurse.",
    "Let's do a role-play.",
    "Draft a letter to my landlord.",
    "I need a fake persona.",
    "Translate this:",
    "Proofread the following:",
    "Summarize this text.",
    "Rewrite the text below.",
    "Fix the grammar of this:",
    "Reply to this mail:",
]


@each_row("instruction", REQUESTS_FOR_TEXT)
def test_text_after_a_request_for_fiction_or_editing_is_not_extracted(
    instruction: str,
) -> None:
    facts = "I live in Ghent. We decided to use Kafka. I prefer tabs over spaces."

    assert statements_in(f"{instruction} {facts}") == []
    assert statements_in(f"{instruction}\n\n{facts}") == []


def test_text_before_a_request_for_fiction_is_extracted() -> None:
    [statement] = statements_in("I live in Ghent. Write me a story. I'm a pirate from the moon.")

    assert statement.content == "I live in Ghent."


def test_a_story_in_one_message_does_not_affect_the_next() -> None:
    first, second = "Write me a story. I'm a pirate.", "I live in Ghent."
    text = f"{first}\n\n{second}"
    turns = [
        SourceTurn(0, len(first), Voice.USER, "", START),
        SourceTurn(len(first) + 2, len(text), Voice.USER, "", START),
    ]

    assert [statement.content for statement in find_statements(text, turns, TALK)] == [
        "I live in Ghent."
    ]


NOT_SPOKEN = [
    "```\nI live in Ghent.\n```",
    "```python\nI live in Ghent.",
    "~~~\nI live in Ghent.\n~~~",
    "> I live in Ghent.",
    "    I live in Ghent.",
    "\tI live in Ghent.",
    "$ I live in Ghent.",
    ">>> I live in Ghent.",
    "2026-05-08T12:00:00Z I live in Ghent.",
    "ValueError: I live in Ghent.",
    'File "ghent.py": I live in Ghent.',
    "Traceback of the day: I live in Ghent.",
    "diff --git I live in Ghent.",
    "@@ -1 +1 @@ I live in Ghent.",
    "+++ I live in Ghent.",
    "+I live in Ghent.",
    "<system-reminder>I live in Ghent.</system-reminder>",
    '<document name="x">I live in Ghent.</document>',
    "<environment_context>I live in Ghent.",
    "<command-args>I live in Ghent.</command-args>",
    "█████████████████████",
    fence_text("I live in Ghent."),
    fence_text("I live in Ghent.").removesuffix("</memory>"),
    f"You said:\n{INTRODUCTION}\n\n{fence_text('I live in Ghent.')}",
]


@each_row("text", NOT_SPOKEN)
def test_nothing_is_extracted_from_pasted_or_injected_text(text: str) -> None:
    assert statements_in(text) == []


@each_row("text", [statement for statement in NOT_SPOKEN if statement.rstrip()[-1] in "`~>."])
def test_text_before_pasted_text_is_extracted(text: str) -> None:
    assert [
        statement.content for statement in statements_in(f"I prefer tabs to spaces.\n{text}")
    ] == ["I prefer tabs to spaces."]


@each_row("voice", [Voice.ASSISTANT, Voice.TOOL, Voice.SYSTEM, Voice.OTHER])
@each_row("mode", [TALK, NOTE])
def test_only_messages_of_the_user_are_extracted(voice: Voice, mode: ExtractionMode) -> None:
    text = "I live in Ghent. We decided to use Kafka. You prefer tabs. Maybe our API returns XML."

    assert statements_in(text, voice=voice, mode=mode) == []


@each_row("voice", [Voice.TOOL, Voice.SYSTEM, Voice.OTHER])
def test_a_summary_is_read_in_the_voice_of_an_agent_and_of_no_other(voice: Voice) -> None:
    text = "The user lives in Ghent."

    assert statements_in(text, voice=voice, mode=SUMMARY) == []
    [statement] = statements_in(text, voice=Voice.ASSISTANT, mode=SUMMARY)
    assert statement.voice is Voice.ASSISTANT


def test_a_document_that_was_pasted_as_one_message_is_not_read() -> None:
    fact = "I live in Ghent.\n"
    text = fact * (MAX_TURN_CHARS // len(fact) + 1)

    assert statements_in(text) == []
    assert len(statements_in(text[: MAX_TURN_CHARS - 100])) > 1_000


# Passing remarks, and statements that only look like them.


@each_row(
    "text",
    [
        "Check the logs for me.",
        "Explain it to me.",
        "Write a regex for me that matches dates.",
        regression(
            "The build failed with exit code 1.", reason="'build … with' is taken for a tool"
        ),
        regression(
            "The server has crashed.", reason="a state of the moment is taken for a convention"
        ),
        regression(
            "The script is attached.", reason="a state of the moment is taken for a convention"
        ),
        regression("Hi, I'm tired.", reason="what somebody feels is taken for a name"),
        regression("I moved on.", reason="'moved on' is taken for a home"),
        regression("I'm 50% done.", reason="a percentage is taken for an age"),
        regression("I live in ██████.", reason="the rest of a forgotten sentence is taken for one"),
    ],
)
def test_passing_remarks_are_not_extracted(text: str) -> None:
    assert statements_in(text) == []


@each_row(
    ("text", "rules"),
    [
        regression(
            "Never push to main.",
            ["convention"],
            reason="a rule of the project becomes a fact about the user, everywhere",
        ),
        regression(
            "Help me improve this code. I live in Ghent.",
            ["identity"],
            reason="'improve this' ends the message, though no text was pasted",
        ),
        regression(
            "Our workers act as consumers. The database lives on db2.",
            ["convention"],
            reason="'act as' ends the message, whoever acts",
        ),
        regression(
            "The client reads the config from the environment.",
            ["convention"],
            reason="a program that reads is taken for somebody who says",
        ),
        regression(
            "Staging uses TLS, our API does not.",
            ["convention"],
            reason="every sentence that ends with 'not' is a joke",
        ),
        regression(
            "at work I use Emacs for everything",
            ["identity"],
            reason="a line that begins with 'at' is taken for a stack trace",
        ),
        regression("Hi there! I'm Dana.", ["identity"], reason="two words are no sentence"),
        regression("Hi, I'm Dana.", ["identity"], reason="two words are no sentence"),
        regression("I'm 34.", ["identity"], reason="a sentence of seven characters is not read"),
        regression(
            "The retry limit is 3. The staging database lives on db2.",
            ["convention", "convention"],
            reason="a number of two digits does not end a sentence",
        ),
    ],
)
def test_plain_statements_are_extracted(text: str, rules: list[str]) -> None:
    assert [statement.rule for statement in statements_in(text)] == rules
