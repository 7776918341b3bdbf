import { parseArgs } from "node:util"

import type { Target } from "./target.ts"
import { TARGETS } from "./targets.ts"

/** `npm run fuzz`: feeds hostile inputs to each target. */
export const USAGE = `Usage: npm run fuzz -- [--minutes M] [--target NAME] [--seed S]
       npm run fuzz -- --crowd

  --minutes  how long, each target (default: 1)
  --target   one of these (default: all, one after another, each in a process of its own):
${TARGETS.map(({ about, name }) => `             ${name.padEnd(12)} ${about}`).join("\n")}
  --seed     of the first inputs (default: a new one)
  --crowd    asks every route over and over, by connections that pipeline and by many at once, and prints the longest stalls

What breaks a target is made smaller and written to test/fuzz/corpus/NAME. Commit it with its mend: the suite replays the corpus.`

/** What is to be done; `targets` of undefined: all. */
export interface Order {
  readonly minutes: number
  readonly seed: number
  readonly target: Target | undefined
  readonly crowd: boolean
}

const options = {
  minutes: { type: "string", default: "1" },
  target: { type: "string" },
  seed: { type: "string" },
  crowd: { type: "boolean", default: false },
  help: { type: "boolean", default: false }
} as const

/** What the arguments ask for: the help, an order, or why not. */
export const read = (args: ReadonlyArray<string>): Order | { readonly refused: string } | "help" => {
  let values
  try {
    values = parseArgs({ args: [...args], options }).values
  } catch (error) {
    return { refused: error instanceof Error ? error.message : String(error) }
  }
  if (values.help) return "help"
  const minutes = Number(values.minutes)
  const seed = values.seed === undefined ? Date.now() % 2 ** 31 : Number(values.seed)
  if (!(minutes > 0 && Number.isFinite(minutes))) return { refused: "Minutes are a number above 0." }
  if (!Number.isInteger(seed) || seed < 0) return { refused: "A seed is a whole number from 0 on." }
  const target = TARGETS.find(({ name }) => name === values.target)
  if (values.target !== undefined && target === undefined)
    return { refused: `There is no target "${values.target}".` }
  return { minutes, seed, target, crowd: values.crowd }
}
