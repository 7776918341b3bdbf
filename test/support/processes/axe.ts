import { readFileSync } from "node:fs"
import { createRequire } from "node:module"

import type { Evaluating } from "./page-looks.ts"

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8")
/** By tags: the rule of 2.2 for the size of targets is off otherwise. */
const RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
/** The rules that go by the colours. */
export const COLOUR_RULES = ["color-contrast", "link-in-text-block"]

/** Every rule on each width, and each in one of the colours: a narrow page has those of a broad one. */
export const LOOKS = [
  ["light", { width: 1280, height: 800 }],
  ["dark", { width: 320, height: 640 }]
] as const

/** Each width in each of the colours. */
export const EVERY_LOOK = (["light", "dark"] as const).flatMap((colours) =>
  LOOKS.map(([, viewport]) => [colours, viewport] as const)
)

/** What axe finds wrong, each with its rule first, what it cannot decide, and the rules that hold. */
export interface Findings {
  readonly violations: ReadonlyArray<string>
  readonly undecided: ReadonlyArray<string>
  readonly passes: ReadonlyArray<string>
}

/** What axe finds on the page as it stands, outside of frames, by all of its rules or by these; `off`: rules that cannot be asked. */
export const findings = async (
  page: Evaluating,
  {
    off = [],
    rules = RULES
  }: { readonly rules?: ReadonlyArray<string>; readonly off?: ReadonlyArray<string> } = {}
): Promise<Findings> => {
  if (!(await page.evaluate<boolean>("'axe' in window"))) await page.evaluate(`(() => { ${axe} })()`)
  const options = {
    // Of the rest only the rules are named: to list every element that passes takes as long as the checks.
    resultTypes: ["violations", "incomplete"],
    runOnly: rules,
    rules: Object.fromEntries(off.map((rule) => [rule, { enabled: false }]))
  }
  return page.evaluate(`axe.run({ include: [document], exclude: [["iframe"]] }, ${JSON.stringify(options)}).then(
    ({ violations, incomplete, passes }) => {
      const listed = (all) => all.map(({ id, nodes }) => id + ": " + nodes.map(({ html }) => html.slice(0, 300)).join(" | "))
      return { violations: listed(violations), undecided: listed(incomplete), passes: passes.map(({ id }) => id) }
    }
  )`)
}
