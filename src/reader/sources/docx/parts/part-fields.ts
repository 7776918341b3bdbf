import type { Marks, Meaning } from "../package/marks.ts"
import { isOff, numberIn } from "../package/styles.ts"
import { escaped, type Later, type PartOutput } from "./part-output.ts"

/** A field that has begun. */
interface Field {
  instruction: string
  /** Its result has begun, which happens once. */
  isResult: boolean
  hasWords: boolean
  /** Some of its words are more than spaces. */
  isFilled: boolean
  /** State of a form field: checked, options and choice; the default, and since changed. */
  readonly isChecked: Array<boolean>
  readonly entries: Array<string>
  readonly chosen: Array<number>
  /** Results of fields nested in the instruction. */
  readonly inside: Array<Later>
}

/** Most words in an instruction: where there are more, it has no end. */
const MOST = 50

/** Arguments of an instruction: words, quoted or not. */
const ARGUMENTS = /"([^"]*)"|(\S+)/g

/** Target of a field: an address, or a `#` and the name of a bookmark. */
const addressOf = (instruction: string): string | undefined => {
  const [name, ...rest] = Array.from(
    instruction.matchAll(ARGUMENTS),
    ([, quoted, word]) => quoted ?? word ?? ""
  )
  const behind = (option: string): string | undefined => {
    const at = rest.indexOf(option)
    return at < 0 ? undefined : rest[at + 1]
  }
  const [first = ""] = rest
  const kind = name?.toUpperCase()
  if (kind === "REF" || kind === "NOTEREF") return rest.includes("\\h") ? `#${first}` : undefined
  if (kind !== "HYPERLINK") return undefined
  const bookmark = behind("\\l")
  const address = first.startsWith("\\") ? "" : first
  return bookmark === undefined ? address : `${address.replace(/#.*/, "")}#${bookmark}`
}

/** Fields: what they lead to, and what forms are set to, as mammoth reads them. Their instructions are not for readers. */
export class PartFields {
  readonly #out: PartOutput
  readonly #marks: Marks<Meaning>
  readonly #fields: Array<Field> = []
  /** The outermost field of which the instruction is being read. */
  #instructed: Field | undefined
  /** The field that has a link as its result. */
  #link: Field | undefined
  /** Links that are open. */
  #links = 0
  #isInstruction = false

  constructor(out: PartOutput, marks: Marks<Meaning>) {
    this.#out = out
    this.#marks = marks
  }

  /** An element that begins or ends a field, or is in one of these. */
  open(name: string, attributes: ReadonlyMap<string, string>): void {
    this.#isInstruction = name === "instrText"
    if (name === "fldChar") this.#turn(attributes.get("fldCharType"))
    const field = this.#fields.at(-1)
    if (field === undefined) return
    const value = attributes.get("val")
    const number = numberIn(value)
    if (name === "checked" || name === "default") field.isChecked.push(!isOff(value))
    if ((name === "result" || name === "default") && number !== undefined) field.chosen.push(number)
    if (name === "listEntry") field.entries.push(value ?? "")
  }

  /** Text in such an element. */
  text(text: string): void {
    const field = this.#fields.at(-1)
    if (this.#isInstruction && field !== undefined) field.instruction += text
  }

  /** Words of the document, which a field may have instead of others. */
  words(text: string): void {
    const field = this.#fields.at(-1)
    if (field !== undefined) {
      field.hasWords = true
      field.isFilled ||= text.trim() !== ""
    }
    const piece = { text: escaped(text) }
    const inside = this.#instructed === field ? undefined : this.#instructed?.inside
    if (inside !== undefined && inside.length < MOST) inside.push(piece)
    this.#out.add(piece)
  }

  /** Begins a field that gives its instruction as an attribute. */
  begin(instruction: string): void {
    const field = this.#begin()
    field.instruction = instruction
    this.#run(() => this.#separate(field))
  }

  /** The end of such a field. */
  end(): void {
    this.#run(() => this.#end())
  }

  /** Call at the begin and the end of a link that is not a field. Links contain no links. */
  link(isBegin: boolean): void {
    this.#links += isBegin ? 1 : -1
  }

  #run(write: () => void): void {
    this.#out.add(`<${this.#out.prefix}r>`)
    write()
    this.#out.add(`</${this.#out.prefix}r>`)
  }

  #turn(to: string | undefined): void {
    if (to === "begin") this.#begin()
    if (to === "separate") this.#separate(this.#fields.at(-1))
    if (to === "end") this.#end()
  }

  #begin(): Field {
    const field: Field = {
      instruction: "",
      isResult: false,
      hasWords: false,
      isFilled: false,
      isChecked: [],
      entries: [],
      chosen: [],
      inside: []
    }
    this.#fields.push(field)
    this.#instructed ??= field
    return field
  }

  #separate(field: Field | undefined): void {
    if (field === undefined || field.isResult) return
    field.isResult = true
    if (this.#instructed === field) {
      for (const piece of field.inside) piece.text = ""
      this.#instructed = undefined
    }
    const address = this.#links === 0 ? addressOf(field.instruction) : undefined
    if (address === undefined || address === "") return
    this.#link = field
    this.#links += 1
    const to = address.startsWith("#") ? `\\l "${address.slice(1)}"` : `"${address}"`
    this.#write(`HYPERLINK ${to}`)
    this.#character("separate")
  }

  #end(): void {
    const field = this.#fields.pop()
    if (field === undefined) return
    if (this.#instructed === field) this.#instructed = undefined
    if (this.#link === field) {
      this.#link = undefined
      this.#links -= 1
      this.#character("end")
    }
    const kind = /^\s*(FORM\w+)/.exec(field.instruction)?.[1]
    const out = this.#out
    if (kind === "FORMCHECKBOX") {
      const checked = out.value("checked", field.isChecked.at(-1) === true ? 1 : 0)
      this.#write(kind, out.element("ffData", out.element("checkBox", checked)))
      this.#character("end")
    } else if (kind === "FORMDROPDOWN" && !field.hasWords)
      out.add(out.element("t", escaped(field.entries[field.chosen.at(-1) ?? 0] ?? "")))
    else if (kind === "FORMTEXT" && !field.isFilled)
      out.add(out.element("t", this.#marks.add({ kind: "field", html: '<input type="text" />' })))
  }

  /** The beginning of a field as mammoth reads it. */
  #write(instruction: string, inside = ""): void {
    this.#character("begin", inside)
    this.#out.add(this.#out.element("instrText", escaped(instruction)))
  }

  #character(kind: string, inside = ""): void {
    const { prefix } = this.#out
    this.#out.add(`<${prefix}fldChar ${prefix}fldCharType="${kind}">${inside}</${prefix}fldChar>`)
  }
}
