/** How a level of a list writes its numbers: the formats of ECMA-376, 17.18.59 (`ST_NumberFormat`). */

/** Writes a number from 1 on; undefined where the way has no word for it, which is then written in digits. */
type Numeral = (value: number) => string | undefined

/** Signs and what they are worth, the greatest first. */
type Signs = ReadonlyArray<readonly [worth: number, sign: string]>

const ROMAN: Signs = [
  [1000, "m"],
  [900, "cm"],
  [500, "d"],
  [400, "cd"],
  [100, "c"],
  [90, "xc"],
  [50, "l"],
  [40, "xl"],
  [10, "x"],
  [9, "ix"],
  [5, "v"],
  [4, "iv"],
  [1, "i"]
]

/** 15 and 16 are written as 9 + 6 and 9 + 7: the others would spell a name of God. */
const HEBREW: Signs = [
  [400, "ת"],
  [300, "ש"],
  [200, "ר"],
  [100, "ק"],
  [90, "צ"],
  [80, "פ"],
  [70, "ע"],
  [60, "ס"],
  [50, "נ"],
  [40, "מ"],
  [30, "ל"],
  [20, "כ"],
  [16, "טז"],
  [15, "טו"],
  [10, "י"],
  [9, "ט"],
  [8, "ח"],
  [7, "ז"],
  [6, "ו"],
  [5, "ה"],
  [4, "ד"],
  [3, "ג"],
  [2, "ב"],
  [1, "א"]
]

const summed =
  (signs: Signs, most: number): Numeral =>
  (value) => {
    if (value > most) return undefined
    let left = value
    let text = ""
    for (const [worth, sign] of signs) for (; left >= worth; left -= worth) text += sign
    return text
  }

/** Longest run of one letter: "zzz…" counts to here, then digits are shorter for everybody. */
const REPEATED = 30

/** One letter each, then each of them twice: the 27th is "aa", the 28th "bb". */
const lettered =
  (alphabet: string, repeats = REPEATED): Numeral =>
  (value) => {
    const letters = Array.from(alphabet)
    const times = Math.ceil(value / letters.length)
    return times > repeats ? undefined : letters[(value - 1) % letters.length]?.repeat(times)
  }

/** The digits of another script, from its zero on. */
const digits =
  (zero: number): Numeral =>
  (value) =>
    String(value).replaceAll(/\d/g, (digit) => String.fromCodePoint(zero + Number(digit)))

const spelled =
  (signs: string): Numeral =>
  (value) =>
    String(value).replaceAll(/\d/g, (digit) => signs[Number(digit)] ?? digit)

/** Words of East Asia: digits, and units of ten, hundred, thousand. */
interface Counting {
  readonly digits: string
  readonly units: readonly [ten: string, hundred: string, thousand: string]
  /** What stands for empty places between two others; nothing in Japanese and Korean. */
  readonly gap: string
  /** Whether a unit has a one before it: 一百一十, but 十 where it begins a number below a hundred; 百十 in Japanese and Korean. */
  readonly one: "always" | "but for ten" | "never"
  readonly most: number
  /** How a greater number is written. */
  readonly beyond: Numeral
}

const counted =
  ({ beyond, digits: signs, gap, most, one, units }: Counting): Numeral =>
  (value) => {
    if (value > most || value > 9999) return beyond(value)
    const places = Array.from(String(value), Number)
    let text = ""
    let isGap = false
    for (const [at, digit] of places.entries()) {
      const place = places.length - 1 - at
      if (digit === 0) {
        isGap = text !== ""
        continue
      }
      if (isGap) text += gap
      isGap = false
      const isWritten = one === "always" || (one === "but for ten" && (place > 1 || text !== ""))
      const needsOne = digit > 1 || place === 0 || isWritten
      text += `${needsOne ? signs[digit] : ""}${place === 0 ? "" : units[place - 1]}`
    }
    return text
  }

const CHINESE = "〇一二三四五六七八九"
const UNITS = ["十", "百", "千"] as const
const chinese = (most: number): Numeral =>
  counted({ digits: CHINESE, units: UNITS, gap: "零", one: "but for ten", most, beyond: spelled(CHINESE) })
const chineseLegal = (signs: string): Numeral =>
  counted({
    digits: signs,
    units: ["拾", "佰", "仟"],
    gap: signs[0] ?? "",
    one: "always",
    most: 9999,
    beyond: spelled(signs)
  })
const japanese = counted({
  digits: CHINESE,
  units: UNITS,
  gap: "",
  one: "never",
  most: 9999,
  beyond: spelled(CHINESE)
})
const KOREAN = "영일이삼사오육칠팔구"
const korean = counted({
  digits: KOREAN,
  units: ["십", "백", "천"],
  gap: "",
  one: "never",
  most: 9999,
  beyond: spelled(KOREAN)
})

const ORDINALS = new Intl.PluralRules("en", { type: "ordinal" })
const SUFFIXES: ReadonlyMap<string, string> = new Map([
  ["one", "st"],
  ["two", "nd"],
  ["few", "rd"]
])
const ordinal: Numeral = (value) => `${value}${SUFFIXES.get(ORDINALS.select(value)) ?? "th"}`

const ONES =
  "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen".split(
    " "
  )
const TENS = "- - twenty thirty forty fifty sixty seventy eighty ninety".split(" ")
const IRREGULAR: ReadonlyMap<string, string> = new Map([
  ["one", "first"],
  ["two", "second"],
  ["three", "third"],
  ["five", "fifth"],
  ["eight", "eighth"],
  ["nine", "ninth"],
  ["twelve", "twelfth"]
])

const inWords = (value: number): string => {
  if (value < 20) return ONES[value] ?? ""
  const [rest, ten] = [value % 10, TENS[Math.floor(value / 10)]]
  if (value < 100) return `${ten}${rest === 0 ? "" : `-${ONES[rest]}`}`
  const [hundred, below] = [ONES[Math.floor(value / 100)], value % 100]
  return `${hundred} hundred${below === 0 ? "" : ` ${inWords(below)}`}`
}

const asTitle = (text: string) => text.slice(0, 1).toUpperCase() + text.slice(1)
/** English, whatever the document's language: Word writes these ways in that of the numbered paragraph. */
const cardinalText: Numeral = (value) => (value > 999 ? undefined : asTitle(inWords(value)))
const ordinalText: Numeral = (value) => {
  if (value > 999) return undefined
  const words = inWords(value)
  const from = Math.max(words.lastIndexOf(" "), words.lastIndexOf("-")) + 1
  const [before, last] = [words.slice(0, from), words.slice(from)]
  const end = IRREGULAR.get(last) ?? (last.endsWith("y") ? `${last.slice(0, -1)}ieth` : `${last}th`)
  return asTitle(before + end)
}

/** Signs of one character each, the first of which is 1. */
const signs =
  (first: number, most: number): Numeral =>
  (value) =>
    value > most ? undefined : String.fromCodePoint(first + value - 1)

const upper =
  (numeral: Numeral): Numeral =>
  (value) =>
    numeral(value)?.toUpperCase()

const LATIN = "abcdefghijklmnopqrstuvwxyz"
const RUSSIAN = "абвгдежзиклмнопрстуфхцчшщыэюя"
const AIUEO = "アイウエオカキクケコサシスセソタチツテトナニヌネノハヒフヘホマミムメモヤユヨラリルレロワヲン"
const IROHA = "イロハニホヘトチリヌルヲワカヨタレソツネナラムウヰノオクヤマケフコエテアサキユメミシヱヒモセス"
const roman = summed(ROMAN, 3999)

const NUMERALS: ReadonlyMap<string, Numeral> = new Map<string, Numeral>([
  ["lowerRoman", roman],
  ["upperRoman", upper(roman)],
  ["lowerLetter", lettered(LATIN)],
  ["upperLetter", upper(lettered(LATIN))],
  ["decimalZero", (value) => String(value).padStart(2, "0")],
  ["hex", (value) => value.toString(16).toUpperCase()],
  ["numberInDash", (value) => `- ${value} -`],
  ["chicago", lettered("*†‡§")],
  ["ordinal", ordinal],
  ["ordinalText", ordinalText],
  ["cardinalText", cardinalText],
  ["russianLower", lettered(RUSSIAN)],
  ["russianUpper", upper(lettered(RUSSIAN))],
  ["hebrew1", summed(HEBREW, 999)],
  ["hebrew2", lettered("אבגדהוזחטיכלמנסעפצקרשת")],
  ["arabicAlpha", lettered("أبتثجحخدذرزسشصضطظعغفقكلمنهوي")],
  ["arabicAbjad", lettered("أبجدهوزحطيكلمنسعفصقرشتثخذضظغ")],
  ["hindiNumbers", digits(0x966)],
  ["thaiNumbers", digits(0xe50)],
  ["thaiLetters", lettered("กขคงจฉชซฌญฎฏฐฑฒณดตถทธนบปผฝพฟภมยรลวศษสหฬอฮ")],
  ["decimalFullWidth", digits(0xff10)],
  ["decimalFullWidth2", digits(0xff10)],
  ["decimalEnclosedCircle", signs(0x2460, 20)],
  ["decimalEnclosedCircleChinese", signs(0x2460, 20)],
  ["decimalEnclosedParen", signs(0x2474, 20)],
  ["decimalEnclosedFullstop", signs(0x2488, 20)],
  ["ideographEnclosedCircle", signs(0x3280, 10)],
  ["chineseCounting", chinese(99)],
  ["chineseCountingThousand", chinese(9999)],
  ["taiwaneseCounting", chinese(99)],
  ["taiwaneseCountingThousand", chinese(9999)],
  ["chineseLegalSimplified", chineseLegal("零壹贰叁肆伍陆柒捌玖")],
  ["ideographLegalTraditional", chineseLegal("零壹貳參肆伍陸柒捌玖")],
  ["japaneseCounting", japanese],
  ["japaneseLegal", chineseLegal("〇壱弐参四伍六七八九")],
  ["japaneseDigitalTenThousand", spelled(CHINESE)],
  ["taiwaneseDigital", spelled("○一二三四五六七八九")],
  ["ideographDigital", spelled(CHINESE)],
  ["koreanCounting", korean],
  ["koreanDigital", spelled(KOREAN)],
  ["koreanDigital2", spelled("零一二三四五六七八九")],
  ["ganada", lettered("가나다라마바사아자차카타파하")],
  ["chosung", lettered("ㄱㄴㄷㄹㅁㅂㅅㅇㅈㅊㅋㅌㅍㅎ")],
  ["ideographTraditional", lettered("甲乙丙丁戊己庚辛壬癸", 1)],
  ["ideographZodiac", lettered("子丑寅卯辰巳午未申酉戌亥", 1)],
  ["aiueo", lettered(AIUEO)],
  ["aiueoFullWidth", lettered(AIUEO)],
  ["iroha", lettered(IROHA)],
  ["irohaFullWidth", lettered(IROHA)]
])

/** A number as a level writes it; in digits where no more is known of the way. */
export const numeral = (value: number, format: string): string => {
  if (format === "none") return ""
  return (value < 1 ? undefined : NUMERALS.get(format)?.(value)) ?? String(value)
}
