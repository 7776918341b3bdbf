const [QUOTE, BACKSLASH, COMMA, COLON] = [34, 92, 44, 58]
const [OPEN_OBJECT, CLOSE_OBJECT, OPEN_ARRAY, CLOSE_ARRAY] = [123, 125, 91, 93]

/** JSON's white space. */
const isSpace = (byte: number | undefined): boolean => byte === 32 || byte === 10 || byte === 13 || byte === 9

const skipSpace = (json: Uint8Array, from: number): number => {
  let at = from
  while (isSpace(json[at])) at++
  return at
}

/** The index after the string that opens with the quote at `from`; -1 when it does not end. */
const skipString = (json: Uint8Array, from: number): number => {
  for (let end = json.indexOf(QUOTE, from + 1); end !== -1; end = json.indexOf(QUOTE, end + 1)) {
    let escapes = end
    while (json[escapes - 1] === BACKSLASH) escapes--
    if ((end - escapes) % 2 === 0) return end + 1
  }
  return -1
}

/** The index after the value at `from`, which is not parsed; -1 without a value or its end. */
const skipValue = (json: Uint8Array, from: number): number => {
  let depth = 0
  for (let at = from; at < json.length;) {
    const byte = json[at]
    if (byte === QUOTE) {
      at = skipString(json, at)
      if (depth === 0 || at === -1) return at
      continue
    }
    if (byte === OPEN_OBJECT || byte === OPEN_ARRAY) depth++
    else if (byte === CLOSE_OBJECT || byte === CLOSE_ARRAY) {
      // The enclosing value ends here, and with it a number or a literal.
      if (depth === 0) return at === from ? -1 : at
      depth--
      if (depth === 0) return at + 1
    } else if (depth === 0 && (byte === COMMA || isSpace(byte))) return at === from ? -1 : at
    at++
  }
  return -1
}

const decoder = new TextDecoder()

/** Parses JSON; undefined where it is invalid. */
export const parsed = (json: Uint8Array): unknown => {
  try {
    return JSON.parse(decoder.decode(json))
  } catch {
    return undefined
  }
}

/**
 * The raw bytes of a JSON object's members, by name, the last one of a name; undefined where it is not an object. Values are not
 * parsed: a record of the batch service's output is mostly the echo of a page's PDF, which is never decoded. Invalid JSON inside
 * a value shows when that is {@link parsed}.
 */
export const membersOf = (json: Uint8Array): ReadonlyMap<string, Uint8Array> | undefined => {
  const members = new Map<string, Uint8Array>()
  let at = skipSpace(json, 0)
  if (json[at] !== OPEN_OBJECT) return undefined
  at = skipSpace(json, at + 1)
  const isEmpty = json[at] === CLOSE_OBJECT
  while (!isEmpty) {
    if (json[at] !== QUOTE) return undefined
    const nameEnd = skipString(json, at)
    if (nameEnd === -1) return undefined
    const name = parsed(json.subarray(at, nameEnd))
    at = skipSpace(json, nameEnd)
    if (typeof name !== "string" || json[at] !== COLON) return undefined
    at = skipSpace(json, at + 1)
    const end = skipValue(json, at)
    if (end === -1) return undefined
    members.set(name, json.subarray(at, end))
    at = skipSpace(json, end)
    if (json[at] === CLOSE_OBJECT) break
    if (json[at] !== COMMA) return undefined
    at = skipSpace(json, at + 1)
  }
  return skipSpace(json, at + 1) === json.length ? members : undefined
}
