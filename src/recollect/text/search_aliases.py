"""
Words that are written in several ways: abbreviations, and British and American spellings.

A query finds a record by any of them: "k8s" by "Kubernetes", "colour" by "color". Only words that
mean the same wherever they occur belong here; other names of a thing are tags of its memory.
"""

_GROUPS = """
admin administrator
aluminium aluminum
analyse analyze
app application
appt appointment
auth authentication
behaviour behavior
bicycle bike
birthday bday
catalogue catalog
centre center
colour color
config cfg configuration
cosy cozy
db database
defence defense
dep dependency
deps dependencies
dialogue dialog
docs documentation
env environment
exam examination
favourite favorite
fibre fiber
fridge refrigerator
gh github
gl gitlab
grey gray
harbour harbor
honour honor
i18n internationalization internationalisation
javascript js
jewellery jewelry
k8s kubernetes
l10n localization localisation
lab laboratory
labour labor
licence license
lorry truck
maths math mathematics
mongo mongodb
msg message
mum mom mother
dad father
neighbour neighbor
nappy diaper
o11y observability
perf performance
postgres postgresql pg
prod production
programme program
pwd password
py python
pyjamas pajamas
rb ruby
realise realize
repo repository
rubbish garbage trash
rumour rumor
theatre theater
traveller traveler
ts typescript
tv television
veggie vegetarian
yoghurt yogurt
"""

ALIASES: dict[str, tuple[str, ...]] = {
    word: tuple(other for other in group if other != word)
    for group in map(str.split, _GROUPS.split("\n"))
    for word in group
}
