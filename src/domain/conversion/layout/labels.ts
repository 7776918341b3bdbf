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
    BOX.test(words.replace(/(?<![\s!.])[\s!.]+$/u, "")) ||
    CONTENTS.test(words) ||
    EXAMPLE.test(words)
  )
}
