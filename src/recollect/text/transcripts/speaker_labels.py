"""
Map roles and labels to voices, and list words before a colon that are not speakers.

Roles are written by programs ("assistant"); labels are what people see and type ("ChatGPT").
"""

from recollect.domain.transcript import Voice

_ROLES = {
    Voice.USER: "user human",
    Voice.ASSISTANT: "assistant ai model gemini",
    Voice.TOOL: "tool function",
    Voice.SYSTEM: "system developer info warning error",
}
_LABELS = {
    Voice.USER: "user human me you",
    Voice.ASSISTANT: "assistant ai bot chatbot",
    Voice.TOOL: "tool",
    Voice.SYSTEM: "system",
}
_NAMES = "chatgpt claude gemini codex copilot gpt gpt-3.5 gpt-4 gpt-4o gpt-5 deepseek grok llama"

VOICE_OF_ROLE = {word: voice for voice, words in _ROLES.items() for word in words.split()}
VOICE_OF_LABEL = {word: voice for voice, words in _LABELS.items() for word in words.split()}
# These are names and kept as the speaker; the labels above are only roles.
ASSISTANT_NAMES = frozenset(_NAMES.split()) | {"claude code", "ai assistant"}

# A line that starts with one of these words and a colon is a note, a field or code, not speech.
_NOBODY = """
note notes nb ps fyi tldr todo fixme hack xxx wip tip tips hint important caution danger
attention warning warnings warn error errors info debug trace fatal critical notice verbose log
logs exception example examples summary abstract overview introduction conclusion background
context goal goals aim problem problems solution solutions question questions answer answers q a
input inputs output outputs result results expected actual step steps phase stage part chapter
section figure table page line item items list total subtotal name names title author authors
date time subject from to cc bcc re fw fwd sent reply status state type kind id version url uri
link links source sources reference references see usage description details detail reason
reasons cause effect impact fix fixed fixes added changed removed deprecated security feature
features bug bugs issue issues task tasks plan plans decision decisions option options
alternative alternatives pros cons pro con advantages disadvantages benefits drawbacks risk
risks requirement requirements prerequisites setup install installation configuration config
settings default defaults parameters params args arguments returns return raises raise yields
throws key keys value values field fields price cost amount quantity size color colour weight
height location place address city country region phone email mail website username password
login host port path file files folder directory language languages framework database frontend
backend server client api stack tech role roles age gender occupation hobby hobbies birthday
monday tuesday wednesday thursday friday saturday sunday january february march july august
september october november december morning afternoon evening night today tomorrow yesterday day
week month year breakfast lunch dinner before after first second third finally next previous
then now later agenda attendees participants present absent action actions deadline due priority
owner assignee reviewer test tests code data class function method methods module package import
license copyright project team company product products customer true false if else elif try
except for while with case switch public private protected static remark remarks definition
theorem proof lemma hypothesis analysis evidence discussion update updates edit edited rule
rules fact facts idea ideas category tags tag topic topics keywords model temperature prompt
response request platform device browser os
"""
NOT_SPEAKERS = frozenset(_NOBODY.split())


def voice_of_role(role: str) -> tuple[Voice, str]:
    """Return the voice of *role*, and the speaker: '' for a known role, else the role itself."""
    voice = VOICE_OF_ROLE.get(role.strip().casefold())
    return (voice, "") if voice else (Voice.OTHER, role.strip())


def voice_of_label(label: str) -> tuple[Voice, str]:
    """Return the voice of *label*, and the speaker's name: '' if it is only a role."""
    word = label.casefold()
    if word in ASSISTANT_NAMES:
        return Voice.ASSISTANT, label
    voice = VOICE_OF_LABEL.get(word)
    return (voice, "") if voice else (Voice.OTHER, label)
