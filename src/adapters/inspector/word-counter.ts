import { StringDecoder } from "node:string_decoder"

/** Letters of scripts that put no spaces between words; two of them count as a word. */
const UNSPACED = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]/gu

/** Longest part of a tag that is kept while it is read. */
const MAX_TAG = 400

/** Counts words, paragraphs and page breaks of WordprocessingML as it streams by. Memory does not grow with it. */
export class WordCounter {
  #halfWords = 0
  paragraphs = 0
  breaks = 0
  readonly #decoder = new StringDecoder("utf8")
  #tag = ""
  #insideTag = false
  #insideText = false
  #insideWord = false

  get words(): number {
    return Math.ceil(this.#halfWords / 2)
  }

  add(bytes: Buffer): void {
    const xml = this.#decoder.write(bytes)
    for (let at = 0; at < xml.length;) {
      const next = xml.indexOf(this.#insideTag ? ">" : "<", at)
      const end = next === -1 ? xml.length : next
      if (this.#insideTag) {
        if (this.#tag.length < MAX_TAG) this.#tag += xml.slice(at, Math.min(end, at + MAX_TAG))
        if (next !== -1) this.#closeTag()
      } else {
        if (this.#insideText) this.#text(xml.slice(at, end))
        if (next !== -1) {
          this.#insideTag = true
          this.#tag = ""
        }
      }
      at = end + 1
    }
  }

  #closeTag(): void {
    this.#insideTag = false
    const name = /^(?:[\w.-]+:)?([\w.-]+)/.exec(this.#tag)?.[1]
    this.#insideText = name === "t" && !this.#tag.endsWith("/")
    if (name === "p") {
      this.paragraphs += 1
      this.#insideWord = false
    } else if (name === "tab" || name === "br") this.#insideWord = false
    if (name === "lastRenderedPageBreak" || (name === "br" && /\btype=["']page["']/.test(this.#tag)))
      this.breaks += 1
  }

  #text(text: string): void {
    this.#halfWords += text.match(UNSPACED)?.length ?? 0
    const spaced = text.replaceAll(UNSPACED, " ")
    const found = spaced.match(/\S+/g)
    if (found === null) {
      if (text !== "") this.#insideWord = false
      return
    }
    // A word may go on from one run to the next.
    this.#halfWords += 2 * (found.length - (this.#insideWord && !/^\s/.test(spaced) ? 1 : 0))
    this.#insideWord = !/\s$/.test(spaced)
  }
}
