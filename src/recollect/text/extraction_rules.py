"""
The extraction rules: which sentences become memories, and of which type.

`pattern` must match the sentence as `normalize_sentence` returns it; `unless` must not match. Rules
are tried in order and the first match wins. A rule matches statements only, unless it allows
questions or suppositions. To extend the extractor, add a rule and a row to
tests/engine/test_extraction_rules.py; benchmarks/extraction measures the effect.
"""

from recollect.domain.memory import MemoryType
from recollect.lazy_dataclass import dataclass
from recollect.text.extraction_lexicon import (
    DEICTIC,
    FAMILY,
    HOLDS,
    MINE,
    NOW,
    PROJECT_NOUNS,
    STANDING,
    STANDING_TELLS,
    STEPS,
    TELLS,
    WE,
    WHEN,
)
from recollect.text.lazy_pattern import LazyPattern
from recollect.text.sentence_classifier import is_question, is_reported_speech, is_supposition

PROFILE, PROJECT, DECISION = MemoryType.PROFILE, MemoryType.PROJECT, MemoryType.DECISION
ARTIFACT, TASK_HINT = MemoryType.ARTIFACT, MemoryType.TASK_HINT


@dataclass(frozen=True)
class ExtractionRule:
    """The sentences that become memories of one type."""

    name: str
    type: MemoryType
    pattern: LazyPattern
    unless: LazyPattern | None = None
    confidence: float = 0.7
    allows_questions: bool = False
    allows_suppositions: bool = False

    def matches(self, text: str) -> bool:
        """Return whether the normalised sentence *text* matches this rule."""
        if not self.pattern.search(text):
            return False
        return self.unless is None or not self.unless.search(text)


RULES: tuple[ExtractionRule, ...] = (
    # Open questions and tasks.
    ExtractionRule(
        "question",
        TASK_HINT,
        LazyPattern(
            r"\bopen (?:question|point|issue)\b",
            r"\bstill (?:\w+ )?(?:unclear|open|undecided|unresolved|unsure|debating|to be "
            r"(?:decided|discussed))\b",
            r"\b(?:still |yet to )(?:need to |have to )?(?:figure|find|work|sort) (?:it )?out "
            r"(?:how|if|whether|what|which|who|when|why)",
            r"\b(?:have ?n't|has ?n't|not) (?:yet )?(?:decided|figured out|worked out|settled"
            r"|found out|made up my mind)\b",
            r"\b(?:not sure|unsure|don't know|do not know|no idea) (?:yet|still)\b",
            r"\byet (?:unclear|undecided|unknown)\b|^(?:undecided|unclear|unresolved)\b",
            r"\bremains? (?:open|unclear|to be (?:seen|decided))\b",
            r"\b(?:tbd|to be (?:decided|determined|discussed|clarified))\b",
            r"\bneed to (?:figure out|find out|work out|decide|clarify|clear up|think about"
            r"|look into)\b.*\b(?:how|if|whether|what|which|who|when|why|about)\b",
            r"\b(?:unclear|open|unresolved) (?:is|whether|how|if|what)\b",
            r"^(?:question|decision) (?:for|to|that) .*:",
            r"\bwe should (?:decide|find out|figure out|clarify|look into)\b.*\b(?:some ?day"
            r"|later|soon|at some point|before|how|whether|if|which)\b",
        ),
        unless=LazyPattern(
            r"^(?:do|does|did|is|are|can|could) (?:you|we)\b",
            r"\bwhy (?:this|it|that|is|does|the)\b",
            r"\bnot that\b",
        ),
        confidence=0.75,
        allows_questions=True,
        allows_suppositions=True,
    ),
    ExtractionRule(
        "next",
        TASK_HINT,
        LazyPattern(
            r"^(?:the )?next(?: up| steps?| thing| task)?\b(?: (?:for|on) [^,:]*)?(?:,|:| is| "
            r"are| will be|\s*-| we| i)",
            r"^(?:todos?|to-dos?|fixme|follow[- ]?up|action items?|reminder|remaining|left to do"
            r"|backlog)\b\W",
            r"\b(?:fixme|todo|note|reminder) for (?:later|next|tomorrow|the next)\b",
            r"\bremind me\b",
            r"\bwhat(?:'s| is) left(?: to do)?\b",
            rf"\b{WE} (?:still |also )?(?:need|have|ought|plan|want|intend|are supposed|'re "
            rf"supposed)(?:s|ed)? to \w+.*{WHEN}",
            rf"{WHEN}.*\b{WE} (?:still |also )?(?:need|have|ought|must|should|plan|start|begin"
            rf"|will|want)\b",
            rf"{WHEN}.*\b(?:i'll|we'll|i'm going to|we're going to|i am going to|we are going "
            rf"to)\b",
            rf"\b(?:i'll|we'll|i will|we will|i'm going to|we're going to) (?!be\b|see\b|use\b"
            rf"|go with\b|have\b|never\b|always\b)\w+.*{WHEN}",
            rf"\b{WE} (?:should|must) \w+.*{WHEN}",
            r"\bdon't let me forget\b|\bput (?:it|that|this) on (?:the|my) list\b|\bstill (?:to "
            r"do|missing|left)\b",
        ),
        unless=LazyPattern(
            r"^next (?:time|to|page|question|one|please)\b",
            r"\bso (?:nice|good)\b",
            r"\b(?:see|talk to) you\b",
            r"\bi'll (?:try|check|look|do|test|run|let you|see|get back|be|take)\b(?! .*\bto\b)",
            r"\b(?:i'll|i will|we'll|we will) (?:\w+ )?(?:you|hit|ping|message|text|share|reply)\b",
            r"\bnot later\b|\bnow\b.*\bnot\b|\b(?:need|want) to see\b",
            r"\bnever mind\b",
        ),
        confidence=0.75,
    ),
    # Decisions.
    ExtractionRule(
        "decision",
        DECISION,
        LazyPattern(
            rf"\b{WE}(?:'ve| have|'d| had|'re)? (?:finally |already |just |now |both |all |also "
            rf"|jointly )*(?:decided|chose|chosen|picked|opted|settled|agreed|voted|committed"
            rf"|resolved)(?: together| today| yesterday| last \w+)? (?:to|on|for|that|against|not"
            rf"|in favou?r|it's|we|i)?\s*(?!{DEICTIC})\w",
            rf"\blet(?:'s| us) (?:go (?:with|for)|use|stick (?:with|to)|stay (?:with|on)"
            rf"|keep (?:using|the (?:current|old|existing|same))|drop|switch to|move to|"
            rf"adopt|not do|not use|not support|do without|standardi[sz]e on|remove|get rid of) "
            rf"(?!{DEICTIC})\w",
            rf"\b(?:we|i)(?:'ll| will| won't| will not|'re going to|'m going to| are going to"
            rf"| am going to) (?:\w+ )?(?:use|go with|go for|keep|drop|replace|switch|move|adopt"
            rf"|support|stick|host|deploy|store|take|standardi[sz]e|rewrite|migrate|remove|buy"
            rf"|rent|book|choose|pick|build|target|require) (?!{DEICTIC})\w",
            rf"\b(?:we're|we are|i'm|i am) (?:now |definitely |officially )?(?:dropping|replacing"
            rf"|switching|moving (?:to|from|off|away)|keeping|adopting|removing|retiring"
            rf"|deprecating|going (?:with|for)|sticking (?:with|to)|standardi[sz]ing|writing my"
            rf"|flying|taking the|buying the|abandoning|migrating|ditching) (?!{DEICTIC})\w",
            r"^(?:going|sticking|staying|settled|went) (?:with|on|for) \w",
            r"^(?:decision|decided|final (?:decision|answer|call)|verdict|agreed"
            r"|resolution)\b\s*[:,\-–]",
            r"\b(?:the|our|my) (?:final )?(?:decision|choice|verdict) (?:is|was|:)",
            r"\b(?:that|this|it) was (?:decided|agreed)\b|\bmade up (?:my|our) minds?\b|\bwe "
            r"keep the \w+",
        ),
        unless=LazyPattern(
            r"\b(?:have ?n't|has ?n't|had ?n't|did ?n't|not|never|nobody|who|yet "
            r"to)\b[^.,]{0,20}\b(?:decided|chosen|picked|agreed|settled)\b",
            rf"\bdecided(?: that)?[.!]*$|{NOW}",
            r"\blet's (?:use|keep) (?:going|it|this|that)\b",
            r"\btry(?:ing)?\b",
            r"\b(?:what|as|which|everything) (?:we|i)(?:'ve| have| had)?(?: \w+)? (?:agreed"
            r"|decided|chose)",
        ),
        confidence=0.8,
    ),
    # Preferences of the user.
    ExtractionRule(
        "preference",
        PROFILE,
        LazyPattern(
            r"\bi (?:really |much |very much |strongly |generally |usually |personally |always "
            r"|definitely |tend to |still )*"
            r"(?:prefer|favou?r)\b(?! (?:either|neither|that one|this one|it\b))",
            r"\bi'd (?:much )?(?:rather|prefer)\b",
            rf"\bi (?:really |absolutely |also |do )*(?:like|love|enjoy) (?!{DEICTIC}|how|what"
            rf"|the\b|to (?:think|know|see)|your|where)\w+ \w",
            rf"\bi (?:really |absolutely |just )*(?:hate|dislike|detest|despise|loathe|can't "
            rf"stand|cannot stand|can't bear|don't like|do not like"
            rf"|don't want|do not want|don't need|never want) (?!{DEICTIC}|to (?:break|lose|be"
            rf"|bother|sound|wait|waste|hear|miss|risk|repeat|spend)|how|when it|any more)\w",
            rf"\bi (?:only |always |generally )*(?:want|need|expect|would like|'d "
            rf"like)\b.*{STANDING}|{STANDING}.*\bi (?:only |always )*(?:want|need|expect"
            rf"|like)\b",
            rf"\bi always (?:want|expect) (?!{DEICTIC}|to\b)\w",
            r"\bi want (?:all |my |every |only )?[\w\s-]{2,40} (?:rather than|instead of|over"
            r"|and not|not)\b",
            rf"{TELLS}.*{STANDING}|{STANDING}.*{TELLS}|{STANDING_TELLS}",
            rf"^(?:please )?(?:never|always) (?!mind\b|be\b|has\b|was\b|a\b)\w+ "
            rf"(?!{DEICTIC}(?! in))\w+",
            rf"^(?:please )?(?:don't|do not|avoid|stop|no more|skip) (?:add|us|writ|includ|put"
            rf"|explain|apologi[sz]|start|giv|show|repeat|call|sugar|generat|wrap|abbreviat"
            rf"|translat|comment|mock|ask)\w*(?! {DEICTIC}| me (?:why|how|what))",
            r"^(?:please )?keep (?:your |the |all |my )?(?:answers?|repl(?:y|ies)|responses?"
            r"|explanations?|messages?|code|summar(?:y|ies)|it|things|commits?)\b.* (?:short"
            r"|brief|concise|simple|small|to the point|terse|formal|informal|minimal)",
            r"^(?:please )?(?:answer|reply|respond|write|speak|talk)(?: to me)? (?:only )?in "
            r"(?:english|german|french|spanish|italian|dutch|portuguese|polish|japanese|chinese"
            r"|bullet points|full sentences|markdown|plain text)",
            r"\b(?:address|call) me\b (?!back|when|if|later|tomorrow|at|on)|\bmy (?:pronouns"
            r"|preference) (?:are|is)\b",
            r"\bmy (?:favou?rite|preferred|go-to) [\w -]{2,30} (?:is|are)\b|\bi'm (?:not )?a "
            r"(?:big |huge )?fan of (?!this|that|it)\w",
            r"\bno [\w\s-]{2,30}(?:, please|please|, ever|for me)\b|\bonly for me\b|\bworks? "
            r"best for me\b|\bhow i (?:learn|work|think) best\b",
        ),
        unless=LazyPattern(
            rf"{NOW}|\b(?:no preference|either of|don't care|just love)\b",
            r"^(?:never|always|don't|do not|only) (?:push|commit|merge|deploy|force-push|rebase"
            r"|bump|squash|tag|release|hard-?code)\b",
            r"\b(?:now|already|immediately|until)\b(?<!from now)(?! on\b)",
            r"^(?:i )?(?:don't need|don't want) (?:any more|more|help|that|it)\b",
            r"\bi(?:'d| would) like (?:to|you to) (?:see|know|understand|have|get|ask|add|change"
            r"|fix|make|do|try|start|create|build|write)\b(?!.*(?:always|from now|every))",
        ),
        confidence=0.8,
    ),
    # Facts about the user.
    ExtractionRule(
        "identity",
        PROFILE,
        LazyPattern(
            rf"\bmy {MINE}(?:'s [\w-]+)?(?: \w+)? (?:is|are|isn't|aren't|was born|were born|has"
            rf"|have|lives?|works?|speaks?|goes|turns?|turned|runs|suffers?)\b",
            rf"\bmy {FAMILY},? [\w-]+,? (?:is|are|has|lives?|works?|goes)\b",
            r"\bi(?:'m| am) (?:actually |also |originally |currently |now |still |both |mostly "
            r"|primarily )*(?:an?|the) (?!bit\b|little\b|lot\b|few\b|fan\b|big fan|huge fan"
            r"|while\b|couple\b|sec|minute|second|moment|one\b|only one|same\b|idiot\b|fool\b"
            r"|moron\b|mess\b|step\b|knight|dragon|pirate)[\w-]+",
            r"\b(?:i|we)(?:'m|'re| am| are) (?:originally |currently |now |both |all |still )*"
            r"(?:from|based in|located in|living in) (?!the (?:middle|process|start)|a )[a-zà-ÿ]",
            r"\bi(?:'m| am) in [\w-]+(?: [\w-]+)? now\b",
            r"\b(?:i|we) (?:currently |now |both |still )?(?:live|reside|grew up|was born|were born"
            r"|am born) (?:in|near|just outside|outside|on|at|with|between)\b",
            r"\bi(?:'ve| have)? (?:just |recently |now )?(?:moved|relocated) (?:back )?to\b",
            r"\bi (?:currently |now |mostly |mainly )*(?:work|worked|study|studied|teach|intern"
            r"|volunteer|freelance|consult) (?:at|for|as|in|with|on|from|part)\b(?! (?:it|this"
            r"|that|the (?:bug|fix|issue|problem|same)))",
            r"\bi (?:currently |now |also )?(?:lead|manage|run|own|founded|co-founded|head"
            r"|maintain|supervise|coach) (?:an?|the|my own|our|two|three|several) \w",
            r"\bi(?:'m| am) (?:\w+ )?(?:allergic|vegan|vegetarian|pescatarian|diabetic"
            r"|colou?r-?\s?blind|lactose|coeliac|celiac|gluten|left-handed|right-handed|dyslexic"
            r"|pregnant|married|divorced|widowed|single|retired|self-employed|unemployed|deaf"
            r"|blind|autistic|fluent|bilingual|trilingual|asthmatic|anemic|bipolar|jewish|muslim"
            r"|christian|hindu|buddhist)\b",
            r"\bi(?:'m| am| just turned| turned| will be| turn) (?:\d{1,2}|thirty|forty|fifty"
            r"|sixty)\b(?!\s?%)(?! (?:percent|%|minutes|hours|min|lines|errors|pages|km|kg))",
            rf"\b(?:i|we) (?:have|'ve got|have got) (?:an? |one |two |three |four |five |\d+ "
            rf"|my |some |severe |mild |chronic |bad )*(?:\w+ )?(?:{FAMILY}|asthma|diabetes"
            rf"|adhd|dyslexia|epilepsy|allerg\w+|hypertension|migraines?|arthritis|degree|phd"
            rf"|masters?|bachelor|years|citizenship|passport|dual)\b",
            r"\bi(?:'m| am) (?:on|running|using) (?:an? |the |my )?(?:old |new )?(?:mac\w*"
            r"|windows|linux|ubuntu|debian|fedora|arch|nixos|wsl\d?|ios|android|iphone|m[1-5]\b"
            r"|intel|thinkpad|chromebook|pixel|python \d|node \d)",
            rf"\bi (?:mostly |mainly |usually |always |primarily )?use "
            rf"(?!{DEICTIC})[\w.+#-]+(?: [\w.+#-]+){{0,3}} (?:for|as|on|at|with|every|daily)\b",
            r"\bnative [\w-]+ speaker\b|\bi (?:also )?(?:speak|don't speak) (?:\w+ )*(?:english"
            r"|german|french|spanish|italian|dutch|portuguese|polish|russian|chinese|mandarin"
            r"|japanese|korean|arabic|hindi|turkish|swedish|norwegian|danish|finnish|czech|greek"
            r"|catalan|ukrainian|languages?)\b",
            r"\bi(?:'ve| have) (?:been|worked|lived|used|played|studied)\b.*\b(?:for|since) "
            r"(?:about |around |over |almost |nearly |the (?:last|past) )?(?:\d+|a|two|three"
            r"|four|five|six|seven|eight|nine|ten|\w+teen|twenty|many) ?(?:years?|months"
            r"|decades?)|\bi have \w+ years of\b",
            r"\bi(?:'m| am) (?:studying|doing my (?:phd|master|bachelor)|training to|new to"
            r"|brand new to|learning (?!about|how|that|more))\b",
            r"\bi(?:'m| am) called\b|\bi go by\b|\bwe(?:'re| are) not married\b|\bi(?:'m| am) "
            r"not (?:an?|the) \w+",
            r"^my (?!build|test|code|script|terminal|question|problem|issue|point|guess)"
            r"(?:[\w'-]+ ){1,3}(?:is|are|has|have|runs?|costs?|weighs?|starts?|ends?) [^.]*\d",
            r"\bi wear (?:size|glasses|contacts)\b|\bi don't (?:eat|drink|drive|smoke|own)\b",
        ),
        unless=LazyPattern(
            r"\bi(?:'m| am) (?:\w+ )?(?:sure|afraid|sorry|glad|happy|tired|hungry|stuck|confused"
            r"|done|back|ready|looking|trying|getting|seeing|running (?:the|into|it|out|a)|going"
            r"|wondering|thinking|curious|working on)\b",
            rf"{NOW}|\b(?:an? (?:error|issue|problem|question|bug|warning|exception|headache"
            rf"|crash|idea|feeling|hunch|look|go|try))\b",
            r"\b(?:is|are) (?:still|broken|down|late|waiting|stuck|dead|gone|busy|on the (?:phone"
            r"|calls?|way|road)|here|there)\b",
            r"\byou (?:are|have|were|should)\b",
            r"\b(?:said|named|called) (?:nobody|no one)\b|\blive (?:and|for)\b|\bin (?:the "
            r")?(?:docs|code|file|logs?|error|function)\b",
        ),
        confidence=0.8,
    ),
    # Instructions.
    ExtractionRule(
        "howto",
        ARTIFACT,
        LazyPattern(
            rf"^to (?!be\b|me\b|my\b|answer\b|sum\b|the\b|summarize\b|you\b|your\b|clarify\b"
            rf"|confirm\b)\w+[^.:]{{2,80}}?(?::|,) (?:you |we |i |just |first |simply |please "
            rf")?(?!i'm|i'd|i've|it's|but|which)\w+.*{STEPS}",
            r"^to (?!be\b|me\b|my\b)\w+[^.:,]{2,80}:\s*\w+",
            rf"\b(?:steps?|procedure|instructions|recipe|checklist|workflow"
            rf"|runbook)\b[^:]{{0,60}}:\s*\S.*{STEPS}",
            rf"^how (?:we|i|to|you) [^:?]{{2,60}}:\s*\S.*{STEPS}",
            rf"\b(?:works?|goes|done|do it|is done) like (?:this|so)\b\s*[:,\-–]\s*\S.*{STEPS}",
            r"\bthe (?:\w+ )?(?:way|trick|fix|procedure|process|remedy|workaround|solution) "
            r"(?:to|for|is|here)\b[^.]*(?:\bis\b|:)[^.]*(?:,|\band\b|\bthen\b|\bto\b)",
            r"\bthat's how (?:i|we) (?:do|make|run|release|deploy|handle)\b|\bthis is how (?:i"
            r"|we)\b",
            rf"^(?:when(?:ever)?|if|before|after|once) (?:you|we|the|i|an?|your|something|someone"
            rf"|that|tests?)\b[^.?]{{3,80}}?, (?:the fix is|then |you |just |first |simply "
            rf"|always |please )?(?:plug|run|do|stop|delete|restart|start|open|press|hold|remove"
            rf"|clear|reset|check|set|export|use|add|create|install|pull|push|rebuild|kill|unplug"
            rf"|call|copy|edit|go|turn|rm|git|make|docker|npm|reboot|log)\b.*{STEPS}",
            r"^(?:first|step 1|1\.)\b.*\bthen\b.*(?:\bthen\b|\bfinally\b|\band\b|,)",
            r"\byou (?:can )?(?:\w+ ){1,6}by \w+ing\b.*\S",
            r"^for (?:my|our|the) [^,]{2,40} (?:i|we) \w+ [^,]*,[^,]*(?:,.*)? and \w+",
            r"\b(?:do|run|execute|use) `[^`]+`[^.]*(?:\bthen\b|\bfollowed by\b|, and\b)",
        ),
        unless=LazyPattern(
            r"\?", r"\bright now\b|\bat the moment\b", r"\bi (?:get|got|see)\b.*\berror\b"
        ),
        confidence=0.75,
    ),
    # Conventions and facts of the project.
    ExtractionRule(
        "convention",
        PROJECT,
        LazyPattern(
            rf"\b(?:in|for|on|within|across|inside) (?:this|our|the|all|every|each|my) "
            rf"(?:[\w-]+ ){{0,2}}(?:repo(?:sitory)?|project|codebase|team|service|app|package"
            rf"|module|monorepo|workspace|company|office|lab|course|code)\b.*\b(?:{HOLDS}|we|i"
            rf"|all|every)\b",
            r"^our (?!mission|vision|brand|audience|story|promise|values|main keyword|goal)"
            rf"(?:[\w/.-]+ ){{1,5}}?{HOLDS}\b",
            rf"^(?:all|every|each|any)(?: of)?(?: the| our| new| public| my)? (?:[\w/.-]+ "
            rf"){{0,3}}?{PROJECT_NOUNS} (?:[\w/.-]+ ){{0,2}}?{HOLDS}\b",
            rf"^the (?:[\w/.`-]+ ){{0,4}}?{PROJECT_NOUNS}(?: (?:for|of|in|on|at|behind|under) "
            rf"(?:[\w/.`-]+ ?){{1,4}})? {HOLDS}\b",
            rf"^(?!this|that|these|those|your|his|her|their|such|some|good|what)(?:[\w-]+ )?"
            rf"{PROJECT_NOUNS}(?: (?:at|for|of|in) (?:our|the|this) "
            rf"[\w-]+)? {HOLDS}\b",
            rf"(?:^|[,;:] |\band )we (?:always |never |only |usually |normally |currently |mostly "
            rf"|all |also |don't |do not |no longer )*(?:use|run|deploy|write|name|store|keep"
            rf"|follow|require|merge|squash|rebase|test|build|host|format|lint|tag|release|target"
            rf"|support|rely on|log|track|pin|version|document|commit|ship|bill|charge|meet"
            rf"|publish|number|cache|index|train|validate) (?!{DEICTIC}|up\b|out\b|into\b|you\b"
            rf"|me\b|an? error|a lot)[\w`'\"./@-]+(?: \w+)?",
            r"^(?:nobody|no one|everyone|everybody|no \w+) (?:\w+ )?(?:merges?|push(?:es)?"
            r"|deploys?|commits?|touch(?:es)?|edits?|uses?|works?|goes|gets?|is allowed|may|can"
            r"|has)\b",
            r"^(?:never|always|only|don't|do not) (?:push|commit|merge|deploy|force-push|rebase"
            r"|edit|touch|bump|squash|tag|release|run|import|hard-?code|log|store)\b",
            r"\b(?:team|house|project|office|company|unwritten) (?:rule|convention|policy"
            r"|standard)s?\b|\bby convention\b|^convention:|\bas per our\b",
            r"\b(?:tests?|builds?|lint\w*|releases?|deploys?|migrations?|format\w*"
            r"|docs)\b[^.]*\b(?:with|via|using|through|by running)\b `?[\w./-]+",
            r"\bit's (?:called|hosted|deployed|written|stored|served) (?:in|on|at|with|by)?\b",
            r"^[a-z][\w.-]+ (?:is|are) (?:hosted|deployed|stored|pinned|configured|written"
            r"|defined|located|generated|built|served|mounted|exposed|owned|maintained) \w",
        ),
        unless=LazyPattern(
            r"\b(?:failed|crashed|attached|stopped|died|hung)\b",
            r"\b(?:is|are) (?:so |very |really |pretty |quite |too |all )?(?:robust|solid|great"
            r"|good|nice|perfect|important|key|critical|crucial|essential|amazing|excellent|clear"
            r"|helpful|useful|strong|fantastic|brilliant|interesting|beautiful|hard|easy|tough"
            r"|worth|what|how|where|why|with you)\b",
            rf"{NOW}",
            r"\b(?:is|are|was|were|'s|gets?|has|keeps?) (?:just |still |also |now |always "
            r")?(?:running\b(?! on| with)|failing|broken|down\b|slow\b|stuck|crashing|red\b"
            r"|green\b|not working|throwing|giving|complaining|done\b|ready\b|finished|timing "
            r"out|passing|hanging|missing|wrong\b|weird|fine\b|ok(?:ay)?\b|good\b|great\b|nice\b"
            r"|working\b|gone\b|loading|frozen|building|deploying|deprecated)",
            r"\b(?:just|suddenly) (?:froze|crashed|failed|died|broke|stopped|finished|passed)\b"
            r"|\bgives? me\b|\blooks? (?:good|great|fine|wrong|weird|odd)\b",
            r"^the (?:\w+ )?(?:error|exception|stack ?trace|warning|problem|bug|issue|reason"
            r"|thing|idea|point|question|answer|above|following)\b",
        ),
        confidence=0.7,
    ),
)


def matching_rule(text: str, *, include_reported: bool = False) -> ExtractionRule | None:
    """Return the first rule that the normalised sentence *text* matches, if any."""
    for rule in RULES:
        if (
            rule.matches(text)
            and (rule.allows_questions or not is_question(text))
            and (rule.allows_suppositions or not is_supposition(text))
            and (include_reported or not is_reported_speech(text))
        ):
            return rule
    return None
