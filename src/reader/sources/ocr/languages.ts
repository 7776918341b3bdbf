/** A language that tesseract has data for. */
interface Language {
  /** tesseract's code. */
  readonly code: string
  /** Its primary subtag of BCP 47. */
  readonly tag: string
  /** As tesseract's detection names it. */
  readonly script: string
}

const LATIN =
  "afr:af aze:az bos:bs cat:ca ces:cs cym:cy dan:da deu:de eng:en est:et eus:eu fin:fi fra:fr gle:ga glg:gl hrv:hr hun:hu " +
  "ind:id isl:is ita:it lat:la lav:lv lit:lt mlt:mt msa:ms nld:nl nor:no pol:pl por:pt ron:ro slk:sk slv:sl spa:es sqi:sq " +
  "swa:sw swe:sv tur:tr uzb:uz vie:vi"
const OTHERS: ReadonlyMap<string, string> = new Map([
  ["Arabic", "ara:ar fas:fa urd:ur pus:ps uig:ug"],
  ["Armenian", "hye:hy"],
  ["Bengali", "ben:bn asm:as"],
  ["Cyrillic", "bel:be bul:bg kaz:kk kir:ky mkd:mk mon:mn rus:ru srp:sr tgk:tg ukr:uk"],
  ["Devanagari", "hin:hi mar:mr nep:ne san:sa"],
  ["Ethiopic", "amh:am tir:ti"],
  ["Georgian", "kat:ka"],
  ["Greek", "ell:el grc:grc"],
  ["Gujarati", "guj:gu"],
  ["Gurmukhi", "pan:pa"],
  ["Han", "chi_sim:zh chi_tra:zh"],
  ["Hebrew", "heb:he yid:yi"],
  ["Japanese", "jpn:ja"],
  ["Kannada", "kan:kn"],
  ["Khmer", "khm:km"],
  ["Korean", "kor:ko"],
  ["Lao", "lao:lo"],
  ["Malayalam", "mal:ml"],
  ["Myanmar", "mya:my"],
  ["Sinhala", "sin:si"],
  ["Tamil", "tam:ta"],
  ["Telugu", "tel:te"],
  ["Thai", "tha:th"],
  ["Tibetan", "bod:bo"]
])

const listed = (script: string, languages: string): ReadonlyArray<Language> =>
  languages.split(" ").map((one) => {
    const [code = "", tag = ""] = one.split(":")
    return { code, tag, script }
  })

const KNOWN: ReadonlyMap<string, Language> = new Map(
  [...listed("Latin", LATIN), ...[...OTHERS].flatMap(([script, languages]) => listed(script, languages))].map(
    (language) => [language.code, language]
  )
)

/**
 * The languages to read a picture in, of those that are there: those of its script, where it is known and one of them has it; the
 * document's own first.
 */
export const languagesFor = (
  available: ReadonlyArray<string>,
  { lang, script }: { readonly lang: string | undefined; readonly script: string | undefined }
): ReadonlyArray<string> => {
  const ofScript = available.filter((code) => KNOWN.get(code)?.script === script)
  const fitting = ofScript.length === 0 ? available : ofScript
  const tag = lang?.toLowerCase().split("-")[0]
  const own = fitting.filter((code) => tag !== undefined && KNOWN.get(code)?.tag === tag)
  return [...own, ...fitting.filter((code) => !own.includes(code))]
}
