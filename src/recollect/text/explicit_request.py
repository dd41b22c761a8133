"""
Detect sentences in which the user asks for something to be remembered or always done.

"Remember that …", "from now on …", "always …" and their like. A statement alone ("we use Postgres")
is not a request, however certain it sounds. Other languages have the plain forms only.
"""

from recollect.text.lazy_pattern import LazyPattern

_START = (
    r"^(?:(?:ok|okay|so|and|also|but|yes|yeah|hey|hi|please|pls|well|then|btw|by the way"
    r"|one more thing|another thing|just|fyi|for next time|could you|can you"
    r"|i want you to|i'd like you to|you should"
    r"|you must|make sure to|be sure to)\b[\s,:;.!–—-]*)*"
)
_ASKS_TO_REMEMBER = LazyPattern(
    rf"{_START}(?:remember|memori[sz]e|note down|write down|write it down|make a note|take a note"
    r"|put it in your memory)\b(?! when| how| why| what| who| where| if| the time)",
    rf"{_START}(?:don't|do not|never) (?:ever )?(?:let me )?forget\b",
    rf"{_START}for the record\b",
    rf"{_START}(?:keep|bear) in mind\b",
    rf"{_START}(?:note|please note)(?: that|:| for later:| to self:)",
    rf"{_START}(?:remind me|reminder)(?: that|:)",
    r"\b(?:please (?:never |don't )?(?:remember|forget|note|keep in mind)"
    r"|write (?:it|this|that) down|(?:save|add|store|put|keep) (?:it|this|that) (?:to"
    r"|in|into) (?:your |the )?memory"
    r"|(?:save|add|put) (?:it|this|that) (?:to|in|into|on) (?:my|our|the) (?:[\w-]+ )?"
    r"(?:list|notes)"
    r"|keep (?:it|this|that) in mind|never forget (?:it|this|that)|so (?:please )?remember"
    r"|remember (?:it|this|that) for)\b",
    # "Our site is the top field, and remember the gate is shut", but not "I went, and remember it".
    r"^(?!(?:i|we|they|you)\b).*[,;] (?:and|but) (?:please |pls )?remember\b"
    r"(?! when| how| why| what| who| where| if)",
)
_STANDING_ORDER = LazyPattern(
    rf"{_START}(?:from now on|from here on|going forward|in (?:the )?future|as of (?:now|today)"
    r"|starting (?:now|today)|every time|each time|whenever|by default|as a (?:general )?rule)\b",
    rf"{_START}(?:always|never) (?!mind\b|been\b|was\b|were\b|had\b|again\b|seen\b|heard\b)\w",
    r"[.!;,:] (?:please )?(?:from now on|from here on|going forward)\b"
    r"|\b(?:from now on|from here on(?: out)?|going forward)(?:[.!,]|$)",
    r"\b(?:i want you to|you should|you must|i'd like you to|please) (?:always|never)\b",
    # "State the assumption before the number, every time", but not "The bus is late, every time".
    rf"{_START}(?!(?:the|a|an|it|i|we|you|he|she|they|there|this|that|my|our|your|his|her|their"
    r"|some|every|each|mostly)\b)\w[^.!?]*,"
    r" (?:always|every (?:single )?time|each time|without exception|no exceptions)[.!]*$",
)
_ASKS_IN_OTHER_LANGUAGES = LazyPattern(
    # German, French, Spanish, Portuguese, Italian, Dutch: the request begins the sentence.
    r"^(?:(?:ok|also|und|bitte|ach|et|s'il te plaît|y|por favor|e|per favore|en|graag)[\s,:]+)*(?:"
    r"merk(?:e)? dir|merken sie sich|notier(?:e)?\b|denk(?:e)? (?:bitte )?dran\b|vergiss nicht"
    r"|behalte? (?:bitte )?(?:im kopf|das)"
    r"|retiens\b|retenez\b|souviens-toi|rappelle-toi|note(?:z)? (?:bien|que|ça|:)|n'oublie pas"
    r"|recuerda\b|recuérdalo|acuérdate|apunta\b|apúntate|anota\b|anótalo|no (?:te )?olvides"
    r"|lembra(?:-te)?\b|lembre(?:-se)?\b|anote\b|guarda (?:isto|isso)|não (?:te )?esqueças"
    r"|não (?:se )?esqueça"
    r"|ricorda(?:ti)?\b|segnati|annota\b|tieni (?:a mente|presente)|non dimenticare"
    r"|onthoud?\b|noteer\b|vergeet niet)",
    # A word for "note" and a colon.
    r"^(?:bitte |por favor,? |per favore,? )?(?:notiz|merken?|(?:à )?noter?|nota|anotação"
    r"|promemoria|notitie|erinnere mich|rappelle-moi|recuérdame|lembra-me|ricordami"
    r"|herinner me) ?:",
    r"^(?:备注|注意|提醒我|メモ|메모|참고) ?[:：]",
    # Chinese, Japanese, Korean.
    r"(?:请|請|帮我|幫我|^|[，。,])(?:你)?(?:记住|记一下|記住|記一下|记得|记下|别忘了|別忘了)",
    r"覚えて(?:おいて|ください|ね)|覚えといて|メモして|忘れないで",
    r"기억해 ?(?:줘|둬|주세요)|메모해|잊지 ?마",
)
_STANDING_IN_OTHER_LANGUAGES = LazyPattern(
    r"\b(?:ab jetzt|ab sofort|ab heute|von jetzt an|von nun an|in zukunft|künftig"
    r"|à partir de maintenant|dorénavant|désormais"
    r"|a partir de (?:ahora|agora|hoy|hoje)|de (?:ahora|hoy) en adelante|de agora em diante"
    r"|daqui (?:em|para) (?:diante|a frente)|d'ora in (?:poi|avanti)|da (?:ora|adesso|oggi) in poi"
    r"|vanaf nu|voortaan)\b",
    r"^以后|[，。]以后(?:都|请|就)|从现在(?:起|开始)|从今(?:以后|往后)|今后",
    r"今後(?:は|も)|これから(?:は|も)|앞으로(?:는)?|이제부터",
)
_OPEN_END = LazyPattern(r"[?？]\W*$|吗\W*$|か[。\s]*$")


def asks_to_remember(text: str) -> bool:
    """Return whether the normalised sentence *text* asks to remember what it says."""
    if _ASKS_TO_REMEMBER.search(text):
        return True
    return bool(_ASKS_IN_OTHER_LANGUAGES.search(text)) and not _OPEN_END.search(text)


def is_standing_order(text: str) -> bool:
    """Return whether the normalised sentence *text* says what holds from now on, or always."""
    return bool(_STANDING_ORDER.search(text))


def is_explicit_request(text: str) -> bool:
    """Return whether the normalised sentence *text* asks to remember it, or to do it always."""
    if asks_to_remember(text) or is_standing_order(text):
        return True
    return bool(_STANDING_IN_OTHER_LANGUAGES.search(text)) and not _OPEN_END.search(text)
