import { assert, describe, it } from "vitest"

import { detectLanguage } from "../../../src/reader/language/language.ts"

describe("the language of a text", () => {
  it.each([
    ["en", "The report tells how the town mended its bridges and its roads in the year that has passed."],
    ["de", "Der Bericht beschreibt, wie die Gemeinde im vergangenen Jahr ihre Wege erneuert hat."],
    ["fr", "Le rapport raconte comment la commune a refait ses ponts et ses chemins l'année dernière."],
    [
      "ja",
      "この報告書は、町が昨年どのように橋と道路を修理したか、またその費用がいくらかかったかを述べている。"
    ]
  ])("is detected: %s", async (language, text) => {
    assert.strictEqual(await detectLanguage(text), language)
  })

  it.each([
    ["a few words", "Total 12 Sum 13 Net"],
    ["part numbers", "SN74LS00N NE555P LM358 TL072 BC547 IRF540 ATMEGA328 MAX232 UA741 CD4017"],
    ["letters in a row", "ABC DEF GHI JKL MNO PQR STU VWX YZA BCD EFG HIJ KLM NOP QRS"],
    ["nothing", ""]
  ])("is not guessed from %s", async (_, text) => {
    assert.isUndefined(await detectLanguage(text))
  })
})
