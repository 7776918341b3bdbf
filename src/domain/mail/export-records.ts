/** One record of a provider's export, its fields by name in lower case without signs; `line` is where it begins, from 1. */
export interface ExportRecord {
  readonly line: number
  readonly fields: ReadonlyMap<string, string>
}

/** A place of the file that is no record, and why. */
export interface BadRecord {
  readonly line: number
  readonly problem: string
}

/** Reads an export piece by piece; `end` gives what is left once all of it was fed. */
interface RecordReader {
  readonly feed: (piece: string) => ReadonlyArray<ExportRecord | BadRecord>
  readonly end: () => ReadonlyArray<ExportRecord | BadRecord>
  /** Whether what was fed says that it is one page and that more follow. */
  readonly isPartial: () => boolean
}

/** Longest record, characters: an address, a reason and a provider's words about it. */
const MAX_RECORD_LENGTH = 64 * 1024

const TOO_LONG = `is longer than ${MAX_RECORD_LENGTH} characters`

/** `Email Address`, `email_address` and `EmailAddress` are one name. */
const nameOf = (text: string) => text.toLowerCase().replaceAll(/[^a-z0-9]/g, "")

/** The columns of a file without a heading: Amazon SES imports and exports `address,reason`. */
const WITHOUT_HEADING = ["email", "reason"]

/** Rows of CSV (RFC 4180); the first one is a heading unless it contains an address. */
const csvReader = (): RecordReader => {
  let names: ReadonlyArray<string> | undefined
  let cells: Array<string> = []
  let cell = ""
  let length = 0
  let quoted = false
  let mayClose = false
  let line = 1
  let begun = 1

  const recordOf = (row: ReadonlyArray<string>): ReadonlyArray<ExportRecord> => {
    if (row.every((one) => one.trim() === "")) return []
    if (names === undefined) {
      const isHeading = !row.some((one) => one.includes("@"))
      names = isHeading ? row.map(nameOf) : WITHOUT_HEADING
      if (isHeading) return []
    }
    const columns = names
    return [
      { line: begun, fields: new Map(row.map((text, at) => [columns[at] ?? `column${at + 1}`, text.trim()])) }
    ]
  }
  const endRow = (): ReadonlyArray<ExportRecord | BadRecord> => {
    const row = [...cells, cell]
    const found = length > MAX_RECORD_LENGTH ? [{ line: begun, problem: TOO_LONG }] : recordOf(row)
    cells = []
    cell = ""
    length = 0
    begun = line
    return found
  }
  const read = (sign: string): ReadonlyArray<ExportRecord | BadRecord> => {
    if (sign === "\n") line += 1
    const isOpen = quoted && !mayClose
    if (sign === '"' && (quoted || cell === "")) {
      if (mayClose) cell += '"'
      mayClose = quoted && !mayClose
      quoted = true
      return []
    }
    if (!isOpen) {
      quoted = mayClose = false
      if (sign === "\n") return endRow()
      if (sign === ",") {
        cells.push(cell)
        cell = ""
        return []
      }
      if (sign === "\r") return []
    }
    length += 1
    if (length <= MAX_RECORD_LENGTH) cell += sign
    return []
  }
  return {
    feed: (piece) => {
      const found: Array<ExportRecord | BadRecord> = []
      for (const sign of piece) for (const one of read(sign)) found.push(one)
      return found
    },
    end: () => (quoted && !mayClose ? [{ line: begun, problem: "ends within a quotation" }] : endRow()),
    isPartial: () => false
  }
}

const fieldsOf = (text: string): ReadonlyMap<string, string> | undefined => {
  try {
    const members = Object.entries(JSON.parse(text) as Readonly<Record<string, unknown>>)
    return new Map(
      members.map(([name, value]) => [nameOf(name), typeof value === "string" ? value.trim() : ""])
    )
  } catch {
    return undefined
  }
}

/** What a page of a list says where more follow: Amazon SES, Resend. */
const MORE = /"nexttoken"\s*:\s*"[^"]|"has_more"\s*:\s*true/i

/** Every object of a JSON document, or of one a line, that holds no other object: records are flat, whatever is around them. */
const jsonReader = (): RecordReader => {
  let text = ""
  let depth = 0
  let inside = false
  let quoted = false
  let escaped = false
  let length = 0
  let line = 1
  let begun = 1
  // Text around the records of the document being read, and whether the last record said that more follow.
  let around = ""
  let partial = false

  const note = (more: string) => {
    if (around.length < MAX_RECORD_LENGTH) around += more
  }
  const close = (): ReadonlyArray<ExportRecord | BadRecord> => {
    inside = false
    if (length > MAX_RECORD_LENGTH) return [{ line: begun, problem: TOO_LONG }]
    const fields = fieldsOf(text)
    return [fields === undefined ? { line: begun, problem: "is not JSON" } : { line: begun, fields }]
  }
  const read = (sign: string): ReadonlyArray<ExportRecord | BadRecord> => {
    if (sign === "\n") line += 1
    if (!quoted && sign === "{") {
      depth += 1
      if (inside) note(text)
      inside = true
      text = ""
      length = 0
      begun = line
    }
    if (inside) {
      length += 1
      if (length <= MAX_RECORD_LENGTH) text += sign
    } else if (depth > 0 && !/[\s,]/.test(sign)) note(sign)
    if (quoted) {
      if (!escaped && sign === '"') quoted = false
      escaped = !escaped && sign === "\\"
    } else if (sign === '"') {
      quoted = true
    } else if (sign === "}") {
      depth -= 1
      if (inside && depth === 0) note(text)
      if (depth === 0) {
        partial = MORE.test(around)
        around = ""
      }
      if (inside) return close()
    }
    return []
  }
  return {
    feed: (piece) => {
      const found: Array<ExportRecord | BadRecord> = []
      for (const sign of piece) for (const one of read(sign)) found.push(one)
      return found
    },
    end: () => (depth > 0 || quoted ? [{ line: begun, problem: "ends in the middle" }] : []),
    isPartial: () => partial
  }
}

/** Reads CSV or JSON, by the first sign of the file that is no white space. */
export const recordReader = (): RecordReader => {
  let reader: RecordReader | undefined
  let blank = ""
  return {
    feed: (piece) => {
      if (reader !== undefined) return reader.feed(piece)
      // A byte order mark is white space, too.
      const first = piece.trimStart()
      // Of what precedes the first sign, only line breaks count, for the numbers of the lines.
      blank += piece.slice(0, piece.length - first.length).replaceAll(/[^\n]/g, "")
      if (first === "") return []
      reader = /^[[{]/.test(first) ? jsonReader() : csvReader()
      return reader.feed(blank + first)
    },
    end: () => reader?.end() ?? [],
    isPartial: () => reader?.isPartial() ?? false
  }
}
