/** Passages in another script. */
import { assert, describe, it } from "vitest"

import { foreign } from "../../../../src/domain/conversion/html/foreign.ts"

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
