import type { TextRun } from "../../model/page-content.ts"
import { edgesOf } from "./run-edges.ts"

/** Arrows that TeX makes longer, or gives a hook, by what it sets before or behind them; quotation marks that it sets of two. */
const LONG: ReadonlyArray<readonly [RegExp, string]> = [
  [/^↪−*→$/, "↪"],
  [/^←−*↩$/, "↩"],
  [/^‹‹$/, "«"],
  [/^››$/, "»"],
  [/^↦−+→$/, "⟼"],
  [/^−+→$/, "⟶"],
  [/^←−+$/, "⟵"],
  [/^←−*→$/, "⟷"],
  [/^=+⇒$/, "⟹"],
  [/^⇐=+$/, "⟸"],
  [/^⇐=*⇒$/, "⟺"]
]
const PARTS = /\u0338.|[↦↪←⇐−=→⇒↩]{2,}|‹‹|››/gu
/** What most runs do not have. */
const MAY_HAVE = /[\u0338→⇒←⇐‹›]/u
/** What a run may end with that belongs to the sign at the next one's start. */
const BEGUN = /[\u0338−=←⇐↦↪]\s*$/u
const GOES_ON = /^[=<>≤≥∈∋⊂⊃⊆⊇∼≈≡≅≃∣∥⊢→⇒−↩]/u

/** The one sign that parts make: a relation is denied by a stroke that TeX draws before it. */
const whole = (parts: string): string => {
  if (!parts.startsWith("\u0338")) return LONG.find(([pattern]) => pattern.test(parts))?.[1] ?? parts
  const denied = `${parts.slice(1)}\u0338`.normalize("NFC")
  return denied.length === 1 ? denied : parts
}

const composed = (run: TextRun): TextRun => {
  if (!MAY_HAVE.test(run.text)) return run
  let [text, at] = ["", 0]
  const own = edgesOf(run)
  const edges: Array<number> = []
  for (const match of run.text.matchAll(PARTS)) {
    const sign = whole(match[0])
    if (sign === match[0]) continue
    text += run.text.slice(at, match.index) + sign
    for (let edge = at; edge <= match.index; edge++) edges.push(own[edge] ?? run.box.x0)
    at = match.index + match[0].length
  }
  return at === 0 ? run : { ...run, text: text + run.text.slice(at), edges: [...edges, ...own.slice(at)] }
}

/** Least overlap of the parts of one sign, as a share of their size. */
const LAP = 0.05

/** Whether the sign at a run's end and the one at the next one's start are parts of one. */
const areParts = (run: TextRun, next: TextRun): boolean => {
  if (!BEGUN.test(run.text) || !GOES_ON.test(next.text) || run.size !== next.size || run.angle !== 0)
    return false
  const end = edgesOf(run)[run.text.trimEnd().length] ?? run.box.x1
  const lap = end - next.box.x0
  return Math.abs(run.baseline - next.baseline) < LAP * run.size && lap > LAP * run.size && lap < run.size
}

/** Runs with whole signs where TeX draws them in parts: `≠`, and arrows longer than its fonts have them. */
export const withWholeSigns = (runs: ReadonlyArray<TextRun>): ReadonlyArray<TextRun> => {
  if (!runs.some(({ text }) => MAY_HAVE.test(text))) return runs
  const done: Array<TextRun> = []
  let lead: TextRun | undefined
  for (const [at, run] of runs.entries()) {
    const next = runs[at + 1]
    const own = joined(lead, run)
    const cut = next !== undefined && areParts(run, next) ? run.text.trimEnd().length - 1 : undefined
    lead = undefined
    if (cut === undefined) {
      done.push(composed(own))
      continue
    }
    // The part goes with the next run.
    const from = own.text.length - (run.text.length - cut)
    lead = part(own, from, from + 1)
    if (from > 0) done.push(composed(part(own, 0, from)))
  }
  return done
}

const part = (run: TextRun, from: number, to: number): TextRun => {
  const edges = edgesOf(run).slice(from, to + 1)
  const box = { ...run.box, x0: edges[0] ?? run.box.x0, x1: edges.at(-1) ?? run.box.x1 }
  return { ...run, text: run.text.slice(from, to), edges, box }
}

const joined = (lead: TextRun | undefined, run: TextRun): TextRun =>
  lead === undefined
    ? run
    : {
        ...run,
        text: lead.text + run.text,
        edges: [...edgesOf(lead).slice(0, -1), ...edgesOf(run)],
        box: { ...run.box, x0: Math.min(lead.box.x0, run.box.x0) }
      }
