"""
Detect requests to keep a statement private: "this stays between us", "don't tell anyone".

What the user says after such a request in the same conversation stays with this assistant too.
"""

from recollect.text.lazy_pattern import LazyPattern

_IN_CONFIDENCE = LazyPattern(
    r"\b(?:(?:just |only |strictly )?between (?:us|you and me|ourselves)(?! and\b)"
    r"|(?:don't|do not|never) (?:tell|mention (?:this|that|it) to|share (?:this|that|it) with)"
    r" (?:anyone|anybody|any other|the others?|another)"
    r"|(?:keep|kept|stays?) (?:this |that |it )?(?:private|secret|confidential|to yourself"
    r"|in this chat)|(?:this|that|it)(?:'s| is) (?:strictly )?(?:confidential|private|a secret)\b"
    r"|in (?:strict )?confidence|off the record"
    r"|nobody (?:else )?(?:knows|may know) (?:this|that|yet))",
    r"\b(?:unter uns|sage? (?:das |es )?(?:bitte )?(?:niemandem|keinem)|im vertrauen"
    r"|entre nous|ne (?:le )?(?:dis|dites|répète) (?:à|rien à) personne|en toute confidence"
    r"|entre nosotros|entre tú y yo|no se lo digas a nadie|en confianza"
    r"|entre nós|não (?:contes|conte|digas|diga) (?:isto |isso )?a ninguém|em confiança"
    r"|(?:resti|resta|rimanga) tra (?:noi|di noi)|tra me e te|non dirlo a nessuno|in confidenza"
    r"|onder ons|tussen ons|vertel (?:het |dit )?(?:aan )?niemand|in vertrouwen)\b",
    r"别告诉(?:别人|任何人|其他人)|不要告诉(?:别人|任何人)|只(?:跟|和|对)你说|保密|私下(?:说|跟你说)",
    r"ここだけの話|内緒|秘密に|誰にも言わないで|他の人には言わ",
    r"우리끼리|비밀(?:이야|로|인데)|아무한테도 말하지|남들한테 말하지",
)

_SECRECY = LazyPattern(
    r"\b(?:secret(?:ly)?|confidential|nda|geheim\w*|vertraulich\w*|secr[eè]te?s?|confidentiel\w*"
    r"|secret[oa]s?|confidencia[li]\w*|segret[oaei]|riservat[oaei]|vertrouwelijk\w*|segredo)\b",
    r"秘密|机密|機密|内緒|極秘|비밀|기밀",
)


def asks_for_confidentiality(text: str) -> bool:
    """Return whether *text* asks that what is said stays with this assistant."""
    return bool(_IN_CONFIDENCE.search(text.lower().replace("’", "'")))


def mentions_secrecy(text: str) -> bool:
    """Return whether *text* says that something is secret."""
    return bool(_SECRECY.search(text.lower()))
