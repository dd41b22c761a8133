"""How exports and imports travel over HTTP: the file is the body, the result is in a header."""

RESULT_HEADER = "recollect-result"
UPLOADED_FILE = "the uploaded file"  # in error messages; the client puts the real path in its place

# Requests whose route carries a file; server and client handle them apart from the others.
FILE_REQUESTS = frozenset(
    {"ExportRequest", "ImportRequest", "ExportAgentRequest", "ImportAgentRequest"}
)
