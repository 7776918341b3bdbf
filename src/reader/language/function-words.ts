/** The language of a passage by its commonest words: names, titles and lists of literature have few of them. */

/** The commonest words of languages in Latin letters. Those in capitals are there for others that are like them, and not named. */
const COMMONEST: ReadonlyMap<string, string> = new Map([
  [
    "en",
    "the of and to that was with for it as be this are by from at which not have had they you but or were been their has would there"
  ],
  [
    "fr",
    "le la les de des du en et est une un dans que qui pour pas à au aux sur par plus avec ne se ce cette ces sont il elle nous vous ils mais ou où été être leur leurs son ses comme qu"
  ],
  [
    "de",
    "der die das und ist ein eine einen einem einer nicht mit von den dem des zu auf für im sich es auch als werden wird sind oder aber nach bei wie durch wenn noch über zum zur dass sie wir haben hat wurde kann"
  ],
  [
    "es",
    "el los las una que de en y por con para se del al no su es como más pero sus le este porque esta entre cuando muy sin sobre también hasta hay donde desde todo son ha lo"
  ],
  [
    "it",
    "il lo gli di che è e per un una in con non si da sono del della dei delle nel nella alla ai dal come più ma anche questo questa essere ha loro"
  ],
  [
    "pt",
    "o os as um uma e de que do da dos das em no na nos nas para por com não se mais como mas ao aos foi são ele ela seu sua ou quando muito já também pelo pela"
  ],
  [
    "nl",
    "de het een en van te dat die in is niet op zijn aan met voor er maar om dan zou dit door over uit ook bij naar werd wordt worden deze heeft hun"
  ],
  [
    "la",
    "et in est non ad ut cum ex sed quod qui quae esse sunt per si ab aut atque enim quam nec etiam eius autem"
  ],
  [
    "sv",
    "och att det som en på är av för med till den har inte om ett men jag de han var från vi kan eller också"
  ],
  ["pl", "i w z na się nie do że jest to jak po za od o są dla oraz tym który przez być jego ale czy"],
  [
    "DA",
    "og i at det er en til af på som med for den de har ikke et der var fra vi kan eller også blev sig men"
  ],
  ["CA", "el la els les de del dels i en per amb que és un una al no es com però més aquest són"],
  ["GL", "o a os as e de do da dos das non unha un é con para por que na no como máis pero ao foi"],
  ["RO", "și de la cu nu este în pe care din un o pentru că au fost mai sunt se să"],
  ["AF", "die van en in is nie het dat vir met op te om was deur aan wat word ook by"],
  ["CS", "a v na se je že to s z do o i ve jako pro by které ale po jsou k od"]
])

const LANGUAGES = [...COMMONEST].map(([language, words]) => ({
  language,
  words: new Set(words.split(" "))
}))

/** The places of the languages that have a word among their commonest. */
const LANGUAGES_OF: ReadonlyMap<string, ReadonlyArray<number>> = new Map(
  LANGUAGES.flatMap(({ words }) => [...words]).map((word) => [
    word,
    LANGUAGES.flatMap(({ words }, at) => (words.has(word) ? [at] : []))
  ])
)

/** Limit on characters that are examined, and least number of words among them. */
const MAX_CHARACTERS = 600
const MIN_WORDS = 14
/** Share of words that are among a language's commonest, and how many times as many they are as those of any other. */
const SHARE = 0.2
const TIMES = 1.4
/** Different words that the next language has not among its commonest. */
const MIN_OWN = 4

/** True when passages in other languages can be recognised within this one, which is written in Latin letters. */
export const isKnown = (language: string): boolean => COMMONEST.has(language)

/** The language that a long enough passage in Latin letters is surely in. */
export const languageByWords = (passage: string): string | undefined => {
  const words =
    passage
      .slice(0, MAX_CHARACTERS)
      .toLowerCase()
      .match(/\p{L}+/gu) ?? []
  if (words.length < MIN_WORDS) return undefined
  const counts = LANGUAGES.map(() => 0)
  for (const word of words) for (const at of LANGUAGES_OF.get(word) ?? []) counts[at] = (counts[at] ?? 0) + 1
  const [first, second] = LANGUAGES.map((one, at) => ({ ...one, count: counts[at] ?? 0 })).sort(
    (a, b) => b.count - a.count
  )
  if (first === undefined || second === undefined || first.count < SHARE * words.length) return undefined
  const own = new Set(words.filter((word) => first.words.has(word) && !second.words.has(word)))
  const isSure = own.size >= MIN_OWN && first.count >= TIMES * second.count
  return isSure && /^[a-z]/.test(first.language) ? first.language : undefined
}
