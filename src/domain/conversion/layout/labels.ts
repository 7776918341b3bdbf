import type { Line } from "./line.ts"
import { isBoldLine } from "./statistics.ts"

/** What stands above a box beside the text, in the languages that documents are met in most. */
const BOX =
  /^(?:notes?|tips?|hints?|warnings?|cautions?|important|attention|danger|hinweise?|achtung|warnung|vorsicht|tipps?|wichtig|anmerkung|remarques?|avertissement|astuce|conseil|mise en garde|nota|aviso|advertencia|sugerencia|consejo|importante|precaución|atención|avviso|avvertenza|attenzione|suggerimento|dica|cuidado|atenção|opmerking|waarschuwing|let op|belangrijk|uwaga|wskazówka|ostrzeżenie|ważne|poznámka|upozornění|varování|примечани[ея]|внимание|предупреждение|замечание|подсказка|совет|важно|увага|примітка|注意|注|注记|备注|備註|提示|警告|小心|重要|注記|補足|ヒント|참고|주의|경고|팁|힌트)$/iu

/** What stands above a table of contents, or another list of what the document has. */
const CONTENTS =
  /^(?:(?:table of )?contents|list of \p{L}+|inhalt(?:sverzeichnis|sübersicht)?|(?:abbildungs|tabellen)verzeichnis|sommaire|table des \p{L}+|liste des \p{L}+|índice(?: general)?|contenidos?|tabla de contenidos|indice|sommario|sumário|conteúdo|inhoud(?:sopgave)?|spis (?:treści|rysunków|tabel)|obsah|содержание|оглавление|зміст|目录|目錄|目次|차례|목차)$/iu

/** An example's caption. */
const EXAMPLE =
  /^(?:example|exemple|beispiel|ejemplo|esempio|exemplo|voorbeeld|przykład|příklad|пример|приклад|示例|例)\s*(?:\d+|[A-Z])(?:[.-]\d+)*[.:]?(?:\s|$)/iu

/**
 * Whether the words of a bold line of the text's size name no section: a letter of an index, a note's kind, the
 * contents, an example.
 */
export const isLabel = (text: string): boolean => {
  const words = text.trim()
  return (
    /^\p{L}$/u.test(words) ||
    BOX.test(words.replace(/[\s!.]+$/u, "")) ||
    CONTENTS.test(words) ||
    EXAMPLE.test(words)
  )
}

/** Steps of baselines that are looked at, in font sizes. */
const NEAREST = 0.8
const FURTHEST = 3
/** Lines of one paragraph are no further apart; what is set so wide tells no paragraphs apart. */
const WITHIN = 1.75
/** By how much paragraphs stand further apart than their lines, as a factor. */
const WIDER = 1.3
/** Steps this near are the same, in font sizes. */
const SAME = 0.0625
/** Times that a step has to be met to be the usual one. */
const USUAL = 2

/** The step that is met most, the smaller of two; undefined where none is met twice. */
const mostUsual = (counts: ReadonlyMap<number, number>, from: number, to: number): number | undefined => {
  let usual: number | undefined
  let most = USUAL - 1
  for (const [slot, count] of counts)
    if (
      slot * SAME > from &&
      slot * SAME < to &&
      (count > most || (count === most && usual !== undefined && slot < usual))
    ) {
      usual = slot
      most = count
    }
  return usual === undefined ? undefined : usual * SAME
}

/** The usual step of baselines from paragraph to paragraph, in font sizes; undefined where white does not part them, or too few are seen. */
export const paragraphStep = (lines: ReadonlyArray<Line>, bodySize: number): number | undefined => {
  const counts = new Map<number, number>()
  let above: Line | undefined
  for (const line of lines) {
    const running =
      Math.abs(line.size - bodySize) < 0.06 * bodySize && !isBoldLine(line) && line.monospace < 0.9
    if (running && above !== undefined) {
      const step = (line.baseline - above.baseline) / bodySize
      if (step > NEAREST && step < FURTHEST) {
        const slot = Math.round(step / SAME)
        counts.set(slot, (counts.get(slot) ?? 0) + 1)
      }
    }
    above = running ? line : undefined
  }
  const leading = mostUsual(counts, 0, WITHIN)
  return leading === undefined ? undefined : mostUsual(counts, leading * WIDER, Infinity)
}
