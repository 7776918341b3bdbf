import { troublesOf } from "../../../../domain/delivery/processes.ts"
import type { HealthFacts, KnownProcess } from "../../../../ports/delivery/health-board.ts"
import type { ReadinessReport } from "../../../../ports/readiness.ts"
import { type Html, html } from "../html.ts"
import { banner, moment, NOTHING, number, table, tag } from "../ui.ts"

const namesOf = (report: ReadinessReport): string =>
  troublesOf(report)
    .map(({ name }) => name)
    .join(", ")

const counted = (count: number): string => (count === 1 ? "1 process" : `${number(count)} processes`)

/** Processes that are silent, or not as they should be. */
const ill = (processes: ReadonlyArray<KnownProcess>) =>
  processes.filter((one) => one.isSilent || troublesOf(one).length > 0)

/** Processes that are not well, each as an entry of what is wrong. */
export const processTroubles = (facts: HealthFacts): ReadonlyArray<Html> =>
  ill(facts.processes).map((one) => {
    const [title, text] = one.isSilent
      ? [
          `The process ${one.process} is silent`,
          html`It was killed or has lost the database. Last heard of ${moment(one.notedAt)}; others take over its work. It leaves this list an hour after that, or when it reports again.`
        ]
      : [
          `The process ${one.process} is not well`,
          html`${troublesOf(one).map(
            ({ lastError, name }) => html`${name}: ${lastError ?? "it does not run"}. `
          )}It is tried again by itself; the log of the process says more.`
        ]
    return html`<li class="alarm"><h3>${title}</h3>
<p>${text}</p>
<p><a href="#process">Show the processes</a></p></li>`
  })

const state = (one: KnownProcess): Html => {
  if (one.isSilent) return tag("silent", "wait")
  return troublesOf(one).length === 0 ? tag("well", "good") : html`${tag("not well", "bad")} ${namesOf(one)}`
}

const parts = (id: string, title: string, { supervisors }: ReadinessReport): Html =>
  html`<details id="${id}"><summary>${title} (${supervisors.length})</summary>${table(
    { id: `${id}-table`, caption: title, heard: true },
    [
      ["Part", ({ name }) => name],
      ["State", (part) => part.state],
      ["Restarts", ({ restarts }) => number(restarts)],
      ["Last error", ({ lastError }) => lastError ?? NOTHING]
    ],
    supervisors
  )}</details>`

/** The process that answers, where the database knows of none. */
const ownProcess = (report: ReadinessReport): Html => {
  const troubles = troublesOf(report)
  return html`${
    troubles.length === 0
      ? banner("done", "The process that answers is well.")
      : banner("problem", `The process that answers is not well: ${namesOf(report)}`)
  }
${
  troubles.length === 0
    ? undefined
    : table(
        { id: "silent", caption: "What is not well" },
        [
          ["Part", ({ name }) => name],
          ["Why", ({ lastError }) => lastError ?? NOTHING]
        ],
        troubles
      )
}
${parts("parts", "Parts of the process that answers", report)}`
}

/** All processes of the installation, as they report themselves; those that do not answer any more included. */
export const processes = (facts: HealthFacts | undefined, report: ReadinessReport): Html => {
  const known = facts?.processes ?? []
  if (known.length === 0) return ownProcess(report)
  const unwell = ill(known).length
  return html`${
    unwell === 0
      ? banner(
          "done",
          known.length === 1 ? "The one process is well." : `All ${number(known.length)} processes are well.`
        )
      : banner("problem", `${counted(unwell)} of ${number(known.length)} not well.`)
  }
${table(
  { id: "processes", caption: "Each process, as it reports itself", heard: true },
  [
    ["Process", ({ process }) => process],
    ["State", state],
    ["Roles", ({ roles }) => roles.join(", ")],
    ["Version", ({ version }) => version],
    ["Up since", ({ beganAt }) => moment(beganAt)],
    ["Last heard of", ({ notedAt }) => moment(notedAt)]
  ],
  known
)}
${known.map((one) => parts(`parts-of-${one.process.replaceAll(/[^\w-]/g, "-")}`, `Parts of ${one.process}`, one))}`
}
