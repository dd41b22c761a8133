"""
Bring a sentence into the form that the rules read, and tell what kind of saying it is.

`plain` lowers, straightens apostrophes and mends the commonest chat spellings; `lead_in` says how
much of the front is only manner ("ok so, by the way …"). What comes below (is this a question, a
supposition, somebody else's words, a joke?) keeps talk from becoming facts.
"""

import re

from recollect.text.patterns import Pattern

_SPELLINGS = (
    (Pattern(r"[’‘`´](?=\w)"), "'"),
    (Pattern(r"\bim\b"), "i'm"),
    (Pattern(r"\bive\b"), "i've"),
    (Pattern(r"\bid (?=rather|prefer|like|love)"), "i'd "),
    (Pattern(r"\b(do|does|did|is|are|was|have|has|had|wo|ca|could|should|would)nt\b"), r"\1n't"),
    (
        Pattern(r"\b(let|that|what)s (?=not|go|use|keep|left|wrong|right|how|a\b|the\b)"),
        r"\1's ",
    ),
    (Pattern(r"\bpls\b"), "please"),
    (Pattern(r"\s+"), " "),
)

_LEAD_IN = Pattern(
    r"(?:(?:ok(?:ay)?|alright|right|so|well|and|but|also|oh|hey|hi|hello|btw|fyi|thanks?(?: "
    r"you)?|thx"
    r"|great|cool|nice|perfect|yes|yeah|yep|sure|hmm+|look|listen|please note|note"
    r"|by the way|for context|for the record|for reference|just so you know(?: for the future)?"
    r"|to be clear|as i said|like i said|as mentioned|one more thing|another thing|remember"
    r"|heads[- ]up"
    r"|ok that's better|good to know|in case it matters|quick note|anyway|basically)"
    r"(?: that)?\s*[,:;.!–—-]+\s+|(?:ok|okay|alright|so|well|and|but|also|fyi|btw|yeah|remember "
    r"that"
    r"|please remember that|please remember|note that|just)\s+)",
    flags=re.IGNORECASE,
)

_QUESTION = Pattern(
    r"\?[\"')\s]*$"
    r"|^(?:who|whom|whose|what|why|which)(?:'s|'re|'d)?\s+(?!left)\S"
    r"|^(?:when|where|how)(?:'s|'re|'d| (?:is|are|was|were|do|does|did|can|could|would|will"
    r"|should|much|many"
    r"|often|long|far|come|about|to))\b(?![^?]*:)"
    r"|^(?:am|is|are|was|were|do|does|did|can|could|would|will|shall|should|have|has|had|may|might)"
    r"(?:n't)?\s+(?:i|we|you|he|she|it|they|there|this|that|the|my|our|your|an?|anyone|somebody)\b"
)
_SUPPOSED = Pattern(
    r"\b(?:maybe|perhaps|possibly|hypothetically|supposing|suppose|imagine|assuming|pretend|what if"
    r"|in theory|theoretically|might|(?:i'm|we're|am|are|been|was|were|just) (?:thinking "
    r"(?:about|of)|considering)|wondering|wonder if"
    r"|not that i|would(?:n't)? (?:be|have|mean|need|say|say that)|could (?:see|be|also|have"
    r"|replay)"
    r"|if (?:i|we|you|they|he|she|it) (?:were|was|had|did|could|used|lived|knew|ever|wanted)"
    r"|if (?:only|the \w+ (?:knew|had|were|was))|one day|some ?day i|say we|let's say|let's "
    r"assume)\b"
    r"|^had (?:i|we|they)\b|\b(?:i|we)(?:'d| would)\b[^.]*\bif\b|\bif\b[^.]*\b(?:i|we)(?:'d| "
    r"would)\b"
)
_OTHERS = Pattern(
    r"\b(?:he|she|they|someone|somebody|people|everyone|nobody|who|\w+(?:'s)? (?:boss|manager|cv)"
    r"|(?:my|our|the|his|her|a) (?:\w+ )?(?:boss|manager|colleague|coworker|co-worker|friend"
    r"|neighbou?r"
    r"|mother|mom|mum|father|dad|brother|sister|teacher|professor|client|customer|lead|cto|ceo"
    r"|docs?"
    r"|documentation|readme|article|blog|book|manual|guide|paper|spec|error|dialog|message|website"
    r"|page|email|tutorial|candidate|doctor|landlord|interviewer|reviewer|linter|compiler))"
    r" (?:\w+ ){0,2}?(?:says?|said|saying|tells?|told|claims?|claimed|thinks?|thought|wrote"
    r"|writes?"
    r"|mentions?|mentioned|suggests?|suggested|recommends?|recommended|argues?|argued|insists?"
    r"|insisted"
    r"|asks?|asked|wants? (?:me|us) to|keeps? saying)\b"
    r"|\baccording to\b|\b(?:quote|unquote|i quote)\b|\bsaid (?:nobody|no one)\b"
    r"|\b(?:main )?character (?:says|is)\b|\breads:|\bsays:"
)
_JOKE = Pattern(
    r"\b(?:lol|lmao|rofl|haha+|hehe+|just kidding|jk|yeah right|oh sure|oh great|oh joy|just love"
    r"|do so (?:enjoy|love)|as if|while we're at it|said nobody|who writes this)\b|/s$"
    r"|😂|🤣|🙃"
)
_FICTION = Pattern(
    r"\b(?:(?:write|tell|make up|invent|compose|draft) (?:me |us )?(?:an? |the |some )?(?:\w+ "
    r"){0,3}?"
    r"(?:story|stories|poem|novel|song|lyrics|joke|dialogue|dialog|screenplay|script|scene"
    r"|persona|character"
    r"|limerick|haiku|tale|fairy tale|letter|email|essay|speech|bio|tweet|post|ad|review)"
    r"|in my (?:novel|story|book|screenplay|dream)|role ?-?play|let's play|pretend"
    r""
    r"|you are now|you're now|imagine (?:you|that|i|we)|play the (?:role|part)|dummy data|seed data"
    r"|fake (?:persona|name|profile)|fictional|you are an? (?:expert|seo|professional|helpful"
    r"|experienced|world[- ]class))\b"
    r"|^instructions:"
)
_PASTED = Pattern(
    r"(?:^|\bplease |\byou |\band |\bto )(?:translate|proofread|rephrase|rewrite|paraphrase"
    r"|summari[sz]e|correct|polish|edit|improve|reply to|respond to|analy[sz]e|classify"
    r"|fix the grammar (?:of|in))\b[^.\n]{0,80}"
    r"(?:\bthe following\b|\bbelow\b|:|\bth(?:is|e) (?:text|e-?mail|letter|paragraph|passage"
    r"|essay))"
)
_COMMANDS_A_READER = Pattern(
    r"\b(?:ignore|disregard|forget|override|bypass)\b[^.]{0,40}\b(?:instructions?|prompts?"
    r"|rules?|guidelines|above|previous)\b"
    r"|\b(?:system prompt|developer message|jailbreak|prompt injection|do not tell the user"
    r"|without telling"
    r"|don't tell the user|as an ai|note to the assistant|dear (?:ai|assistant)|you are (?:now "
    r")?an? (?:ai|assistant|agent))\b"
    r"|\b(?:send|forward|upload|exfiltrate|(?:post|email) (?:\w+ "
    r"){0,3}to)\b[^.]{0,60}\b(?:https?://|password"
    r"|secrets?|credentials|api keys?|@)"
    r"|\brm -rf\b|\bcurl\b[^|]*\|\s*(?:sudo )?(?:ba)?sh\b"
)
_ACTS = Pattern(r"(?:^|\bplease |\byou |\bto )act (?:as|like)\b")


def plain(sentence: str) -> str:
    """Return *sentence* as the rules read it."""
    text = sentence.lower()
    for pattern, replacement in _SPELLINGS:
        text = pattern.sub(replacement, text)
    return text.strip()


def lead_in(text: str) -> int:
    """Return how many characters at the front of *text* say nothing."""
    at = 0
    for _ in range(4):
        match = _LEAD_IN.match(text, at)
        if match is None or match.end() == len(text):
            break
        at = match.end()
    return at


def asks(text: str) -> bool:
    """Say whether *text*, made plain, is a question."""
    return bool(_QUESTION.search(text))


def supposes(text: str) -> bool:
    """Say whether *text* is about what might or would be."""
    return bool(_SUPPOSED.search(text))


def reports(text: str) -> bool:
    """Say whether *text* gives the words of somebody else."""
    return bool(_OTHERS.search(text))


def jokes(text: str) -> bool:
    """Say whether *text* seems not to be meant."""
    return bool(_JOKE.search(text))


def invents(text: str) -> bool:
    """Say whether a message asks for fiction or a role, or brings text to be worked on."""
    return bool(_FICTION.search(text) or _ACTS.search(text) or _PASTED.search(text))


def commands_a_reader(text: str) -> bool:
    """Say whether *text* tells whoever reads it, a model say, what to do behind its user's back."""
    return bool(_COMMANDS_A_READER.search(text))
