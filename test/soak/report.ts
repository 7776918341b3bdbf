import { percentile } from "../bench/measure.ts"
import { markdown } from "../bench/report.ts"
import type { Evidence } from "./evidence.ts"
import { PROMISES, type Verdict } from "./oracle.ts"

const LEADS = "this process leads"

const seconds = (ms: number): string => (Number.isFinite(ms) ? `${(ms / 1000).toFixed(1)} s` : "–")

/** From the death of the process that leads until another one does, milliseconds, ascending. */
const handOvers = ({ faults, lines }: Evidence): ReadonlyArray<number> => {
  const leads = lines.filter(({ message }) => message === LEADS).sort((a, b) => a.at - b.at)
  return faults.hurts
    .filter(({ kind }) => kind === "kill")
    .flatMap(({ at, number, slot }) => {
      const last = leads.findLast((line) => line.at <= at)
      const next = leads.find((line) => line.at > at)
      return last?.slot === slot && last.number === number && next !== undefined ? [next.at - at] : []
    })
    .sort((a, b) => a - b)
}

/** The longest time in which no request at all was answered, milliseconds. */
const longestStall = ({ journal }: Evidence): number => {
  const moments = journal.answered.map(([, at]) => at).sort((a, b) => a - b)
  return Math.max(0, ...moments.slice(1).map((at, index) => at - moments[index]!))
}

/** From the first answer to the last. */
const spanSeconds = ({ journal }: Evidence): number => {
  const moments = journal.answered.map(([, at]) => at).sort((a, b) => a - b)
  return ((moments.at(-1) ?? 0) - (moments[0] ?? 0)) / 1000
}

/** Requests asked in a rolling restart, and those of them without an answer. */
const rolling = ({ faults, journal }: Evidence): string => {
  const isIn = (at: number) => faults.rolls.some(([from, until]) => at >= from && at <= until)
  const refused = journal.refused.filter(isIn).length
  const asked = journal.answered.filter(([askedAt]) => isIn(askedAt)).length
  return `${refused} of ${asked + refused}`
}

export interface Run {
  readonly seed: number
  readonly minutes: number
  readonly commit: string
  readonly pooler: string
  readonly hasDisk: boolean
}

const figures = (evidence: Evidence, { counts }: Verdict): ReadonlyArray<readonly [string, string]> => {
  const { faults, journal } = evidence
  const waits = journal.answered.map(([askedAt, at]) => at - askedAt).sort((a, b) => a - b)
  const hands = handOvers(evidence)
  const all = (record: Readonly<Record<string, number>>) =>
    Object.entries(record).sort(([a], [b]) => (a < b ? -1 : 1))
  return [
    [
      "load: requests answered",
      `${waits.length}, ${(waits.length / spanSeconds(evidence)).toFixed(1)} a second`
    ],
    ...all({ ...journal.counts, ...counts }).map(
      ([what, number]) => [`load: ${what}`, String(number)] as const
    ),
    ...all(faults.counts).map(([what, number]) => [`faults: ${what}`, String(number)] as const),
    ["answers, p50", seconds(percentile(waits, 0.5))],
    ["answers, p99", seconds(percentile(waits, 0.99))],
    ["longest time without any answer", seconds(longestStall(evidence))],
    ["leader hand-over after a kill, p50", `${seconds(percentile(hands, 0.5))} of ${hands.length}`],
    ["leader hand-over after a kill, longest", seconds(hands.at(-1) ?? NaN)],
    ["requests refused in a rolling restart", rolling(evidence)]
  ]
}

/** What a run came to, in Markdown. */
export const report = (run: Run, evidence: Evidence, verdict: Verdict): string => {
  const head = `Seed ${run.seed}, ${run.minutes} minutes, commit ${run.commit}, through ${run.pooler}${run.hasDisk ? "" : "; this machine let no small disk be mounted"}.`
  const promises = PROMISES.map((promise) => [
    `**${promise}**`,
    `**${verdict.violations.filter((one) => one.promise === promise).length}**`
  ])
  const rows = [["what", "how much"], ...promises, ...figures(evidence, verdict).map((row) => [...row])]
  return `${head}\n\n${markdown(rows)}\n`
}
