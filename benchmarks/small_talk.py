"""
What people say to an assistant that no memory answers: greetings, small talk, facts of the world,
sums, small errands. Written by hand; every second one is for confirmation.
"""

_LINES = """
good morning, how are you?
hey there
hi! nice to see you again
thanks, that was really helpful
ok cool, bye for now
good night, talk tomorrow
are you a robot?
do you sleep at all?
what can you do?
who made you?
you're funny, you know that?
sorry, my mistake
haha that's hilarious
please be quiet for a minute
yes
no, not really
hmm, let me think
can you hear me?
testing, one two three
how's the weather where you are?
what's the capital of Peru?
who wrote Don Quixote?
how tall is Mount Kilimanjaro?
what is the boiling point of nitrogen?
when did the Berlin Wall fall?
how many legs does a lobster have?
what's the largest planet in the solar system?
who painted The Night Watch?
what language is spoken in Suriname?
how far is the moon from the earth?
what is the currency of Mongolia?
who won the 1998 football world cup?
what does DNA stand for?
how many strings does a cello have?
what year did the Titanic sink?
is a tomato a fruit or a vegetable?
what is the chemical symbol for tungsten?
which country has the most time zones?
who was the first person in space?
why is the sky blue?
how do magnets work?
what is photosynthesis?
explain the theory of plate tectonics
what causes thunder?
how do vaccines work?
what's the difference between a crocodile and an alligator?
why do cats purr?
how do submarines dive?
what is a black hole?
how does a refrigerator keep things cold?
convert 5 miles to km
what's 17 times 23?
how many ounces in a pound?
what is 15 percent of 240?
convert 72 fahrenheit to celsius
what's the square root of 1764?
how many seconds are there in a day?
roll a dice for me
flip a coin
pick a random number between 1 and 50
write me a haiku about rain
tell me a joke
sing me a song
write a limerick about a penguin
give me a riddle
tell me a bedtime story about a dragon
write a rap about broccoli
compose a toast for a wedding of strangers
make up a tongue twister
write a slogan for a toothpaste brand
translate "where is the station" into Finnish
how do you say thank you in Swahili?
what does "schadenfreude" mean?
give me a synonym for gigantic
how do you spell onomatopoeia?
what's the plural of octopus?
is it "who" or "whom"?
what rhymes with orange?
use the word "ubiquitous" in a sentence
correct the grammar: he don't know nothing
set a timer for ten minutes
what time is it in Tokyo right now?
turn off the lights in the kitchen
play some jazz
call a taxi
order a pepperoni pizza
what's on television tonight?
wake me up at seven
take a screenshot
increase the volume
will it rain on the coast tomorrow?
what's the exchange rate of the Danish krone?
who is leading the Tour de France?
what are today's headlines?
is the pharmacy on the corner open on Sundays?
how do I unclog a sink?
how long do you boil an egg?
how do I get red wine out of a carpet?
what's the best way to peel garlic?
how do I fold a fitted sheet?
how do I sharpen a lawn mower blade?
can you freeze cooked rice?
how often should I descale a kettle?
what temperature should a fridge be?
how do I tie a bow tie?
recommend me a documentary about volcanoes
what's a good name for a parrot?
which board game is good for six players?
what should one pack for Antarctica?
name five rivers in South America
list the moons of Jupiter
who are the main characters in Moby Dick?
summarize the plot of Hamlet
what are the rules of curling?
how does castling work in chess?
how many players are in a water polo team?
what is the offside rule?
which instrument has 88 keys?
who composed The Four Seasons?
what's the tallest building in Kuala Lumpur?
how do I reverse a linked list in Haskell?
what is the time complexity of heapsort?
what does the chmod command do?
explain the difference between TCP and UDP
what is a monad?
how do I exit vim?
write a regular expression for a UK postcode
what port does telnet use?
is water wet?
do you believe in ghosts?
what is the meaning of life?
would you rather fly or be invisible?
what came first, the chicken or the egg?
if you were an animal, which one would you be?
"""
SMALL_TALK = tuple(line for line in _LINES.splitlines() if line)
