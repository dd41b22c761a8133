"""
Every constant of the ranking, with its evidence.

The tasks are those of benchmarks/; docs/how-it-works/retrieval.md says how they were used, and
docs/log.md has the figures. *All questions* means that the second half of the questions is not an
independent check of that constant. Similarities are on the scale of the default model, to which
those of other models are mapped (domain/model_profile.py). Code reads these as attributes of the
module, so that a benchmark can change one for a run.
"""

from datetime import timedelta

# Relevance: chosen on all questions of 15 tasks, in some sixty settings (log, 2026-11-15).
VECTOR_WEIGHT = 0.05  # for each standard deviation above the mean similarity
CHUNK_PENALTY = 0.5  # standard deviations for each doubling of chunks
WORD_WEIGHT = 0.29
# Among few short records one common word makes the best match, and the most similar one is fewer
# standard deviations above the mean. There words count only as far as some record has those of the
# query ("Room 12" is not "Room 14"), and vectors count for more. Chosen on 27 stores of 30 facts,
# alone and merged to 90, 270 and 810, and on two people (log, 2026-11-18).
SMALL_STORE_RECORDS = 200  # with so many, half of that; with many more, nothing
SMALL_STORE_VECTOR_BONUS = 2.0  # times VECTOR_WEIGHT, added in the smallest store
WORD_SHARE_POWER = 1.3  # half of the best BM25 counts for less than half
MIN_WORD_TRUST = 0.2  # if many records match equally well
TRUST_RANK = 10  # the best match is compared with the one at this rank
LENGTH_POWER = 0.3  # of a record's length, relative to the short records among the candidates
SHORT_QUANTILE = 0.25  # share of the candidates that are at most as long as a short one
PRECEDING_WEIGHT = 0.15
ADJACENT_BONUS = 0.022  # for each record next to it that is among the best
ADJACENT_TOP = 10  # how many count as the best
SPEAKER_BONUS = 0.12  # for messages of the speaker the query asks about; LongMemEval, first half
MAX_QUESTION_WORDS = 25  # a longer text mostly tells something, and asks in passing

# Order of equally relevant memories: too little to put a weak one before a strong one.
SECONDARY_WEIGHT = 0.02  # of scope, of recency and of confidence, each
# On the relevance of what nobody reviewed, from what is hardly worth remembering to what surely is;
# daily-life benchmark, both people (log, 2026-11-18).
UNREVIEWED_FACTORS = (0.5, 0.97)
OTHER_PROJECT_FACTOR = 0.9  # on the relevance of a memory of another project

# Threshold: chosen on one half of the unrelated questions, confirmed on the other; but
# UNKNOWN_NAMES_PENALTY was chosen on both (benchmarks/results/refusals.md).
MIN_SCORE = 0.39  # of the best candidate
SLACK = 0.25  # subtracted for all candidates once one has passed
# If nothing passes, a search returns weak matches, marked as such: what passes with this discount.
# context/bundle_selection.py says which of them are put into a prompt (log, 2026-11-18).
WEAK_DISCOUNT = 0.15
# The gloss of a query in another language is inexact, so a weak match says less; the same for a
# model that needs no gloss, which was not measured. Six languages of the daily-life benchmark (log,
# 2026-11-19).
GLOSSED_WEAK_DISCOUNT = 0.06
MIN_WEAK_SCORE = 0.17  # of a weak match, however small the store: in no store more was refused
MAX_WEAK_MATCHES = 5  # of a search that has nothing better
WEAK_SLACK = 0.12  # subtracted for all weak matches once one has passed
# A memory enters a bundle only if its score is at most this far below the strict threshold; 0 if no
# name in the request occurs in the store. Of 35 lines further below, 3 answered the question: two
# people of the daily-life benchmark, ten invented ones (log, 2026-11-19).
BUNDLE_SLACK = 0.15
# A question for a number or a person is answered only if a match that passes by itself, or is as
# near to the best one as a second weak match, may hold such an answer (log, 2026-11-19).
ANSWER_SLACK = 0.12
MEAN_SHARE = 0.6  # share of the mean similarity that is subtracted, if many records were measured
MEAN_SMOOTHING = 16  # records; with fewer than this, the mean may mostly be the answer itself
# The most similar of n unrelated records is about sqrt(2 ln n) standard deviations above the mean,
# so a small store needs less than the stores that MIN_SCORE was chosen on. That difference is
# subtracted, at most SMALL_STORE_DISCOUNT, because the spread of a few records says little. It
# follows from the statistics; other factors were tried on three stores (log, 2026-11-18).
REFERENCE_RECORDS = 500
SMALL_STORE_DISCOUNT = 0.11
# If the mean similarity without the best record is above ALL_SIMILAR_MEAN, the model cannot tell
# the records apart; then similarity alone counts only this far above what the best has by chance.
# Six languages and the three English stores of the daily-life benchmark (log, 2026-11-18).
ALL_SIMILAR_MEAN, STAND_OUT_DEVIATIONS = 0.22, 0.1
MIN_SAMPLE = 4  # records; of fewer, the mean says nothing
COVERAGE_BONUS = 0.15  # for a candidate that has every word of the query
LONG_DOCUMENT_BONUS = 0.09  # several chunks: only a part answers, so the similarity is lower
# A long query mentions several things, and no record is close to all of them. From
# SHORT_QUERY_WORDS on the threshold falls; at LONG_QUERY_WORDS it is lower by LONG_QUERY_DISCOUNT.
SHORT_QUERY_WORDS, LONG_QUERY_WORDS, LONG_QUERY_DISCOUNT = 16, 30, 0.13
UNKNOWN_NAMES_PENALTY = 0.06  # added if the names in the query occur nowhere in the store
# Words alone can be enough: an embedder understands little of an identifier.
FULL_COVERAGE = 0.99  # of the query's weight
HIGH_COVERAGE, HIGH_COVERAGE_SIMILARITY = 0.8, 0.2

# Memories of other projects (ADR 7): so high that nothing unrelated was returned in the trials.
OTHER_MIN_COVERAGE = 0.75  # of the query's word weight
OTHER_MIN_WORDS = 3
OTHER_MIN_SIMILARITY = 0.45
OTHER_MAX_MATCHES = 50
# Enough: what covers the query has its rarest words, and their postings are read first.
OTHER_MAX_POSTINGS = 3_000

MAX_RELATED = 10  # memories linked to the hits, returned after them if the caller asks

# A time in the query: chosen on generated questions about times (benchmarks/results/by_time.md).
TIME_BOOST = 0.15  # added to a score if the query also names a topic
SESSION_BOOST = 0.05  # less, because "our previous chat" is often just an earlier one
SESSION_GAP = timedelta(minutes=30)  # without any memory: what follows is another session
MAX_MOMENTS = 100_000  # to count sessions among; with more, a query names no session

# Conflicting facts: chosen on every fifth scope of letta-update and on factcons-6k (log).
CONFLICT_TOP = 10  # how many of the best are compared
CONFLICT_MAX_CHARS = 300  # of a statement; a longer text says several things
CONFLICT_MAX_SCORE_GAP = 0.3
CONFLICT_MIN_VECTOR_SIMILARITY = 0.45  # below this, two statements are not compared
CONFLICT_MIN_SIMILARITY_SAME_NAMES = 1.55  # of two statements about the same names
CONFLICT_MIN_SIMILARITY = 2.2  # of any two statements
# A statement that announces a change is preferred to an older one that shares so many words with
# it; daily-life benchmark, both people (log, 2026-11-18).
CHANGE_MIN_SHARED_WORDS = 2
CHANGE_MAX_SCORE_GAP = 0.35

# Skills: few and short, so words are shares of the query and similarities are not normalised.
# Chosen by hand on the bundled skills.
SKILL_WORD_WEIGHT = 0.4
SKILL_VECTOR_WEIGHT = 0.6
SKILL_MIN_SIMILARITY = 0.25  # of a skill that shares no word with the query
