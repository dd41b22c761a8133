"""Word lists used in the patterns of extraction_rules.py, as pieces of regular expressions."""

# Words that refer to the current situation, so that the sentence has no meaning later.
DEICTIC = r"(?:this|that|it|these|those|them|here|one|him|her|both|either|neither|all of)\b"
# Phrases that limit a sentence to the present moment.
NOW = (
    r"\b(?:right now|at the moment|just now|today|tonight|this (?:morning|afternoon|evening|time"
    r"|line|one|file|error|bug|test|function|change|commit|message)|again|currently|a (?:minute"
    r"|second|moment) ago)\b"
)
WE = r"(?:we|i|you and i|the team|our team|us)"
# Phrases that make an instruction permanent.
STANDING = (
    r"\b(?:from now on|from here on|in (?:the )?future|going forward|always|never|ever|every time"
    r"|each time|by default|in general|generally|as a rule|for all (?:of )?(?:our|my|future)"
    r"|whenever|for good|when(?:ever)? you (?:\w+ )?(?:explain|answer|write|reply|respond|show|give"
    r"|look|book|suggest|review|talk|generate|edit|propose|summari[sz]e|translate|make|change"
    r"|refactor|code|plan)|all our sessions|when we (?:talk|speak|work))\b"
)
# Verbs that begin an instruction, and instructions with and without a permanent phrase.
VERBS = (
    r"(?:do ?n't|do not|never|always|stop|avoid|skip|no|keep|use|give|show|ask|tell|answer|reply"
    r"|respond|write|speak|talk|address|call|put|add|include|leave|start|end|prefer|format|explain"
    r"|suggest|check|run|make|send|wait|assume|treat|name|stick|go|only|be|round|quote|cite|list"
    r"|sort|convert|remember|propose|summari[sz]e)\b"
)
TELLS = rf"(?:^|[.,:;] |\bplease |\band |\bjust )(?:please |just |also )?{VERBS}"
STANDING_TELLS = rf"{STANDING},? (?:please |just |also )*{VERBS}"
PROJECT_NOUNS = (
    r"(?:server|database|db|api|apis|ci|cd|pipeline|build|builds|test|tests|suite|port|url|endpoint"
    r"|endpoints|branch|branches|repo|repository|deadline|staging|production|prod|firmware|docs?"
    r"|documentation|config|configuration|schema|schemas|migration|migrations|strings|queue|queues"
    r"|cluster|bucket|service|services|worker|workers|app|apps|site|website|frontend|front-end"
    r"|backend|back-end|cache|logs?|logging|releases?|deploys?|deployments?|commits?"
    r"|commit messages|linter|formatter|lockfile|package|packages|module|modules|folder|directory"
    r"|files?|tables?|columns?|fields?|keys?|tokens?|secrets?|credentials|images?|containers?|vm"
    r"|host|hosts|domain|dns|certificates?|license|version|versions|codebase|monorepo|workspace"
    r"|project|budget|team|office|meeting|standup|stand-up|retro|sprint|client|customers?|invoices?"
    r"|reports?|amounts?|prices|dates|timestamps|times|ids|names|imports|components?|tickets?"
    r"|issues?|prs?|pull requests?|reviews?|hooks?|scripts?|commands?|makefile|dockerfile"
    r"|env(?:ironment)?|variables?|flags?|settings?|passwords?|backups?|cron|jobs?|scheduler"
    r"|gateway|proxy|firewall|vpn|webhooks?|events?|messages?|topics?|models?|datasets?|notebooks?"
    r"|experiments?|recipes?|chapters?|thesis|course|class|classes|grades?|syllabus|exam|lab|garden"
    r"|house|flat|trip|bookings?|flights?|hotel|expenses?|expense reports|accounts?|ledger|plugin"
    r"|plugins|library|libraries|limits?|timeouts?|thresholds?|dependencies|framework|stack|runtime"
    r"|compiler|toolchain|kernel|device|devices|dashboards?|alerts?|metrics)"
)
# Verbs that state a lasting property of a thing.
HOLDS = (
    r"(?:is|are|was|were|isn't|aren't|'s|'re|lives?|live|runs?|run|listens?|needs?|uses?|use|gets?"
    r"|returns?|must|should|shouldn't|must not|has to|have to|has|have|requires?|goes?|go|sits?"
    r"|happens?|starts?|expects?|accepts?|belongs?|comes?|ends?|lies|points?|follows?|depends?"
    r"|stays?|can't|cannot|can only|may only|only|never|always|supports?|contains?|holds?|handles?"
    r"|proxies|talks?|writes?|reads?|ships?|targets?|expires?|opens?|closes?)"
)
STEPS = r"(?:,|;|\bthen\b|\band\b|\d\.)"  # separators between steps
# Phrases that name a future time.
WHEN = (
    r"\b(?:tomorrow|tonight|later|soon|next (?:week|month|time|session|sprint|year|quarter|monday"
    r"|tuesday|wednesday|thursday|friday|saturday|sunday)|(?:on |this |by )(?:mon|tues|wednes|thurs"
    r"|fri|satur|sun)day|before \w+|after \w+|by (?:the end|then|\w+day|end of)|once \w+|until"
    r"|in (?:january|february|march|april|may|june|july|august|september|october|november|december)"
    r"|put it on (?:the|my) list|at some point|some ?day)\b"
)
FAMILY = (
    r"(?:wife|husband|partner|girlfriend|boyfriend|fianc[ée]e?|daughter|son|kids?|child|children"
    r"|baby|mother|mom|mum|father|dad|parents?|brother|sister|siblings?|twins?|grandmother"
    r"|grandfather|aunt|uncle|cousin|niece|nephew|dogs?|cats?|pets?|horse|family|roommate|flatmate)"
)
# Nouns that describe the user after "my".
MINE = (
    rf"(?:{FAMILY}|(?:full |first |last |middle |maiden )?name|surname|age|birthday|birthdate"
    rf"|job|role|title"
    r"|position|profession|employer|company|startup|business|team|department|office|boss|manager"
    r"|salary|(?:github|twitter|gitlab|slack|discord|user) ?(?:handle|name|account)?|handle"
    r"|username|e-?mail(?: address)?|phone(?: number)?|address|home|house|flat|apartment|hometown"
    r"|city|country|time ?zone|native language|mother tongue|first language|pronouns|nationality"
    r"|laptop|machine|computer|workstation|setup|editor|ide|shell|os|operating system"
    r"|keyboard layout|stack|main language|car|bike|phone|camera|diet|allergy|allergies|blood type"
    r"|height|weight|shoe size|size|major|degree|thesis|university|school|doctor|insurance|bank"
    r"|budget|income|favou?rite [\w-]+|preferred [\w-]+|go-to [\w-]+|english|german|french|spanish"
    r"|hobby|hobbies|goal|religion)"
)
