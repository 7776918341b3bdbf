import { STAGES } from "../../src/reader/pipeline.ts"
import { HEADING_RULES } from "../../src/reader/stages/blocks/heading-rules.ts"
import { RUN_STAGES } from "../../src/reader/stages/lines/analysis.ts"
import { DETECTORS } from "../../src/reader/stages/page/detectors.ts"
import { BLOCK_STAGES } from "../../src/reader/stages/page/page.ts"

interface Named {
  readonly id: string
}

/** The reader's lists of named rules, by what their ids begin with. */
export const RULE_LISTS: Readonly<Record<string, ReadonlyArray<Named>>> = {
  stages: STAGES,
  runs: RUN_STAGES,
  regions: DETECTORS,
  page: BLOCK_STAGES,
  heading: HEADING_RULES
}

/** The id of each rule, with its list's: `heading:clause`. */
export const RULES: ReadonlyArray<string> = Object.entries(RULE_LISTS).flatMap(([list, rules]) =>
  rules.map(({ id }) => `${list}:${id}`)
)

/** What comes of it while a rule is left out of its list, which has it back afterwards. */
export const withoutRule = <A>(rule: string, make: () => A): A => {
  const [list = "", id] = rule.split(":")
  // The lists cannot be written to by their types; nothing else reads them meanwhile.
  const rules = RULE_LISTS[list] as Array<Named>
  const at = rules.findIndex((one) => one.id === id)
  const taken = rules.splice(at, 1)
  if (at < 0) throw new Error(`there is no rule ${rule}`)
  try {
    return make()
  } finally {
    rules.splice(at, 0, ...taken)
  }
}
