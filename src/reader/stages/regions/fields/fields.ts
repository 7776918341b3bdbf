import type { Field } from "../../../model/block.ts"
import { hull } from "../../../model/geometry.ts"
import { firstNotBefore, addTo, countUp } from "../../../model/lists.ts"
import type { FormField, Box } from "../../../model/page-content.ts"
import type { Placed } from "../../../model/placed.ts"
import { lettersOf } from "../../lines/heading-words.ts"
import type { Line } from "../../lines/line.ts"
import { segmentText, type Segment } from "../../lines/segment.ts"
import { isTick, printedLabels, type PrintedLabel, wordsOf } from "./field-labels.ts"

/** With more fields on a page, only their printed lines are kept. */
export const MAX_FIELDS = 400
/** Longest question above or before a group, characters. */
const MAX_LEGEND = 200

const words = (name: string): string =>
  name
    .replaceAll(/\[\d+\]|#subform|topmostSubform/g, " ")
    .replaceAll(/([a-z])([A-Z])/g, "$1 $2")
    .replaceAll(/[._]+/g, " ")
    .replaceAll(/\s+/g, " ")
    .trim()

/** Longest name that is shown, characters. */
const MAX_NAME = 200

/** The block of a field; `label` is the one found on the page. */
export const fieldBlock = (field: FormField, label: string | undefined): Field => ({
  kind: "field",
  control: field.kind,
  label: label || words(field.name.slice(0, MAX_NAME)) || field.kind,
  value: field.value,
  checked: field.checked,
  options: field.options,
  chosen: field.chosen ?? [field.value],
  required: field.required === true,
  readOnly: field.readOnly === true,
  multiline: field.multiline === true || field.value.includes("\n"),
  maxLength: field.maxLength,
  spoken: false
})

/** A field, its label, the printed words that agree with it, and the segment next to it. */
interface Labelled {
  readonly field: FormField
  readonly label: string | undefined
  readonly printed: PrintedLabel | undefined
  readonly anchor: Segment | undefined
}

/** The last words on or above a field's line. */
const wordsBefore = ({ box }: FormField, rows: ReadonlyArray<Line>): Segment | undefined => {
  const from = firstNotBefore(rows, ({ baseline }) => baseline < box.y1)
  const { segments = [] } = rows[from - 1] ?? {}
  return segments.findLast(({ x0 }) => x0 < box.x1) ?? segments[0]
}

const agree = (a: string, b: string): boolean => {
  const [one, other] = [lettersOf(a), lettersOf(b)]
  return one !== "" && other !== "" && (one.startsWith(other) || other.startsWith(one))
}

/** Each field with its label: its own description, unless other fields have the same; else the printed words; else its name. */
const labelled = (fields: ReadonlyArray<FormField>, rows: ReadonlyArray<Line>): ReadonlyArray<Labelled> => {
  const printed = printedLabels(fields, rows)
  const described = new Map<string, number>()
  for (const { label = "" } of fields) countUp(described, label.trim())
  return fields.map((field) => {
    const own = field.label?.trim() ?? ""
    const found = printed.get(field)
    const anchor = found?.segments.at(-1) ?? wordsBefore(field, rows)
    if (own === "" || ((described.get(own) ?? 0) > 1 && isTick(field) && found !== undefined))
      return { field, label: found?.text, printed: found, anchor }
    if (found === undefined || !agree(found.text, own))
      return { field, label: own, printed: undefined, anchor }
    // The printed words may go with the field: none of them may be lost.
    const label = lettersOf(found.text).length > lettersOf(own).length ? found.text : own
    return { field, label, printed: found, anchor }
  })
}

/** Fields that belong together: the buttons of one name, check boxes that follow one another in a column or on a line. */
const clusters = (fields: ReadonlyArray<FormField>): ReadonlyArray<ReadonlyArray<FormField>> => {
  const radios = new Map<string, Array<FormField>>()
  const found: Array<Array<FormField>> = []
  let boxes: Array<FormField> = []
  const ticks = fields.filter(isTick).sort((a, b) => a.box.y0 - b.box.y0 || a.box.x0 - b.box.x0)
  for (const field of ticks) {
    if (field.kind === "radio") {
      addTo(radios, field.name, field)
      continue
    }
    const last = boxes.at(-1)
    const height = field.box.y1 - field.box.y0
    const isNext =
      last !== undefined &&
      field.box.y0 - last.box.y1 < 3 * height &&
      (Math.abs(field.box.x0 - last.box.x0) < 4 || Math.abs(field.box.y0 - last.box.y0) < 4)
    if (isNext) boxes.push(field)
    else {
      if (boxes.length > 1) found.push(boxes)
      boxes = [field]
    }
  }
  if (boxes.length > 1) found.push(boxes)
  return [...found, ...[...radios.values()].filter((same) => same.length > 1)]
}

/** The page's form fields, and the words that became their labels. */
interface Fields {
  readonly placed: ReadonlyArray<Placed>
  readonly taken: ReadonlySet<Segment>
  /** The words next to each block. */
  readonly anchors: ReadonlyMap<Placed, Segment>
  /** Fields with labels that are in the text, too. */
  readonly echoes: ReadonlySet<Placed>
}

/** What is around fields and their words. */
const boxOf = (group: ReadonlyArray<Labelled>): Box =>
  hull(group.flatMap(({ field, printed }) => [field.box, ...(printed?.segments ?? [])]))

/** The printed question that a group answers: before its first field, or just above all. */
const legendOf = (
  group: ReadonlyArray<Labelled>,
  rows: ReadonlyArray<Line>,
  free: (segment: Segment) => boolean
): { readonly text: string; readonly segment: Segment | undefined } | undefined => {
  const [first] = group
  if (first === undefined) return undefined
  const question = first.printed?.question
  if (question !== undefined) return { text: question.replace(/:$/, ""), segment: undefined }
  const box = boxOf(group)
  let best: { readonly segment: Segment; readonly away: number } | undefined
  const from = firstNotBefore(rows, ({ baseline }) => baseline < box.y0 - 30)
  for (let at = from; at < rows.length; at++) {
    const row = rows[at]
    if (row === undefined || row.y0 > first.field.box.y1) break
    for (const segment of row.segments.slice(0, MAX_FIELDS)) {
      const text = segmentText(segment).trim()
      if (!free(segment) || text.length > MAX_LEGEND || !/\p{L}/u.test(text)) continue
      const isQuestion = /[?:]$/.test(text)
      const level = segment.y0 < first.field.box.y1 && segment.y1 > first.field.box.y0
      const beside = level && segment.x1 <= first.field.box.x0 + 2 && first.field.box.x0 - segment.x1 < 100
      const above =
        isQuestion &&
        segment.baseline <= box.y0 + 2 &&
        box.y0 - segment.y1 < 1.8 * segment.size &&
        segment.x0 < box.x0 + 6
      const away = beside ? 0 : above ? box.y0 - segment.baseline : Infinity
      if (away < (best?.away ?? Infinity)) best = { segment, away }
    }
  }
  if (best !== undefined) return { text: wordsOf([best.segment]), segment: best.segment }
  // What all of them are described as is what they are about.
  const shared = first.field.label?.trim()
  return shared && group.every(({ field }) => field.label?.trim() === shared)
    ? { text: shared, segment: undefined }
    : undefined
}

/** Places fields, and takes the words that are their labels now. */
class Placing {
  readonly taken = new Set<Segment>()
  readonly anchors = new Map<Placed, Segment>()
  readonly echoes = new Set<Placed>()
  readonly #uses = new Map<Segment, number>()
  readonly #rows: ReadonlyArray<Line>
  readonly #loose: ReadonlySet<Segment>

  constructor(all: ReadonlyArray<Labelled>, rows: ReadonlyArray<Line>, loose: ReadonlySet<Segment>) {
    this.#rows = rows
    this.#loose = loose
    for (const { printed } of all) for (const segment of printed?.segments ?? []) countUp(this.#uses, segment)
  }

  /** `answers`: the words before its label in the same line are the question, which is asked above it. */
  field({ anchor, field, label, printed }: Labelled, answers = false): Placed {
    const isOwn =
      printed?.beside === true &&
      (printed.question === undefined || answers) &&
      printed.segments.every((of) => this.#uses.get(of) === 1 && this.#loose.has(of))
    const own = isOwn ? printed.segments : []
    for (const segment of own) this.taken.add(segment)
    const placed = { block: fieldBlock(field, label), ...hull([field.box, ...own]) }
    if (anchor !== undefined) this.anchors.set(placed, anchor)
    if (!isOwn && printed !== undefined) this.echoes.add(placed)
    return placed
  }

  /** Fields under their question; undefined where none is asked. */
  group(group: ReadonlyArray<Labelled>): Placed | undefined {
    const isFree = (segment: Segment): boolean => this.#loose.has(segment) && !this.#uses.has(segment)
    const legend = legendOf(group, this.#rows, isFree)
    if (legend === undefined) return undefined
    const placed = group.map((one, at) => this.field(one, at === 0 && one.printed?.question !== undefined))
    const own = legend.segment === undefined ? [] : [legend.segment]
    for (const segment of own) this.taken.add(segment)
    const whole: Placed = {
      block: {
        kind: "fields",
        legend: legend.text,
        fields: placed.flatMap(({ block }) => (block.kind === "field" ? [block] : []))
      },
      ...hull([...placed, ...own])
    }
    const anchor = group.at(-1)?.anchor
    if (anchor !== undefined) this.anchors.set(whole, anchor)
    return whole
  }
}

/** True when another field is between those of a group. */
const isTorn = (group: ReadonlyArray<Labelled>, all: ReadonlyArray<Labelled>): boolean => {
  const box = boxOf(group)
  return all.some(
    (one) =>
      !group.includes(one) &&
      one.field.box.x0 < box.x1 &&
      one.field.box.x1 > box.x0 &&
      one.field.box.y0 > box.y0 &&
      one.field.box.y1 < box.y1
  )
}

/**
 * The page's form fields at their places, each with a label; fields that answer one question are grouped under it.
 * Words on a field's line are moved to it; where several fields share them they stay as text, too.
 */
export const fieldsOf = (
  fields: ReadonlyArray<FormField>,
  rows: ReadonlyArray<Line>,
  loose: ReadonlySet<Segment>
): Fields => {
  const all = labelled(fields.slice(0, MAX_FIELDS), rows)
  const placing = new Placing(all, rows, loose)
  const byField = new Map(all.map((one) => [one.field, one]))
  const grouped = new Set<Labelled>()
  const groups = clusters(all.map(({ field }) => field)).flatMap((cluster): ReadonlyArray<Placed> => {
    const group = cluster.flatMap((field) => byField.get(field) ?? [])
    const placed = isTorn(group, all) ? undefined : placing.group(group)
    if (placed === undefined) return []
    for (const one of group) grouped.add(one)
    return [placed]
  })
  const single = all.filter((one) => !grouped.has(one)).map((one) => placing.field(one))
  const { anchors, echoes, taken } = placing
  return { placed: [...groups, ...single], taken, anchors, echoes }
}
