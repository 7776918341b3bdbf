/** Spacing accents, and the combining accents that they represent. */
const COMBINING: ReadonlyMap<number, number> = new Map([
  [0x5e, 0x302],
  [0x60, 0x300],
  [0x7e, 0x303],
  [0xa8, 0x308],
  [0xaf, 0x304],
  [0xb4, 0x301],
  [0xb8, 0x327],
  [0x2c6, 0x302],
  [0x2c7, 0x30c],
  [0x2d8, 0x306],
  [0x2d9, 0x307],
  [0x2da, 0x30a],
  [0x2db, 0x328],
  [0x2dc, 0x303],
  [0x2dd, 0x30b],
  [0x20d7, 0x20d7]
])
const DOTLESS_I = 0x131

/** Whether a unit may be an accent over a letter: in most runs none is. */
export const isAccent = (unit: number): boolean =>
  (unit > 0x7d || unit === 0x5e || unit === 0x60) && COMBINING.has(unit)
/** Letters before an accent among which the one is that it is set over: a word that is drawn before its accents. */
const LOOK_BACK = 200

const composed = (letter: number, mark: number): number | undefined => {
  const one = String.fromCharCode(letter === DOTLESS_I ? 0x69 : letter, mark).normalize("NFC")
  return one.length === 1 ? one.charCodeAt(0) : undefined
}

/**
 * Makes one letter of an accent and the letter that it is set over: TeX and older programs draw `¨` and `o` for `ö`, in either
 * order. Works on the first `length` units with their left and right edges, in place. Answers how many are left.
 */
export const composeAccents = (
  units: Uint16Array,
  starts: Float64Array,
  ends: Float64Array,
  length: number
): number => {
  let to = 0
  for (let from = 0; from < length; from++) {
    const unit = units[from] ?? 0
    const mark = COMBINING.get(unit)
    const middle = ((starts[from] ?? 0) + (ends[from] ?? 0)) / 2
    /** The letter at this place with the accent, where that is set over it. */
    const accented = (at: number): number | undefined =>
      mark !== undefined && middle > (starts[at] ?? 0) && middle < (ends[at] ?? 0)
        ? composed(units[at] ?? 0, mark)
        : undefined
    const next = from + 1 < length ? accented(from + 1) : undefined
    if (next !== undefined) from += 1
    let before: number | undefined
    if (mark !== undefined && next === undefined)
      for (let at = to - 1; at >= Math.max(0, to - LOOK_BACK) && before === undefined; at--) {
        before = accented(at)
        if (before !== undefined) units[at] = before
      }
    if (before !== undefined) continue
    units[to] = next ?? unit
    starts[to] = starts[from] ?? 0
    ends[to++] = ends[from] ?? 0
  }
  return to
}
