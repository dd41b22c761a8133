"""
Detect requests to remember something in every project.

Everything said in a project stays in that project. Only these words take it out: a phrase that
names all projects of the speaker ("in all my projects"), or a request to remember with a word for
everywhere ("remember this globally"). "We use tabs everywhere" is about one code base, and "in all
our projects" about one company, so neither counts.
"""

from recollect.text.lazy_pattern import LazyPattern

_WORKPLACES = r"(?:projects?|repos?|repositor(?:y|ies)|code ?bases?|workspaces?)"
_OF_A_CLIENT = r"(?!\s+(?:for|at|with|of|from)\b(?! mine\b))"  # "all my projects for Acme"
_ALL_MINE = LazyPattern(
    r"(?<!not )(?<!not in )(?<!not for )(?<!n't )(?:"
    rf"\b(?:all(?: of)?|every one of|each of|any of) my (?:other )?{_WORKPLACES}\b{_OF_A_CLIENT}"
    rf"|\b(?:every|each|any) {_WORKPLACES} (?:of mine|that i (?:work|am)|i(?:'m| am| work))\b"
    r"|\bin allen meinen (?:projekten|repos|repositories)\b"
    r"|\bdans tous mes (?:projets|dépôts|repos)\b"
    r"|\ben todos mis (?:proyectos|repositorios|repos)\b"
    r"|\bem todos os meus (?:projetos|projectos|repositórios|repos)\b"
    r"|\bin tutti i miei (?:progetti|repository|repo)\b"
    r"|\bin al mijn (?:projecten|repo's|repositories)\b"
    r"|我(?:的)?所有(?:的)?(?:项目|專案)|所有我的(?:项目|專案)"
    r"|私の(?:すべて|全て|全部)のプロジェクト"
    r"|(?:내|제) 모든 프로젝트|모든 (?:내|제) 프로젝트"
    r")"
)
_REMEMBER = r"(?:remember|note|memori[sz]e|keep in mind|don't forget|do not forget|from now on)"
_EVERYWHERE = (
    rf"(?:globally|everywhere|(?:in|for|across) (?:all|every|any) {_WORKPLACES}"
    rf"|not (?:just|only) (?:in|for) this {_WORKPLACES}){_OF_A_CLIENT}"
)
_REMEMBER_EVERYWHERE = LazyPattern(
    # Near each other, so that "remember: the flag is set everywhere" does not count.
    rf"(?<!not )(?<!n't )\b{_REMEMBER}(?: (?:this|that|it))?,? {_EVERYWHERE}\b"
)


def asks_for_all_projects(sentence: str) -> bool:
    """Return whether *sentence* asks to remember something in every project of the speaker."""
    text = " ".join(sentence.lower().replace("’", "'").split())
    return bool(_ALL_MINE.search(text) or _REMEMBER_EVERYWHERE.search(text))
