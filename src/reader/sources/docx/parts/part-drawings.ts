import { append } from "../../../model/lists.ts"
import { isOff } from "../package/styles.ts"
import { NOWHERE } from "./part-attributes.ts"
import { escaped, type PartOutput, type Written } from "./part-output.ts"

/** What is said of a picture that shows nothing that a reader needs: no document's words are these. */
export const DECORATIVE = "postlane-decorative"

/** What a drawing, or one of the pictures in it, says of itself. */
interface Said {
  description: string
  link: string | undefined
}

interface Drawing {
  readonly whole: Said
  /** The element that is described: the whole, or a picture. */
  current: Said
  isDecorative: boolean
  readonly pictures: Array<{ readonly relation: string; readonly said: Said }>
  /** Text boxes and contents of charts, which are written behind the drawing. */
  readonly behind: Array<Written>
}

const NAMESPACES = [
  'xmlns:wp="http://schemas.openxmlformats.org/drawingml/2006/wordprocessingDrawing"',
  'xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main"',
  'xmlns:pic="http://schemas.openxmlformats.org/drawingml/2006/picture"',
  'xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"'
].join(" ")

/** Rewrites drawings for mammoth: their pictures, also those of groups, each with its description, and their words. */
export class PartDrawings {
  readonly #drawings: Array<Drawing> = []
  readonly #out: PartOutput
  readonly #relations: ReadonlySet<string>

  constructor(out: PartOutput, relations: ReadonlySet<string>) {
    this.#out = out
    this.#relations = relations
  }

  get isOpen(): boolean {
    return this.#drawings.length > 0
  }

  /** Call before an element is written. `around`: its ancestors, the innermost last. */
  open(name: string, attributes: ReadonlyMap<string, string>, around: ReadonlyArray<string>): void {
    if (name === "drawing") {
      const whole: Said = { description: "", link: undefined }
      this.#drawings.push({ whole, current: whole, isDecorative: false, pictures: [], behind: [] })
      this.#out.elsewhere()
      return
    }
    const drawing = this.#drawings.at(-1)
    if (drawing === undefined) return
    if (name === "docPr") drawing.whole.description = descriptionOf(attributes)
    else if (name === "cNvPr") drawing.current = { description: descriptionOf(attributes), link: undefined }
    else if (name === "decorative") drawing.isDecorative ||= !isOff(attributes.get("val"))
    else if (name === "hlinkClick") drawing.current.link = this.#known(attributes.get("id"))
    // Others fill shapes.
    else if (name === "blip" && around.at(-2) === "pic") {
      const relation = attributes.get("embed") || attributes.get("link")
      if (relation !== undefined && relation !== "")
        drawing.pictures.push({ relation: this.#known(relation) ?? NOWHERE, said: drawing.current })
    }
  }

  /** Adds content to write behind the innermost drawing. */
  behind(written: ReadonlyArray<Written>): void {
    append(this.#drawings.at(-1)?.behind ?? [], written)
  }

  /** Behind the drawing's end. */
  close(): void {
    this.#out.given()
    const drawing = this.#drawings.pop()
    if (drawing === undefined) return
    const { behind, isDecorative, pictures, whole } = drawing
    const said = (own: Said, at: number): Said => ({
      // What is said of a group is said of its first picture.
      description: isDecorative ? DECORATIVE : (at === 0 && whole.description) || own.description,
      link: own.link ?? whole.link
    })
    this.#out.add(`<${this.#out.prefix}drawing>`)
    for (const [at, picture] of pictures.entries()) this.#picture(picture.relation, said(picture.said, at))
    // A drawing without a picture leaves its description.
    if (pictures.length === 0 && whole.description !== "" && !isDecorative) this.#picture(NOWHERE, whole)
    this.#out.add(`</${this.#out.prefix}drawing>`)
    if (behind.length > 0) this.#boxes(behind)
  }

  #known(relation: string | undefined): string | undefined {
    return relation !== undefined && this.#relations.has(relation) ? relation : undefined
  }

  #picture(relation: string, { description, link }: Said): void {
    const leading = link === undefined ? "" : `<a:hlinkClick r:id="${escaped(link)}"/>`
    this.#out.add(
      `<wp:inline ${NAMESPACES}><wp:docPr descr="${escaped(description)}">${leading}</wp:docPr><a:graphic><a:graphicData><pic:pic>` +
        `<pic:blipFill><a:blip r:embed="${escaped(relation)}"/></pic:blipFill></pic:pic></a:graphicData></a:graphic></wp:inline>`
    )
  }

  /** Boxes of text as mammoth knows them. */
  #boxes(boxes: ReadonlyArray<Written>): void {
    const [pict, content] = [`${this.#out.prefix}pict`, `${this.#out.prefix}txbxContent`]
    this.#out.add(`<${pict}><v:textbox xmlns:v="urn:schemas-microsoft-com:vml"><${content}>`)
    this.#out.addAll(boxes)
    this.#out.add(`</${content}></v:textbox></${pict}>`)
  }
}

const descriptionOf = (attributes: ReadonlyMap<string, string>): string =>
  (attributes.get("descr") ?? "").trim() || (attributes.get("title") ?? "").trim()
