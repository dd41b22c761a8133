"""The sizes a store accepts; longer texts and larger lists are refused."""

MAX_CONTENT = 1_000_000
MAX_TITLE = 500
MAX_SUMMARY = 8_000
MAX_TAGS = 64
MAX_TAG = 100
MAX_NAME = 200
MAX_KEY = 1_000  # of a conversation or a document: a path, or an id of another program
MAX_REFERENCE = 4_096  # the name, git remote or path of a project
MAX_ALTERNATIVES = 32
MAX_IDS = 10_000  # memories in one request
MAX_LIMIT = 1_000  # items in one response
MAX_JSON = 10_000_000
MAX_DEPTH = 200
MAX_QUERY = 8_000  # a longer query is cut, not refused
