"""
The estimate against the true count.

The counts were taken with the o200k_base table (bpe-openai 0.1.4) and are written down here, so
that no test needs the table.
"""

from hypothesis import given
from hypothesis import strategies as st

from recollect.text.token_estimate import estimate_tokens
from tables import each_row

# name: the text, and its o200k_base count
COUNTED: dict[str, tuple[str, int]] = {
    "an English sentence": ("The quick brown fox jumps over the lazy dog.", 10),
    "a decision": (
        "We decided to use Postgres for the billing service because the team already runs "
        "it in production.",
        19,
    ),
    "a paragraph": (
        "Local-first software keeps the primary copy of your data on your own device. "
        "Servers still exist, but they hold secondary copies that help other devices catch "
        "up. The approach makes applications fast, lets them work without a network, and "
        "leaves ownership where it belongs.",
        51,
    ),
    "long words": (
        "Internationalization and counterintuitive misunderstandings characterize "
        "interdisciplinary collaboration.",
        12,
    ),
    "a chemistry word": ("dichlorodiphenyltrichloroethane and pseudopseudohypoparathyroidism", 23),
    "a Python function": (
        "def fuse(lists: list[list[str]], *, k: int = 60) -> dict[str, float]:\n"
        '    """Return reciprocal rank scores."""\n'
        "    scores: dict[str, float] = {}\n"
        "    for ranked in lists:\n"
        "        for rank, item in enumerate(ranked):\n"
        "            scores[item] = scores.get(item, 0.0) + 1 / (k + rank + 1)\n"
        "    return scores\n",
        86,
    ),
    "a TypeScript function": (
        "export async function fetchUser(id: string): Promise<User | null> {\n"
        "  const res = await fetch(`/api/users/${id}`);\n"
        "  if (!res.ok) return null;\n"
        "  return (await res.json()) as User;\n"
        "}\n",
        47,
    ),
    "a SQL query": (
        "SELECT m.id, m.content, COUNT(e.id) AS quotes\n"
        "  FROM memories AS m\n"
        "  LEFT JOIN evidence AS e ON e.memory_id = m.id\n"
        " WHERE m.status = 'active' AND m.created_at >= :since\n"
        " GROUP BY m.id\n"
        " ORDER BY quotes DESC\n"
        " LIMIT 20;",
        63,
    ),
    "a shell command": (
        'docker run --rm -it -p 8080:80 -v "$PWD":/usr/share/nginx/html:ro nginx:1.27-alpine',
        33,
    ),
    "JSON": (
        '{"id": 42, "name": "Ana", "tags": ["admin", "beta"], "active": true, "score": '
        '0.8731, "parent": null}',
        40,
    ),
    "YAML": (
        "services:\n"
        "  db:\n"
        "    image: postgres:16\n"
        "    environment:\n"
        "      POSTGRES_DB: app\n"
        "    ports:\n"
        '      - "5432:5432"\n',
        34,
    ),
    "a Markdown list": (
        "# Release checklist\n"
        "\n"
        "- [ ] Bump the version\n"
        "- [x] Update `CHANGELOG.md`\n"
        "- [ ] Tag **v1.4.0** and push\n"
        "\n"
        "See [the guide](https://example.com/guide) for details.\n",
        52,
    ),
    "a Markdown table": (
        "| name | size | date |\n"
        "|------|-----:|------|\n"
        "| a.txt | 1,024 | 2024-05-08 |\n"
        "| b.txt | 20,480 | 2024-06-11 |\n",
        49,
    ),
    "a stack trace": (
        "Traceback (most recent call last):\n"
        '  File "/app/main.py", line 42, in <module>\n'
        "    run(config)\n"
        '  File "/app/run.py", line 7, in run\n'
        '    raise ValueError("bad port: %r" % port)\n'
        "ValueError: bad port: '80a'\n",
        65,
    ),
    "a log line": (
        "2026-05-08T12:00:00.123456Z INFO  [worker-3] job=8841 state=done took=182ms retries=0",
        37,
    ),
    "a URL": (
        "https://github.com/acme/site/pull/1234/files?diff=split&w=1#discussion_r987654321",
        26,
    ),
    "a UUID": ("0196b0f0-7c1a-7d3e-9a55-3f2b1c4d5e6f", 33),
    "a SHA-256": ("8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6", 39),
    "base64": (
        "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==",
        52,
    ),
    "numbers": ("3.14159265358979 2.71828182845904 1.41421356237309 1,000,000 0x1F4A9", 37),
    "a phone number": ("+49 30 901820 and (555) 867-5309", 16),
    "snake case": (
        "max_chunk_chars = min(default_chunk_chars, embedding_model_max_tokens * "
        "average_chars_per_token)",
        19,
    ),
    "camel case": ("getUserByEmailAddress, HTTPServerRequestHandler, parseJSONResponseBody", 15),
    "German": (
        "Die Donaudampfschifffahrtsgesellschaft hat beschlossen, die Fahrpläne für das "
        "nächste Jahr grundsätzlich zu überarbeiten.",
        26,
    ),
    "French": (
        "L'équipe a décidé d'héberger l'application à Montréal, parce que les données ne "
        "doivent pas quitter le pays.",
        24,
    ),
    "Spanish": (
        "¿Cuándo empezamos la migración? Mañana por la mañana, después de la reunión con "
        "el equipo de diseño.",
        25,
    ),
    "Polish": (
        "Zażółć gęślą jaźń; wszystkie usługi działają na jednym serwerze w Gdańsku.",
        28,
    ),
    "Turkish": ("Müşteri veritabanını İstanbul'daki sunucuya taşımaya karar verdik.", 20),
    "Vietnamese": ("Chúng tôi quyết định lưu trữ dữ liệu tại Hà Nội vì lý do pháp lý.", 19),
    "Russian": (
        "Мы решили использовать PostgreSQL, потому что команда уже умеет с ним работать.",
        16,
    ),
    "Greek": ("Η ομάδα αποφάσισε να χρησιμοποιήσει την ίδια βάση δεδομένων.", 15),
    "Arabic": ("قرر الفريق استخدام قاعدة البيانات نفسها في جميع الخدمات.", 10),
    "Hebrew": ("הצוות החליט להשתמש באותו מסד נתונים בכל השירותים.", 16),
    "Hindi": ("टीम ने सभी सेवाओं के लिए एक ही डेटाबेस का उपयोग करने का निर्णय लिया।", 20),
    "Thai": ("ทีมงานตัดสินใจใช้ฐานข้อมูลเดียวกันสำหรับทุกบริการ", 14),
    "Chinese": ("我们决定使用同一个数据库，因为团队已经熟悉它了。", 14),
    "Japanese": ("チームはすべてのサービスで同じデータベースを使うことに決めました。", 24),
    "Korean": ("팀은 모든 서비스에서 같은 데이터베이스를 사용하기로 결정했습니다.", 16),
    "emoji": ("Ship it 🚀🎉 👍🏽 👩\u200d💻 🇩🇪 done ✅", 20),
    "mathematics": ("∀ε>0 ∃δ>0: |x−a|<δ ⇒ |f(x)−L|<ε, ∑ᵢ αᵢ² ≤ ∫₀^∞ e^{−t} dt", 51),
    "box drawing": ("┌──────┬──────┐\n│ a    │ b    │\n└──────┴──────┘", 29),
    "a rule of dashes": ("-" * 80, 1),
    "indented code": ("            if (x) {\n                return y;\n            }\n", 12),
    "blank lines": ("a\n\n\n\nb\n\n\nc\n", 6),
    "tabs": (
        "\tfor {\n\t\tselect {\n\t\tcase <-ctx.Done():\n\t\t\treturn ctx.Err()\n\t\t}\n\t}\n",
        21,
    ),
    "an uppercase shout": (
        "WARNING: DATABASE MIGRATION FAILED, ROLLING BACK TRANSACTION IMMEDIATELY",
        18,
    ),
    "a misspelt word": ("teh recieve seperate occured definately accomodate wierd", 10),
    "chat": ("lol idk, brb 5min... pls dont merge til i'm back!!! thx :)", 20),
    "a regular expression": (
        "^(?:[A-Za-z0-9_-]{2,}\\.)+[A-Za-z]{2,63}(?::\\d{1,5})?(?:/[^\\s?#]*)?$",
        41,
    ),
    "CSS": (
        ".btn--primary:hover > span{color:#ff00aa;margin:0 auto;transform:translateY(-50%)}",
        25,
    ),
    "minified JavaScript": (
        '!function(e,t){for(var n=0;n<t.length;n++)e[t[n]]=r(t[n],n);return e}(window,["a","b"]);',
        35,
    ),
    "names and addresses": (
        "Grzegorz Brzęczyszczykiewicz, ul. Świętokrzyska 12/4, 00-044 Warszawa",
        30,
    ),
    "diff": (
        "@@ -12,7 +12,7 @@ def load(path):\n"
        "-    data = open(path).read()\n"
        '+    data = path.read_text(encoding="utf-8")\n'
        "     return json.loads(data)\n",
        43,
    ),
    "hex dump": (
        "00000000  7f 45 4c 46 02 01 01 00  00 00 00 00 00 00 00 00  |.ELF............|",
        46,
    ),
}


@each_row(("text", "count"), COUNTED.values(), ids=COUNTED.keys())
def test_the_estimate_is_never_far_below_the_count(text: str, count: int) -> None:
    assert estimate_tokens(text) >= 0.7 * count


def test_the_estimate_is_seldom_below_the_count() -> None:
    enough = [name for name, (text, count) in COUNTED.items() if estimate_tokens(text) >= count]

    assert len(enough) >= 0.8 * len(COUNTED)


def test_the_estimate_of_english_prose_wastes_little_of_a_budget() -> None:
    prose = [COUNTED[name] for name in ("an English sentence", "a decision", "a paragraph")]

    estimated = sum(estimate_tokens(text) for text, _ in prose)

    assert estimated <= 1.5 * sum(count for _, count in prose)


@each_row(
    ("text", "estimate"),
    [("", 0), ("   ", 0), ("word", 1), ("word word", 2), ("a, b", 3), ("123456", 2), ("\n\n", 1)],
)
def test_short_texts_have_the_obvious_estimate(text: str, estimate: int) -> None:
    assert estimate_tokens(text) == estimate


@given(st.text(), st.text())
def test_a_longer_text_never_costs_less(text: str, more: str) -> None:
    assert estimate_tokens(f"{text} {more}") >= estimate_tokens(text)


@given(st.text(min_size=1))
def test_a_text_that_is_not_blank_costs_something(text: str) -> None:
    assert (estimate_tokens(text) > 0) == bool(text.strip() or "\n" in text)
