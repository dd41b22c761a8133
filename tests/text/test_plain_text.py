"""Plain text: a dialogue if its labels are clear, else one message of the user."""

from datetime import UTC, datetime

from recollect.domain.transcript import Transcript, TranscriptMessage, Voice
from recollect.text.transcripts.plain_text import parse
from tables import each_row


def voices(text: str) -> list[tuple[str, str, str]]:
    transcript = parse(text)
    assert transcript.format == "dialogue"
    return [(message.voice.value, message.speaker, message.text) for message in transcript.messages]


@each_row(
    "text",
    [
        "User: Use tabs.\nAssistant: I will.",
        "user: Use tabs.\nassistant: I will.",
        "USER: Use tabs.\r\n\r\nASSISTANT: I will.\r\n",
        "Human: Use tabs.\n\nAI: I will.",
        "Human:\nUse tabs.\nAI:\nI will.",
        "Me: Use tabs.\nBot: I will.",
        "**User:** Use tabs.\n\n**Assistant:** I will.",
        "**User**: Use tabs.\n\n**Assistant**: I will.",
        "**User (10:12):** Use tabs.\n**Assistant (10:13):** I will.",
        "### User\nUse tabs.\n\n### Assistant\n\nI will.",
        "# User:\nUse tabs.\n# Assistant:\nI will.",
        "## User (02:56 UTC)\n\nUse tabs.\n\n## Assistant (02:57 UTC)\n\nI will.",
        "## 👤 User\nUse tabs.\n## 🤖 Assistant\nI will.",
        "\ufeffUser: Use tabs.\nAssistant: I will.",
        "[10:12] User: Use tabs.\n[10:13] Assistant: I will.",
        "User (10:12): Use tabs.\nAssistant (10:13): I will.",
    ],
)
def test_the_labels_of_user_and_assistant_make_a_dialogue(text: str) -> None:
    assert voices(text) == [("pasted", "", "Use tabs."), ("assistant", "", "I will.")]


@each_row(
    "text",
    [
        "You said:\nUse tabs.\nChatGPT said:\nI will.",
        "##### You said:\n\nUse tabs.\n\n##### ChatGPT said:\n\nI will.",
        "You said: Use tabs.\nChatGPT said: I will.",
        "You: Use tabs.\nChatGPT: I will.",
    ],
)
def test_an_assistants_name_is_kept(text: str) -> None:
    assert voices(text) == [("pasted", "", "Use tabs."), ("assistant", "ChatGPT", "I will.")]


@each_row(
    "text",
    [
        "Ana: Shall we use tabs?\nBen: Yes.",
        "ANA: Shall we use tabs?\nBEN: Yes.",
        "**Ana:** Shall we use tabs?\n**Ben:** Yes.",
        "Ana (10:12): Shall we use tabs?\nBen (10:13): Yes.",
        "Ana [10:12]: Shall we use tabs?\nBen [10:13]: Yes.",
        "[10:12] Ana: Shall we use tabs?\n[10:13] Ben: Yes.",
        "[08/05/2026, 10:12:33] Ana: Shall we use tabs?\n[08/05/2026, 10:13:01] Ben: Yes.",
    ],
)
def test_people_are_others_with_their_names(text: str) -> None:
    assert [(voice, name.title(), said) for voice, name, said in voices(text)] == [
        ("other", "Ana", "Shall we use tabs?"),
        ("other", "Ben", "Yes."),
    ]


@each_row("name", ["Ana Maria", "Dr. Jane O'Neil", "Jean-Luc", "Öykü", "小明", "Анна", "Al_9"])
def test_a_name_may_be_of_any_script_and_of_several_words(name: str) -> None:
    assert [speaker for _, speaker, _ in voices(f"{name}: Hi\nBen: Hello")] == [name, "Ben"]


def test_a_wide_colon_needs_no_space() -> None:
    assert voices("小明：用制表符吗？\n小红：好") == [
        ("other", "小明", "用制表符吗？"),
        ("other", "小红", "好"),
    ]


def test_people_who_take_turns_are_speakers() -> None:
    text = "Ana: The build is red.\nBen: A test fails.\nAna: Fixed."

    assert [speaker for _, speaker, _ in voices(text)] == ["Ana", "Ben", "Ana"]


def test_dates_are_kept_and_times_without_a_date_are_not() -> None:
    transcript = parse(
        "[2026-05-08 10:12] Ana: One\n[2026-05-08T10:13:30Z] Ana: Two\n[10:14] Ana: 3"
    )

    assert [message.at for message in transcript.messages] == [
        datetime(2026, 5, 8, 10, 12, tzinfo=UTC),
        datetime(2026, 5, 8, 10, 13, 30, tzinfo=UTC),
        None,
    ]
    assert transcript.started_at == datetime(2026, 5, 8, 10, 12, tzinfo=UTC)


def test_lines_without_a_label_belong_to_the_last_speaker() -> None:
    text = (
        "User: Two things:\n"
        "1. Use tabs.\n"
        "\n"
        "Note: not in YAML.\n"
        "See http://example.com: it says so.\n"
        "  Indented: stays.\n"
        "Assistant: I will.\n"
    )

    assert voices(text) == [
        (
            "pasted",
            "",
            "Two things:\n1. Use tabs.\n\nNote: not in YAML.\n"
            "See http://example.com: it says so.\n  Indented: stays.",
        ),
        ("assistant", "", "I will."),
    ]


def test_labels_of_another_style_belong_to_the_message() -> None:
    text = "### User\nAna: Shall we?\nBen: Yes.\n### Assistant\nUser: is a label."

    assert voices(text) == [
        ("pasted", "", "Ana: Shall we?\nBen: Yes."),
        ("assistant", "", "User: is a label."),
    ]


def test_labels_inside_a_code_block_belong_to_the_message() -> None:
    text = "User: Format it so:\n```\nUser: x\nAssistant: y\n```\nAssistant: I will."

    assert voices(text) == [
        ("pasted", "", "Format it so:\n```\nUser: x\nAssistant: y\n```"),
        ("assistant", "", "I will."),
    ]


def test_a_code_block_that_is_never_closed_hides_no_speaker() -> None:
    assert len(voices("User: What is this?\n```\nx = 1\nAssistant: An assignment.")) == 2


def test_what_stands_before_the_first_label_is_not_known_to_be_the_users() -> None:
    assert voices("# A talk\n\nExported today\n\nUser: Hi\nAssistant: Hello")[0] == (
        "other",
        "",
        "# A talk\nExported today",
    )


def test_tools_and_systems_may_speak_where_user_and_assistant_do() -> None:
    text = "System: Be brief.\nUser: Hi\nAssistant: Let me look.\nTool: 3 files"

    assert [(voice, name) for voice, name, _ in voices(text)] == [
        ("system", ""),
        ("pasted", ""),
        ("assistant", ""),
        ("tool", ""),
    ]


def test_an_assistant_alone_is_not_taken_for_the_user() -> None:
    assert voices("Assistant: One.\nAssistant: Two.")[0][0] == "assistant"


def test_a_label_with_nothing_said_is_left_out() -> None:
    assert voices("User:\nAssistant: Hello?\nUser: Hi") == [
        ("assistant", "", "Hello?"),
        ("pasted", "", "Hi"),
    ]


@each_row(
    "text",
    [
        "I prefer tabs.",
        "  I prefer tabs.\n\nAlways.  \n",
        "User: only one label",
        "Note: use tabs.\nExample: a tab?\nTODO: you should check it!",
        "Note: one?\nNote: two?\nWarning: three?\nNote: four?",
        "http://example.com?\nhttps://example.org: hello you",
        "C:\\temp\nD:\\temp",
        "12:30 lunch?\n13:30 you?",
        "def f(x: int) -> None:\n    if x:\n        return\nclass A:\n    b: int",
        "Else:\nTry:\nExcept: you?",
        "std::vector: you?\nFoo::bar: you?",
        "name: recollect\nversion: 1\nname: other",
        "Name: Ana?\nCity: Paris?\nName: Ben?\nCity: Rome?",
        "From: Ana\nTo: Ben\nSubject: Do you have time?",
        "Pros: Do you like it?\nCons: You will not.",
        "Next Steps: will you?\nAction Items: can you?",
        "Side note: hello\nKey insight: hello",
        "Coffee: I like it black.\nTea: I never drink it.",
        "Postgres: our main database.\nRedis: the cache.",
        "Dark Mode: yes\nVim Keys: yes",
        "AI: artificial intelligence\nML: machine learning",
        "User: alice\nModel: gpt-4\nTemperature: 0",
        "User: root\nSystem: Linux",
        "user: bob\nme: you?\nai: you?\nbot: you?",
        "[2026-05-08 10:12:33] ERROR: boom?\n[2026-05-08 10:12:34] INFO: you?",
        "Smith (2020): What is it?\nJones (2019): Who are you?",
        "# Ana\nHello you?\n# Ben\nYes, you?",
        "## User\nThe table of users.\n## System\nThe table of systems.",
        "Ana said: shall we?\nBen said: yes, you?",
        "Today we spoke.\nAna: Shall we?\nBen: Yes.\nAna: Good.",
        "\n".join(["Prose."] * 11) + "\nUser: Hi\nAssistant: Hello",
        "**Bold:** Postgres\n**Brave:** Redis",
        "User:\nAssistant:",
        "```\nUser: Hi\nAssistant: Hello\n```",
        ": hello you\n: hello you",
        "Ana : hello you\nBen : hello you",
    ],
)
def test_a_text_that_is_not_a_dialogue_is_one_message_of_the_user(text: str) -> None:
    assert parse(text) == Transcript(messages=(TranscriptMessage(Voice.USER, text),), format="text")


def test_if_roles_speak_a_heading_with_a_colon_is_not_a_speaker() -> None:
    transcript = parse("User: a cake?\nAssistant: Sure.\nIngredients:\nFlour\nUser: thanks")

    assert [(message.voice, message.text) for message in transcript.messages] == [
        (Voice.PASTED, "a cake?"),
        (Voice.ASSISTANT, "Sure.\nIngredients:\nFlour"),
        (Voice.PASTED, "thanks"),
    ]


def test_an_unclosed_code_block_does_not_hide_the_dialogue() -> None:
    talk = "User: why?\n```\nx = 1\nAssistant: a typo\nUser: ok\n```\ny = 2\n```\nAssistant: done"

    assert [message.voice for message in parse(talk).messages] == [
        Voice.PASTED,
        Voice.ASSISTANT,
        Voice.PASTED,
        Voice.ASSISTANT,
    ]
