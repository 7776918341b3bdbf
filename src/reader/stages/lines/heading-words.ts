/** Headings of boxes next to the text, in the most frequent languages of documents. */
const BOX =
  /^(?:notes?|tips?|hints?|warnings?|cautions?|important|attention|danger|hinweise?|achtung|warnung|vorsicht|tipps?|wichtig|anmerkung|remarques?|avertissement|astuce|conseil|mise en garde|nota|aviso|advertencia|sugerencia|consejo|importante|precaución|atención|avviso|avvert(?:enza|imento)|attenzione|suggerimento|dica|cuidado|atenção|opmerking|waarschuwing|let op|belangrijk|uwaga|wskazówka|ostrzeżenie|ważne|poznámka|upozornění|varování|примечани[ея]|внимание|предупреждение|замечание|подсказка|совет|важно|увага|примітка|注意|注|注记|备注|備註|提示|警告|小心|重要|注記|補足|ヒント|참고|주의|경고|팁|힌트)$/iu

/** Headings of a table of contents, or of another list of what the document has. */
const CONTENTS =
  /^(?:(?:table of )?contents|list of \p{L}+|lijst van \p{L}+|elenco delle \p{L}+|lista de \p{L}+|índice de \p{L}+|inhalt(?:sverzeichnis|sübersicht)?|(?:abbildungs|tabellen)verzeichnis|sommaire|table des \p{L}+|liste des \p{L}+|índice(?: general)?|contenidos?|tabla de contenidos|indice|sommario|sumário|conteúdo|inhoud(?:sopgave)?|spis (?:treści|rysunków|tabel)|obsah|содержание|оглавление|зміст|目录|目錄|目次|차례|목차)$/iu

/** Whether a heading is that of a list of what the document has. */
export const isContentsTitle = (words: string): boolean => CONTENTS.test(words)

/** Headings that outlines leave out: those before the first section and behind the last one. */
export const UNLISTED =
  /^(?:abstract|summary|keywords|acknowledge?ments?|references|bibliography|appendi(?:x|ces)|notes|zusammenfassung|danksagung|literatur(?:verzeichnis)?|anhang|résumé|remerciements|références|bibliographie|annexes?|resumen|agradecimientos|referencias|bibliografía|resumo|agradecimentos|referências|bibliografia|sommario|ringraziamenti|riferimenti(?: bibliografici)?)$/iu

/** An example's caption. */
const EXAMPLE =
  /^(?:example|exemple|beispiel|ejemplo|esempio|exemplo|voorbeeld|przykład|příklad|пример|приклад|示例|例)\s*(?:\d+|[A-Z])(?:[.-]\d+)*[.:]?(?:\s|$)/iu

/** An example's label without a number. */
const EXAMPLE_ALONE =
  /^(?:examples?|exemples?|beispiele?|ejemplos?|esempio?|exemplos?|voorbeeld(?:en)?|przykłady?|příklady?|примеры?|приклади?|示例|例)$/iu

export const isExample = (text: string): boolean => EXAMPLE_ALONE.test(text.trim())

/** The caption of an example, or of steps to take, as DocBook sets it: its number ends in a full stop, and its title follows. */
export const CAPTIONED =
  /^(?:example|exemple|beispiel|ejemplo|esempio|exemplo|voorbeeld|przykład|příklad|пример|приклад|proc[eé]dure|prozedur|procedimiento|procedura|procedimento)\s+(?:(?:[A-Z]|\d{1,3})[.-]){0,3}(?:[A-Z]|\d{1,3})\.\s+\S/iu

/** A chapter's label above its title: its word alone, or its number in words. */
export const CHAPTER_LABEL =
  /^(?:(?:chapter|kapitel|chapitre|cap[ií]tulo|capitolo|hoofdstuk|rozdział|kapitola|глава)|(?:(?:chapter|appendix|part)\s+)?(?:(?:twenty|thirty)[ -]?(?:one|two|three|four|five|six|seven|eight|nine)?|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|(?:thir|four|fif|six|seven|eigh|nine)teen))$/iu

/** "Notes" is a section heading where it is larger than the text. */
export const SECTION_NOTES = /^notes$/i

/** True when words name a box next to the text. */
export const isBoxLabel = (text: string): boolean => BOX.test(text.trim().replace(/(?<![\s!.])[\s!.]+$/u, ""))

/**
 * Whether the words of a bold line of the text's size are not a section's heading: a letter of an index, a note's kind, the
 * contents, an example.
 */
export const isLabel = (text: string): boolean => {
  const words = text.trim()
  return /^\p{L}$/u.test(words) || isBoxLabel(words) || CONTENTS.test(words) || EXAMPLE.test(words)
}

/** A chapter's label with its number. */
const LABEL_ALONE =
  /^(?:(?:chapter|appendix|part|section|kapitel|anhang|teil|abschnitt|chapitre|annexe|partie|cap[ií]tulo|ap[eé]ndi[cx]e|capitolo|appendice|parte|hoofdstuk|bijlage|deel|rozdział|kapitola|глава|часть|приложение)\s*[\dA-ZIVX]{1,5}[.:]?|第\s*[\d一二三四五六七八九十]{1,3}\s*[章部篇]|附录\s*[\dA-Z])$/iu

/** Whether a heading is only the first half of one: "Chapter 3", its title set below. */
export const isLabelAlone = (text: string): boolean => LABEL_ALONE.test(text.trim())

/** A title's letters and digits, by which titles are compared. */
export const lettersOf = (text: string): string =>
  text
    .normalize("NFKC")
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}]+/gu, "")
