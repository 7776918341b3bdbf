import { callQpdf, type Qpdf, SUCCESS, WARNINGS } from "./qpdf.ts"

/** A reference to another object. */
interface Reference {
  readonly ref: number
}

/** A value as a PDF has it: names begin with a slash, strings with an opening parenthesis. */
export type PdfValue = string | number | Reference | ReadonlyArray<PdfValue> | PdfDictionary | undefined
type PdfDictionary = ReadonlyMap<string, PdfValue>

const isList = (value: PdfValue): value is ReadonlyArray<PdfValue> => Array.isArray(value)

/** The values of a list; none where it is something else. */
export const listOf = (value: PdfValue): ReadonlyArray<PdfValue> => (isList(value) ? value : [])

const isDictionary = (value: PdfValue): value is PdfDictionary => value instanceof Map

const TOKEN =
  /\s*(<<|>>|\[|\]|(\d+) \d+ R\b|\/[^\s/<>[\]()]*|<[0-9a-fA-F\s]*>|\((?:[^\\()]|\\[^])*\)|[^\s/<>[\]()]+)/y

/** Objects within one another. */
const MAX_DEPTH = 20

const ESCAPED: ReadonlyMap<string, string> = new Map([
  ["n", "\n"],
  ["r", "\r"],
  ["t", "\t"],
  ["b", "\b"],
  ["f", "\f"]
])

/** A text string, of its bytes. */
export const textOf = (bytes: Buffer): string => {
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return new TextDecoder("utf-16be").decode(bytes.subarray(2))
  return bytes.toString(bytes[0] === 0xef && bytes[1] === 0xbb ? "utf8" : "latin1").replace(/^\ufeff/, "")
}

const stringOf = (token: string): string => {
  if (token.startsWith("<")) return `(${textOf(Buffer.from(token.replace(/[^0-9a-fA-F]/g, ""), "hex"))}`
  const plain = token
    .slice(1, -1)
    .replace(/\\([0-7]{1,3}|[^])/g, (_, given: string) =>
      /^[0-7]/.test(given) ? String.fromCharCode(Number.parseInt(given, 8)) : (ESCAPED.get(given) ?? given)
    )
  return `(${textOf(Buffer.from(plain, "latin1"))}`
}

/** Reads an object as qpdf prints it; undefined where it is not an object, or nested too deep. */
export const parseObject = (printed: string): PdfValue => {
  TOKEN.lastIndex = 0
  let ended = false
  // Behind its last token the expression would start again from the beginning.
  const next = () => {
    const token = ended ? null : TOKEN.exec(printed)
    ended = token === null
    return token
  }
  const read = (token: RegExpExecArray | null, depth: number): PdfValue => {
    if (token === null || depth > MAX_DEPTH) return undefined
    const [, text = "", reference] = token
    if (reference !== undefined) return { ref: Number(reference) }
    if (text === "[") {
      const values: Array<PdfValue> = []
      for (let one = next(); one !== null && one[1] !== "]"; one = next()) values.push(read(one, depth + 1))
      return values
    }
    if (text === "<<") {
      const entries = new Map<string, PdfValue>()
      for (let key = next(); key !== null && key[1] !== ">>"; key = next())
        entries.set(key[1] ?? "", read(next(), depth + 1))
      return entries
    }
    if (text.startsWith("(") || text.startsWith("<")) return stringOf(text)
    const number = Number(text)
    return Number.isFinite(number) ? number : text
  }
  return read(next(), 0)
}

/** What pdfium has no function for: objects of a document, as qpdf prints them. Each costs qpdf a look at the file's table. */
export class PdfObjects {
  readonly #qpdf: Qpdf
  readonly #path: string
  readonly #known = new Map<number | "trailer", PdfValue>()

  constructor(qpdf: Qpdf, path: string) {
    this.#qpdf = qpdf
    this.#path = path
  }

  #object(id: number | "trailer"): PdfValue {
    if (!this.#known.has(id)) {
      const code = callQpdf(this.#qpdf, this.#path, (input) => [input, `--show-object=${id}`])
      const isThere = code === SUCCESS || code === WARNINGS
      this.#known.set(id, isThere ? parseObject(this.#qpdf.output()) : undefined)
    }
    return this.#known.get(id)
  }

  /** The value, or the object that it refers to. */
  resolve(value: PdfValue): PdfValue {
    return typeof value === "object" && "ref" in value ? this.#object(value.ref) : value
  }

  /** The entry of a dictionary, or of one that is referred to. */
  entry(of: PdfValue, key: string): PdfValue {
    const dictionary = this.resolve(of)
    return isDictionary(dictionary) ? this.resolve(dictionary.get(key)) : undefined
  }

  get catalogue(): PdfValue {
    return this.entry(this.#object("trailer"), "/Root")
  }
}
