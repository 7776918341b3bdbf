/** Passages in another language than the document's: by their script, long ones in Latin letters by their words. */
import { isKnown, languageByWords } from "./function-words.ts"

/** A script, the languages that are written in it, and which of them a text is in. */
interface Script {
  readonly letters: RegExp
  readonly languages: ReadonlyArray<string>
  readonly of: (text: string) => string
}

const one = (letters: RegExp, language: string): Script => ({
  letters,
  languages: [language],
  of: () => language
})

/** Letters that distinguish one language of a script from the others. */
const SCRIPTS: ReadonlyArray<Script> = [
  one(/\p{Script=Hangul}/gu, "ko"),
  {
    letters: /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]/gu,
    languages: ["zh", "ja", "ko", "yue"],
    of: (text) => (/\p{Script=Hiragana}/u.test(text) ? "ja" : "zh")
  },
  one(/\p{Script=Greek}/gu, "el"),
  { letters: /\p{Script=Hebrew}/gu, languages: ["he", "yi"], of: () => "he" },
  {
    letters: /\p{Script=Arabic}/gu,
    languages: ["ar", "fa", "ur", "ps", "sd", "ug"],
    of: (text) => (/[ٹڈڑںے]/u.test(text) ? "ur" : /[پچژگ]/u.test(text) ? "fa" : "ar")
  },
  {
    letters: /\p{Script=Cyrillic}/gu,
    languages: ["ru", "uk", "bg", "sr", "mk", "be", "kk", "ky", "mn", "tg"],
    of: (text) => (/[іїєґ]/iu.test(text) ? "uk" : "ru")
  },
  one(/\p{Script=Thai}/gu, "th"),
  one(/\p{Script=Armenian}/gu, "hy"),
  one(/\p{Script=Georgian}/gu, "ka"),
  { letters: /\p{Script=Devanagari}/gu, languages: ["hi", "mr", "ne", "sa"], of: () => "hi" }
]

/** Fewest letters of a passage, and the share of them in one script. */
const MIN_LETTERS = 12
const SHARE = 0.7
/** Limit on letters that are examined. */
const MAX_LETTERS = 400
const BEYOND_LATIN = /(?![\p{ASCII}])[^\u00a0-\u036f\u1e00-\u2bff]/u

const countOf = (text: string, letters: RegExp): number => text.match(letters)?.length ?? 0

export const isFromRight = (lang: string): boolean => /^(ar|fa|he|ur|yi|ps|sd|ug|dv)\b/.test(lang)

/**
 * Whether a text may be in the language that it is said to be in: word processors say their default of words in any script, "Hindi" of
 * Arabic ones. Of languages that are not known here everything may be so.
 */
export const mayBeIn = (text: string, lang: string): boolean => {
  const sample = text.slice(0, MAX_LETTERS)
  if (!BEYOND_LATIN.test(sample)) return true
  const said = lang.toLowerCase().split("-")[0] ?? lang
  const letters = countOf(sample, /\p{L}/gu)
  const script = SCRIPTS.find((known) => letters > 0 && countOf(sample, known.letters) >= SHARE * letters)
  if (script === undefined || script.languages.includes(said)) return true
  return !isKnown(said) && !SCRIPTS.some(({ languages }) => languages.includes(said))
}

/** What is said of a passage. */
interface Passage {
  readonly lang: string | undefined
  readonly dir: "rtl" | "ltr" | undefined
}

/** The language of a passage in Latin letters, and its direction; `around`: the language of the surrounding text. */
const inLatin = (passage: string, around: string): Passage | undefined => {
  const isLatin = !isFromRight(around) && !SCRIPTS.some(({ languages }) => languages.includes(around))
  if (isLatin && !isKnown(around)) return undefined
  const lang = languageByWords(passage)
  const dir = isFromRight(around) ? "ltr" : undefined
  return dir === undefined && (lang === undefined || lang === around) ? undefined : { lang, dir }
}

/** The language and direction of a passage in another language than the one around it; undefined where it has none. */
export const foreign = (passage: string, lang: string): Passage | undefined => {
  const text = passage.slice(0, MAX_LETTERS)
  const around = lang.split("-")[0] ?? lang
  if (!BEYOND_LATIN.test(text) && !isFromRight(around)) return inLatin(passage, around)
  const all = countOf(text, /\p{L}/gu)
  if (all < MIN_LETTERS) return undefined
  const script = SCRIPTS.find(({ letters }) => countOf(text, letters) >= SHARE * all)
  if (script === undefined)
    return countOf(text, /\p{Script=Latin}/gu) >= SHARE * all ? inLatin(passage, around) : undefined
  if (script.languages.includes(around)) return undefined
  const language = script.of(text)
  return {
    lang: language,
    dir: isFromRight(language) === isFromRight(around) ? undefined : isFromRight(language) ? "rtl" : "ltr"
  }
}
