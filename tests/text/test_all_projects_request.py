"""Only an explicit wish takes what was said in a project out of it."""

from recollect.text.all_projects_request import asks_for_all_projects
from tables import each_row


@each_row(
    "sentence",
    [
        "In all my projects I prefer tabs over spaces.",
        "Remember this for all of my repos: answers should be short.",
        "Please remember globally: I work from Lisbon.",
        "Remember this everywhere: I am left-handed.",
        "From now on, in every project, write tests first.",
        "Remember that, not just for this repo: I use fish.",
        "I use uv in every project I work on.",
        "In allen meinen Projekten nutze ich Tabs.",
        "J’utilise des tabulations dans tous mes projets.",
        "En todos mis proyectos uso pnpm.",
        "我所有的项目都用 pnpm。",
    ],
)
def test_a_wish_for_every_project_is_recognised(sentence: str) -> None:
    assert asks_for_all_projects(sentence)


@each_row(
    "sentence",
    [
        "I am working on the secret acquisition of Globex for Acme.",
        "We use tabs everywhere.",
        "Remember: the flag must be set everywhere.",
        "In all our projects we pin versions.",
        "In all my projects for Acme I use their VPN.",
        "I prefer tabs, but not in all my projects.",
        "Don't remember this everywhere: I am leaving Acme.",
        "I always answer in English.",
        "Every project needs an owner.",
        "",
    ],
)
def test_anything_else_stays_in_its_project(sentence: str) -> None:
    assert not asks_for_all_projects(sentence)
