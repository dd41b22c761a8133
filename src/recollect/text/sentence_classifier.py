"""
Normalise a sentence for the extraction rules, and classify it: question, supposition, joke, etc.

`normalize_sentence` lowers the case, straightens apostrophes and corrects common chat spellings.
`lead_in_length` measures the filler at the start ("ok so, by the way …"). The other functions
detect sentences that must not become facts.
"""

import re

from recollect.text.lazy_pattern import LazyPattern

_SPELLINGS = (
    (LazyPattern(r"[’‘`´](?=\w)"), "'"),
    (LazyPattern(r"\bim\b"), "i'm"),
    (LazyPattern(r"\bive\b"), "i've"),
    (LazyPattern(r"\bid (?=rather|prefer|like|love)"), "i'd "),
    (
        LazyPattern(r"\b(do|does|did|is|are|was|have|has|had|wo|ca|could|should|would)nt\b"),
        r"\1n't",
    ),
    (
        LazyPattern(r"\b(let|that|what)s (?=not|go|use|keep|left|wrong|right|how|a\b|the\b)"),
        r"\1's ",
    ),
    (LazyPattern(r"\bpls\b"), "please"),
    (LazyPattern(r"\s+"), " "),
)

_LEAD_IN = LazyPattern(
    r"(?:(?:ok(?:ay)?|alright|right|so|well|and|but|also|oh|hey|hi|hello|btw|fyi|thanks?(?: you)?"
    r"|thx|great|cool|nice|perfect|yes|yeah|yep|sure|hmm+|look|listen|please note|note|by the way"
    r"|for context|for the record|for reference|just so you know(?: for the future)?|to be clear"
    r"|as i said|like i said|as mentioned|one more thing|another thing|remember|heads[- ]up"
    r"|ok that's better|good to know|in case it matters|quick note|anyway"
    r"|basically)(?: that)?\s*[,:;.!–—-]+\s+|(?:ok|okay|alright|so|well|and|but|also|fyi|btw|yeah"
    r"|remember that|please remember that|please remember|note that|just)\s+)",
    flags=re.IGNORECASE,
)

_QUESTION = LazyPattern(
    r"\?[\"')\s]*$|^(?:who|whom|whose|what|why|which)(?:'s|'re|'d)?\s+(?!left)\S|^(?:when|where"
    r"|how)(?:'s|'re|'d| (?:is|are|was|were|do|does|did|can|could|would|will|should|much|many|often"
    r"|long|far|come|about|to))\b(?![^?]*:)|^(?:am|is|are|was|were|do|does|did|can|could|would|will"
    r"|shall|should|have|has|had|may|might)(?:n't)?\s+(?:i|we|you|he|she|it|they|there|this|that"
    r"|the|my|our|your|an?|anyone|somebody)\b"
)
_SUPPOSITION = LazyPattern(
    r"\b(?:maybe|perhaps|possibly|hypothetically|supposing|suppose|imagine|assuming|pretend|what if"
    r"|in theory|theoretically|might|(?:i'm|we're|am|are|been|was|were|just) (?:thinking (?:about"
    r"|of)|considering)|wondering|wonder if|not that i|would(?:n't)? (?:be|have|mean|need|say"
    r"|say that)|could (?:see|be|also|have|replay)|if (?:i|we|you|they|he|she|it) (?:were|was|had"
    r"|did|could|used|lived|knew|ever|wanted)|if (?:only|the \w+ (?:knew|had|were|was))|one day"
    r"|some ?day i|say we|let's say|let's assume)\b|^had (?:i|we|they)\b|\b(?:i|we)(?:'d"
    r"| would)\b[^.]*\bif\b|\bif\b[^.]*\b(?:i|we)(?:'d| would)\b"
)
_REPORTED_SPEECH = LazyPattern(
    r"\b(?:he|she|they|someone|somebody|people|everyone|nobody|who|\w+(?:'s)? (?:boss|manager|cv)"
    r"|(?:my|our|the|his|her|a) (?:\w+ )?(?:boss|manager|colleague|coworker|co-worker|friend"
    r"|neighbou?r|mother|mom|mum|father|dad|brother|sister|teacher|professor|client|customer|lead"
    r"|cto|ceo|docs?|documentation|readme|article|blog|book|manual|guide|paper|spec|error|dialog"
    r"|message|website|page|email|tutorial|candidate|doctor|landlord|interviewer|reviewer|linter"
    r"|compiler)) (?:\w+ ){0,2}?(?:says?|said|saying|tells?|told|claims?|claimed|thinks?|thought"
    r"|wrote|writes?|mentions?|mentioned|suggests?|suggested|recommends?|recommended|argues?|argued"
    r"|insists?|insisted|asks?|asked|wants? (?:me|us) to|keeps? saying)\b|\baccording to\b"
    r"|\b(?:quote|unquote|i quote)\b|\bsaid (?:nobody|no one)\b|\b(?:main )?character (?:says|is)\b"
    r"|\breads:|\bsays:"
)
_JOKE = LazyPattern(
    r"\b(?:lol|lmao|rofl|haha+|hehe+|just kidding|jk|yeah right|oh sure|oh great|oh joy|just love"
    r"|do so (?:enjoy|love)|as if|while we're at it|said nobody|who writes this)\b|/s$|😂|🤣|🙃"
)
_FICTION = LazyPattern(
    r"\b(?:(?:write|tell|make up|invent|compose|draft) (?:me |us )?(?:an? |the "
    r"|some )?(?:\w+ ){0,3}?(?:story|stories|poem|novel|song|lyrics|joke|dialogue|dialog|screenplay"
    r"|script|scene|persona|character|limerick|haiku|tale|fairy tale|letter|email|essay|speech|bio"
    r"|tweet|post|ad|review)|in my (?:novel|story|book|screenplay|dream)|role ?-?play|let's play"
    r"|pretend|you are now|you're now|imagine (?:you|that|i|we)|play the (?:role|part)|dummy data"
    r"|seed data|fake (?:persona|name|profile)|fictional|you are an? (?:expert|seo|professional"
    r"|helpful|experienced|world[- ]class))\b|^instructions:"
)
_PASTED_TEXT = LazyPattern(
    r"(?:^|\bplease |\byou |\band |\bto )(?:translate|proofread|rephrase|rewrite|paraphrase"
    r"|summari[sz]e|correct|polish|edit|improve|reply to|respond to|analy[sz]e|classify"
    r"|fix the grammar (?:of|in))\b[^.\n]{0,80}(?:\bthe following\b|\bbelow\b|:|\bth(?:is"
    r"|e) (?:text|e-?mail|letter|paragraph|passage|essay))"
)
_PROMPT_INJECTION = LazyPattern(
    r"\b(?:ignore|disregard|forget|override|bypass)\b[^.]{0,40}\b(?:instructions?|prompts?|rules?"
    r"|guidelines|above|previous)\b|\b(?:system prompt|developer message|jailbreak|prompt injection"
    r"|do not tell the user|without telling|don't tell the user|as an ai|note to the assistant"
    r"|dear (?:ai|assistant)|you are (?:now )?an? (?:ai|assistant|agent))\b|\b(?:send|forward"
    r"|upload|exfiltrate|(?:post|email) (?:\w+ ){0,3}to)\b[^.]{0,60}\b(?:https?://|password"
    r"|secrets?|credentials|api keys?|@)|\brm -rf\b|\bcurl\b[^|]*\|\s*(?:sudo )?(?:ba)?sh\b"
)
_ROLE_PLAY = LazyPattern(r"(?:^|\bplease |\byou |\bto )act (?:as|like)\b")


# "Hi, I'm Dana Cruz, nice to meet you." A name has a capital letter: "I'm tired" is none.
_SAYS_NAME = (
    r"(?:(?i:hi|hiya|hello|hey|good (?:morning|afternoon|evening))(?i: there| all| everyone"
    r"| everybody| team| again)?[\s,.!–—-]+)?(?i:I['’]m|I am|my name['’]s|my name is)"
    r" (?:[A-ZÀ-Þ][a-zß-ÿ'’]+[ -]?){1,4}"
)
_INTRODUCTION = LazyPattern(rf"{_SAYS_NAME}(?:[.!]|,[^?]*|[–—-][^?]*)?$")
_INTRODUCTION_AND_MORE = LazyPattern(
    rf"(?P<introduction>{_SAYS_NAME}(?<! )),? (?:and )?(?=(?:I|I['’]m|[Mm]y|[Ww]e) )"
)


def normalize_sentence(sentence: str) -> str:
    """Return *sentence* in the form that the extraction rules match."""
    text = sentence.lower()
    for pattern, replacement in _SPELLINGS:
        text = pattern.sub(replacement, text)
    return text.strip()


def lead_in_length(text: str) -> int:
    """Return how many characters at the start of *text* are filler."""
    at = 0
    for _ in range(4):
        match = _LEAD_IN.match(text, at)
        if match is None or match.end() == len(text):
            break
        at = match.end()
    return at


def introduces_speaker(sentence: str) -> bool:
    """Return whether *sentence*, as it was written, only says the name of who says it."""
    return bool(_INTRODUCTION.match(sentence[lead_in_length(sentence) :]))


def split_introduction(sentence: str) -> tuple[int, int]:
    """Return where the name ends in "I'm Dana and I live in Porto", and where the rest begins."""
    start = lead_in_length(sentence)
    match = _INTRODUCTION_AND_MORE.match(sentence[start:])
    return (start + match.end("introduction"), start + match.end()) if match else (0, 0)


def is_question(text: str) -> bool:
    """Return whether the normalised sentence *text* is a question."""
    return bool(_QUESTION.search(text))


def is_supposition(text: str) -> bool:
    """Return whether *text* is about something hypothetical."""
    return bool(_SUPPOSITION.search(text))


def is_reported_speech(text: str) -> bool:
    """Return whether *text* reports the words of another person or document."""
    return bool(_REPORTED_SPEECH.search(text))


def is_joke(text: str) -> bool:
    """Return whether *text* seems to be a joke or irony."""
    return bool(_JOKE.search(text))


def is_fiction_or_pasted_text(text: str) -> bool:
    """Return whether a message asks for fiction or a role, or contains text to be edited."""
    return bool(_FICTION.search(text) or _ROLE_PLAY.search(text) or _PASTED_TEXT.search(text))


def is_prompt_injection(text: str) -> bool:
    """Return whether *text* tries to give a model that reads it hidden instructions."""
    return bool(_PROMPT_INJECTION.search(text))
