import { chunkOf, type DrawnData } from "../package/drawn-data.ts"
import { writeFormula } from "../package/formula.ts"
import type { Marks, Meaning } from "../package/marks.ts"
import { MathBuilder } from "../package/math-builder.ts"
import type { Numbering } from "../package/numbering.ts"
import type { Relation } from "../package/relations.ts"
import { addProperty, numberIn, outlineOf, type ParagraphProperties, type Styles } from "../package/styles.ts"
import { readXml, type Tag } from "../package/xml.ts"
import { NOTE_MARKS, READABLE, RENAMED, SHOWN, UNWRAPPED } from "./element-names.ts"
import { attributeOf } from "./part-attributes.ts"
import { PartDirection } from "./part-direction.ts"
import { PartDrawings } from "./part-drawings.ts"
import { PartFields } from "./part-fields.ts"
import { PartLists } from "./part-lists.ts"
import { escaped, type Later, PartOutput, type Written } from "./part-output.ts"
import { PartParagraphs } from "./part-paragraphs.ts"
import { PartRuns } from "./part-runs.ts"
import { PartTables } from "./part-tables.ts"

/** What is known of a document besides the part. */
export interface Known {
  readonly styles: Styles
  readonly numbering: Numbering
  readonly drawn: DrawnData
  /** The notes that there are, each as the element that is its mark and its id. */
  readonly notes: ReadonlySet<string>
  readonly marks: Marks<Meaning>
}

/** A paragraph with properties that are being read. */
type Paragraph = { -readonly [Key in keyof ParagraphProperties]: ParagraphProperties[Key] } & {
  style?: string
}

/** Alternatives for one thing, with the place of each in the output. */
interface Alternatives {
  readonly from: number
  fallback: number | undefined
  readableAtFallback: number
}

/** The deepest heading that mammoth knows. */
const DEEPEST = 6

/**
 * Rewrites a part so that mammoth reads all of it: formulas and numbers become marks or words, headings get the same
 * style names in every language, and elements that mammoth would drop with their words are unwrapped. One pass.
 */
class PartRewriter {
  readonly #out = new PartOutput()
  readonly #known: Known
  /** The ids of the part's relations. */
  readonly #relations: ReadonlySet<string>
  readonly #lists: PartLists
  readonly #tables: PartTables
  readonly #fields: PartFields
  readonly #paragraphs: PartParagraphs
  readonly #direction: PartDirection
  readonly #open: Array<string> = []
  /** Open elements that are left out with all that they hold. */
  #dropped = 0
  #readable = 0
  #formula: MathBuilder | undefined
  #paragraph: Paragraph | undefined
  /** What the present paragraph begins with. */
  #before: Later | undefined
  readonly #runs: PartRuns
  readonly #alternatives: Array<Alternatives> = []
  readonly #drawings: PartDrawings
  /** Readings of characters, written behind these. */
  #reading: ReadonlyArray<Written> = []

  constructor(known: Known, relations: ReadonlyArray<Relation>) {
    this.#known = known
    this.#relations = new Set(relations.map(({ id }) => id))
    this.#lists = new PartLists(this.#out, known.numbering, known.marks)
    this.#tables = new PartTables(this.#out, known.styles)
    this.#fields = new PartFields(this.#out, known.marks)
    this.#paragraphs = new PartParagraphs(this.#out)
    this.#direction = new PartDirection(this.#out, known.styles, known.marks)
    this.#drawings = new PartDrawings(this.#out, this.#relations)
    this.#runs = new PartRuns(this.#out, known.styles, known.marks)
  }

  /** The part, once all of it has streamed by. */
  written(): string {
    this.#lists.decide()
    return this.#out.whole()
  }

  open(name: string, attributes: ReadonlyMap<string, string>, written: Tag): void {
    if (this.#formula !== undefined) {
      this.#formula.open(name, attributes)
      return
    }
    if (this.#dropped === 0) this.#direction.open(name, attributes, this.#open)
    if (this.#dropped > 0 || this.#isLeftOut(name, attributes)) {
      this.#dropped += 1
      this.#fields.open(name, attributes)
      return
    }
    if (name === "oMath" || name === "oMathPara") {
      this.#formula = new MathBuilder(name)
      return
    }
    if (this.#open.length === 0) this.#out.prefix = written.name.slice(0, written.name.indexOf(":") + 1)
    this.#runs.open(name, attributes, this.#open)
    this.#begin(name, attributes)
    this.#drawings.open(name, attributes, this.#open)
    this.#tables.open(name, attributes)
    if (READABLE.has(name)) this.#readable += 1
    this.#open.push(name)
    if (this.#isPassedOver(name)) return
    const said = Object.entries(written.attributes).map(([key, value]) =>
      attributeOf(name, key, value, this.#relations)
    )
    this.#out.add(`<${this.#nameOf(name, written.name)}${said.join("")}>`)
    this.#tables.opened(name)
    this.#paragraphs.opened(name)
  }

  close(name: string, written: string): void {
    if (this.#formula !== undefined) {
      if (this.#formula.close()) this.#endFormula(this.#formula)
      return
    }
    if (this.#dropped > 0) {
      this.#dropped -= 1
      return
    }
    if (name === "pPr" && this.#around(2) === "p") this.#endProperties()
    this.#direction.close(name)
    if (!this.#isPassedOver(name)) this.#out.add(`</${this.#nameOf(name, written)}>`)
    this.#open.pop()
    this.#runs.close(name)
    this.#tables.close(name)
    this.#paragraphs.close(name, this.#open.length)
    this.#end(name)
  }

  text(text: string): void {
    if (this.#formula !== undefined) this.#formula.text(text)
    else if (this.#dropped > 0) this.#fields.text(text)
    else if (this.#around(1) === "t") {
      this.#paragraphs.words(text)
      this.#direction.words(text)
      this.#runs.words(text, (words) => this.#fields.words(words))
    } else this.#out.add(escaped(text))
  }

  /** The n-th of the open elements, from the innermost one on. */
  #around(steps: number): string | undefined {
    return this.#open.at(-steps)
  }

  #nameOf(name: string, written: string): string {
    const renamed = RENAMED.get(name)
    return renamed === undefined ? written : `${this.#out.prefix}${renamed}`
  }

  /** True when only the content of an element is written. */
  #isPassedOver(name: string): boolean {
    return (
      UNWRAPPED.has(name) ||
      (name === "numPr" && this.#around(2) === "pPr") ||
      ((name === "txbxContent" || name === "drawing") && this.#drawings.isOpen)
    )
  }

  #isLeftOut(name: string, attributes: ReadonlyMap<string, string>): boolean {
    // What properties were before a change.
    if (name.endsWith("PrChange") || name === "fldChar" || name === "instrText") return true
    // A mark of a note that is not there.
    if (NOTE_MARKS.has(name)) return !this.#known.notes.has(`${name} ${attributes.get("id") ?? ""}`)
    // Only the first choice is read.
    if (name === "Choice") return this.#out.length > (this.#alternatives.at(-1)?.from ?? Infinity)
    if (SHOWN.has(name) && this.#runs.isHidden) return true
    if (this.#paragraphs.open(name, attributes, this.#open)) return true
    const paragraph = this.#paragraph
    if (paragraph === undefined) return false
    if (this.#around(1) === "pPr" && name === "pStyle") paragraph.style = attributes.get("val") ?? ""
    else if (this.#around(1) === "numPr" && this.#around(2) === "pPr")
      addProperty(paragraph, name, numberIn(attributes.get("val")))
    else return false
    return true
  }

  #begin(name: string, attributes: ReadonlyMap<string, string>): void {
    switch (name) {
      case "pPr":
        if (this.#around(1) === "p") this.#paragraph = {}
        return
      case "outlineLvl":
        if (this.#around(1) === "pPr" && this.#paragraph !== undefined)
          addProperty(this.#paragraph, name, numberIn(attributes.get("val")))
        return
      case "fldSimple":
        this.#fields.begin(attributes.get("instr") ?? "")
        return
      case "hyperlink":
        this.#fields.link(true)
        return
      case "chart":
        this.#show(attributes.get("id"))
        return
      case "relIds":
        this.#show(attributes.get("dm"))
        return
      case "altChunk": {
        const html = chunkOf(this.#known.drawn, attributes.get("id"))
        this.#out.add(this.#out.element("p", this.#out.run(this.#known.marks.add({ kind: "chunk", html }))))
        return
      }
      case "txbxContent":
        if (this.#drawings.isOpen) this.#out.elsewhere()
        return
      case "rt":
        this.#out.elsewhere()
        return
      case "AlternateContent":
        this.#alternatives.push({ from: this.#out.length, fallback: undefined, readableAtFallback: 0 })
        return
      case "Fallback": {
        const alternatives = this.#alternatives.at(-1)
        if (alternatives === undefined) return
        alternatives.fallback = this.#out.length
        alternatives.readableAtFallback = this.#readable
      }
    }
  }

  #end(name: string): void {
    switch (name) {
      case "pPr":
        if (this.#before !== undefined) this.#out.add(this.#before)
        this.#before = undefined
        return
      case "fldSimple":
        this.#fields.end()
        return
      case "hyperlink":
        this.#fields.link(false)
        return
      case "rt":
        this.#reading = this.#out.given()
        return
      case "ruby":
        this.#out.addAll([this.#out.run("("), ...this.#reading, this.#out.run(")")])
        this.#reading = []
        return
      case "txbxContent":
        if (this.#drawings.isOpen) this.#drawings.behind(this.#out.given())
        return
      case "drawing":
        this.#drawings.close()
        return
      case "AlternateContent":
        this.#choose()
    }
  }

  /** Writes the contents of a chart or diagram behind the drawing, as those of text boxes. */
  #show(relation: string | undefined): void {
    const html = this.#known.drawn(relation)
    if (html === undefined || html === "") return
    this.#readable += 1
    const words = this.#out.run(this.#known.marks.add({ kind: "drawn", html }))
    this.#drawings.behind([this.#out.element("p", words)])
  }

  /** mammoth reads what older programs are to show; where they are to show nothing, the other is read. */
  #choose(): void {
    const chosen = this.#alternatives.pop()
    if (chosen?.fallback === undefined) return
    const { fallback, from, readableAtFallback } = chosen
    if (this.#readable > readableAtFallback) this.#out.cut(from, fallback)
    else this.#out.cut(fallback)
  }

  #endFormula({ root }: MathBuilder): void {
    this.#formula = undefined
    const isDisplayed = root.name === "oMathPara"
    for (const math of isDisplayed ? root.children : [root]) {
      const html = typeof math === "object" ? writeFormula(math, isDisplayed) : ""
      if (html === "") continue
      this.#readable += 1
      this.#out.add(this.#out.run(this.#known.marks.add({ kind: "formula", html })))
    }
  }

  /** Names the heading, and the list that the paragraph is in, where mammoth reads them. */
  #endProperties(): void {
    const paragraph = this.#paragraph ?? {}
    this.#paragraph = undefined
    const style = this.#known.styles(paragraph.style)
    this.#runs.isHiddenParagraph = style.isHidden
    const outline = outlineOf(paragraph, style)
    const name = outline === undefined ? paragraph.style : `Heading${Math.min(DEEPEST, outline + 1)}`
    if (name !== undefined) this.#out.add(this.#out.value("pStyle", name))
    const place = this.#paragraphs.isJoined
      ? undefined
      : this.#known.numbering.placeOf(paragraph, style, paragraph.style)
    const { before, numbers } = this.#lists.add(place, outline !== undefined)
    this.#out.add(numbers)
    this.#before = before
  }
}

/** Writes a part as {@link PartRewriter} does. */
export const rewritePart = async (
  bytes: AsyncIterable<Buffer> | Iterable<Buffer>,
  known: Known,
  relations: ReadonlyArray<Relation>
): Promise<string> => {
  const rewriter = new PartRewriter(known, relations)
  await readXml(bytes, {
    open: (name, attributes, written) => rewriter.open(name, attributes, written),
    close: (name, written) => rewriter.close(name, written),
    text: (text) => rewriter.text(text)
  })
  return rewriter.written()
}
