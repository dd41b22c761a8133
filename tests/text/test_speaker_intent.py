"""Whose words a question asks for."""

from recollect.text.speaker_intent import intended_speaker
from tables import each_row


@each_row(
    "question",
    [
        "Which hotel did you recommend in Lisbon?",
        "Can you remind me of the seven steps you mentioned?",
        "What was your suggestion for the garden?",
        "I was thinking about our chat on privacy. You said something about encryption.",
        "What was the third example you gave me?",
        "the recipe you've given me last week, what you told me about salt",
        "What did the assistant suggest?",
    ],
)
def test_a_question_about_what_the_assistant_said_asks_for_the_assistant(question: str) -> None:
    assert intended_speaker(question) == "assistant"


@each_row(
    "question",
    [
        "Where did I park the car?",
        "What is my dog called?",
        "Can you tell me what I said about Lisbon?",
        "Could you give me a summary of my project?",
        "How many bikes do I own?",
    ],
)
def test_a_question_about_oneself_asks_for_the_user(question: str) -> None:
    assert intended_speaker(question) == "user"


@each_row("question", ["What does Caroline do?", "database for billing", ""])
def test_any_other_question_asks_for_either(question: str) -> None:
    assert intended_speaker(question) == ""
