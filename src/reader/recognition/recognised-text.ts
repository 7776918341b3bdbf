import type { Legible, RecognisedText, RecognisedWord } from "../model/recognised-text.ts"

/** Mean confidence below which a page says that it was not read well. */
const GOOD = 60
/** Mean confidence below which what was found is not shown as text: noise gives 10 to 30, handwriting 31 to 58. */
const POOR = 30
/** A mark without any letter or digit is a speck or a rule unless it is as certain as this. */
const CERTAIN_MARK = 75
/** A word that is less certain is a speck. */
const LEAST = 12

const isWord = ({ confidence, text }: RecognisedWord): boolean =>
  /[\p{L}\p{N}]/u.test(text) ? confidence >= LEAST : confidence >= CERTAIN_MARK

/** Without specks and rules that were taken for words. */
export const withoutSpecks = (text: RecognisedText): RecognisedText => ({
  ...text,
  lines: text.lines.flatMap((line) => {
    const words = line.words.filter(isWord)
    return words.length === 0 ? [] : [{ ...line, words }]
  })
})

/** Mean confidence of the text's characters, 0 to 100; 0 for no text. */
const confidenceOf = ({ lines }: RecognisedText): number => {
  let sum = 0
  let characters = 0
  for (const { words } of lines)
    for (const { confidence, text } of words) {
      sum += confidence * text.length
      characters += text.length
    }
  return characters === 0 ? 0 : sum / characters
}

/** A picture with fewer words, none of them certain, shows no text: a photograph. */
const FEW = 10

/** Whether anything on it looks like text. */
export const showsText = ({ lines }: RecognisedText): boolean => {
  const words = lines.flatMap((line) => line.words)
  return words.length >= FEW || words.some(({ confidence, text }) => confidence >= GOOD && text.length > 2)
}

/** How well it was read. */
export const legibleOf = (text: RecognisedText): Legible => {
  const confidence = confidenceOf(text)
  if (confidence < POOR) return "nothing"
  return confidence < GOOD ? "poor" : "good"
}
