"""
Words that are spelled almost like another one, or are the beginning of it: "kubernets", "kubern".

A query word that occurs nowhere is compared with the words that do. Only longer words are: among
short ones nearly every word has a neighbour that means something else. Short names are compared by
how they sound: "Jorje" is Jorge, but Marta is not Maria.
"""

import re
from collections.abc import Iterable

MIN_CHARS = 6  # of a word that is compared
TWO_EDITS_CHARS = 9  # from here on two letters may differ
KEY_CHARS = 2  # at the beginning that are never misspelled
MIN_NAME_CHARS = 4  # of a name that is compared
MIN_NAME_PREFIX_CHARS = 3  # of the beginning of a name

_ALIKE = str.maketrans("jcqzyw", "gkksiv")  # letters that are taken for each other
_REPEATED = re.compile(r"(.)\1+")


def can_be_misspelled(word: str) -> bool:
    """Return whether *word* is long enough to be compared, and is made of letters."""
    return len(word) >= MIN_CHARS and word.isalpha()


def near_spellings(word: str, others: Iterable[str]) -> list[str]:
    """Return those of *others* that *word* may be a misspelling or the beginning of."""
    edits = 2 if len(word) >= TWO_EDITS_CHARS else 1
    return [
        other
        for other in others
        if other.startswith(word) or (other.isalpha() and _are_near(word, other, edits))
    ]


def near_names(name: str, others: Iterable[str]) -> list[str]:
    """Return those of *others* that a short *name* sounds like, or is the beginning of."""
    return [
        other
        for other in others
        if other.startswith(name)
        or (len(name) >= MIN_NAME_CHARS - 1 and _sound_alike(name, other))  # a stem may be shorter
    ]


def _sound_alike(first: str, second: str) -> bool:
    """Return whether two names differ in letters of one sound, or in the order of two letters."""
    return _sound(first) == _sound(second) or _are_swapped(first, second)


def _sound(name: str) -> str:
    without_h = name[:1] + name[1:].replace("ph", "f").replace("h", "")
    return _REPEATED.sub(r"\1", without_h.translate(_ALIKE))


def _are_swapped(first: str, second: str) -> bool:
    """Return whether exactly two neighbouring letters changed places."""
    if len(first) != len(second):
        return False
    places = [place for place in range(len(first)) if first[place] != second[place]]
    if len(places) != 2 or places[1] - places[0] != 1:
        return False
    left, right = places
    return (first[left], first[right]) == (second[right], second[left])


def _are_near(first: str, second: str, edits: int) -> bool:
    """Return whether at most *edits* letters differ, are missing, or change places in a pair."""
    if abs(len(first) - len(second)) > edits:
        return False
    before: list[int] = []
    row = list(range(len(second) + 1))
    for i, letter in enumerate(first, 1):
        following = [i]
        for j, other in enumerate(second, 1):
            cost = min(row[j] + 1, following[j - 1] + 1, row[j - 1] + (letter != other))
            if i > 1 and j > 1 and letter == second[j - 2] and first[i - 2] == other:
                cost = min(cost, before[j - 2] + 1)
            following.append(cost)
        if min(following) > edits:
            return False
        before, row = row, following
    return row[-1] <= edits
