/** Passages in another language. */
import fc from "fast-check"
import { assert, describe, it } from "vitest"

import { foreign, mayBeIn } from "../../../src/reader/language/foreign.ts"

describe("a passage in another script", () => {
  it("has its language, and its direction where that is another", () => {
    assert.deepStrictEqual(foreign("Это предложение по-русски.", "en"), { lang: "ru", dir: undefined })
    assert.deepStrictEqual(foreign("Це речення українською мовою є їхнім.", "en"), {
      lang: "uk",
      dir: undefined
    })
    assert.deepStrictEqual(foreign("これは日本語の文章です。とても短い", "de"), {
      lang: "ja",
      dir: undefined
    })
    assert.deepStrictEqual(foreign("这是一个中文句子，它很短，也很清楚。", "de"), {
      lang: "zh",
      dir: undefined
    })
    assert.deepStrictEqual(foreign("זה משפט קצר בעברית בלבד", "en"), { lang: "he", dir: "rtl" })
    assert.deepStrictEqual(foreign("این یک جمله کوتاه است پس گفتم", "en-GB"), { lang: "fa", dir: "rtl" })
    assert.deepStrictEqual(foreign("هذه جملة قصيرة جدا", "ru"), { lang: "ar", dir: "rtl" })
    assert.deepStrictEqual(foreign("A sentence in Latin letters", "ar"), { lang: undefined, dir: "ltr" })
    assert.deepStrictEqual(foreign("Это предложение по-русски.", "he"), { lang: "ru", dir: "ltr" })
  })

  it("is none in the document's own script, in a few words, or among others", () => {
    for (const [text, lang] of [
      ["Это предложение по-русски.", "bg"],
      ["日本語の文章には漢字がある、そうだ。", "ja"],
      ["A sentence in Latin letters", "en"],
      ["Ein Satz mit Umlauten: äöüß", "en"],
      ["α + β = γ", "en"],
      ["The word река means a river, and so does fleuve", "en"],
      ["", "ar"]
    ] as const)
      assert.isUndefined(foreign(text, lang), text)
  })
})

const FRENCH =
  "La rivière descend des montagnes et traverse la vallée avant de rejoindre la mer, où les pêcheurs attendent le retour de la marée."
const GERMAN =
  "Der Fluss kommt aus den Bergen und fließt durch das Tal, bevor er das Meer erreicht, in dem die Fischer auf die Flut warten."
const ENGLISH =
  "The river comes down from the mountains and crosses the valley before it reaches the sea, where they wait for the tide."
const DANISH =
  "Floden kommer ned fra bjergene og løber gennem dalen, før den når havet, hvor fiskerne venter på, at det igen er flod, og ikke går hjem."

describe("a passage in another language of the same script", () => {
  it("has its language where its words say it", () => {
    for (const [text, lang, found] of [
      [FRENCH, "en", "fr"],
      [GERMAN, "en-GB", "de"],
      [ENGLISH, "fr", "en"],
      [ENGLISH, "ru", "en"],
      [
        "El río baja de las montañas y cruza el valle antes de llegar al mar, donde los pescadores esperan la marea con sus barcos.",
        "en",
        "es"
      ],
      [
        "O rio não é longo, mas quando há muito vento as ondas são altas e também perigosas, e os barcos já não saem do porto pela manhã.",
        "en",
        "pt"
      ],
      [
        "Il fiume scende dalle montagne e attraversa la valle prima di raggiungere il mare, dove gli uomini non aspettano più che la marea è della luna.",
        "en",
        "it"
      ]
    ] as const)
      assert.deepStrictEqual(foreign(text, lang), { lang: found, dir: undefined }, text)
    assert.deepStrictEqual(foreign(ENGLISH, "ar"), { lang: "en", dir: "ltr" })
  })

  it("is none in the document's own, in one that is not known, in names and titles, or mixed", () => {
    for (const [text, lang] of [
      [FRENCH, "fr-CA"],
      [ENGLISH, "en-US"],
      [FRENCH, "ca"],
      [FRENCH, "constructor"],
      [DANISH, "en"],
      [
        "A. Müller, B. Schmidt, Grundlagen der Strömungsmechanik und der Hydraulik, Springer Verlag, Berlin, 2004, S. 112",
        "en"
      ],
      [
        "Jean-Pierre Dupont, François Martin, Université de Paris, Laboratoire de Physique Théorique, Marie Curie, Louis",
        "en"
      ],
      [
        "npm run postlane convert report.pdf --pages 1-20 -o FILE --ocr off --json and then some more of it all",
        "de"
      ],
      [`${ENGLISH} ${FRENCH}`, "de"]
    ] as const)
      assert.isUndefined(foreign(text, lang), text)
  })

  it("is none in a few words, and never in the document's language", () => {
    const words = fc.array(fc.constantFrom(...`${FRENCH} ${GERMAN} ${ENGLISH}`.split(" ")), { maxLength: 60 })
    fc.assert(
      fc.property(words, fc.constantFrom("en", "fr", "de-AT", "ru", "ca"), (all, lang) => {
        const found = foreign(all.join(" "), lang)
        if (all.length < 14) assert.isUndefined(found)
        assert.notStrictEqual(found?.lang, lang.split("-")[0])
      })
    )
  })
})

describe("the language that a text is said to be in", () => {
  it("is none that is written in another script; what is not known may be", () => {
    for (const [text, lang] of [
      ["تقرير سنوي", "hi-IN"],
      ["דוח שנתי", "en-US"],
      ["Годовой отчёт", "de"],
      ["年度报告", "ar"]
    ] as const)
      assert.isFalse(mayBeIn(text, lang), `${text} ${lang}`)
    for (const [text, lang] of [
      ["تقرير سنوي", "fa-IR"],
      ["דוח שנתי", "yi"],
      ["Годовой отчёт", "tt"],
      ["年度报告", "zh-Hant-TW"],
      ["Annual report", "hi-IN"],
      ["Résumé", "ar"],
      ["2023 – 3/5", "he"],
      ["the word отчёт in a sentence", "en"]
    ] as const)
      assert.isTrue(mayBeIn(text, lang), `${text} ${lang}`)
  })

  it("is decided of any text", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), fc.string(), (text, lang) => {
        assert.strictEqual(mayBeIn(text, lang), mayBeIn(text, lang))
        if (!/\p{L}/u.test(text)) assert.isTrue(mayBeIn(text, lang))
      })
    )
  })
})
