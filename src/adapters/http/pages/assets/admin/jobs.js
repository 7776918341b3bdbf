import { ask } from "../api.js"
import { confirmed } from "../dialogs.js"
import { button, el, say } from "../dom.js"
import { JOB_MOODS } from "../words.js"
import { count, mayWrite, NOTHING, showList, showProblem, tag, time, usd } from "./list.js"
import { showOthers } from "./other-jobs.js"

/** @import { BatchRow, ConversionJobRow, Operations } from "#api" */
/** @import { Column } from "./list.js" */

/** @param {BatchRow | null} batch */
const batchCell = (batch) => {
  if (batch === null) return NOTHING
  const facts = [batch.outcome ?? batch.state, batch.reason, batch.endState].filter((part) => part !== null)
  const records =
    batch.records === 0
      ? []
      : [`${count(batch.accepted)} of ${count(batch.records)} accepted, ${count(batch.fallback)} on demand`]
  return el("div", {}, ...[...facts, ...records].map((text) => el("p", {}, text)))
}

/** @param {string} name @param {string | null} id */
const idLine = (name, id) =>
  id === null ? undefined : el("p", {}, `${name} `, el("span", { class: "id" }, id))

const wanted = new URLSearchParams(location.search).get("status") ?? ""
/** The label of each status: that of its filter. @type {Map<string, string>} */
const words = new Map()
for (const link of document.querySelectorAll("[data-chip]")) {
  const status = link.getAttribute("data-chip") ?? ""
  words.set(status, link.textContent)
  if (status === wanted) link.setAttribute("aria-current", "page")
}

/** How many jobs have each status, next to its filter, which is left out where it has none; nothing where it cannot be read. */
const showCounts = async () => {
  /** @type {Operations["adminJobs.countJobs"]["success"]} */
  const { counts } = await ask("GET", "/api/admin/job-counts")
  const all = counts.reduce((sum, { jobs }) => sum + jobs, 0)
  for (const link of document.querySelectorAll("[data-chip]")) {
    const status = link.getAttribute("data-chip") ?? ""
    const jobs = status === "" ? all : (counts.find((one) => one.status === status)?.jobs ?? 0)
    const place = link.querySelector(".count")
    if (place !== null) place.textContent = count(jobs)
    link.parentElement?.toggleAttribute("hidden", jobs === 0 && status !== "" && status !== wanted)
  }
}

/** @param {ConversionJobRow} job */
const nameOf = ({ fileName }) => fileName ?? "a deleted document"

/** Statuses that a job does not leave. */
const ENDED = new Set(["completed", "failed", "cancelled"])

/** @param {ConversionJobRow} job @param {"cancel" | "retry"} what */
const act = async (job, what) => {
  const name = nameOf(job)
  const sure = await confirmed(
    what === "cancel"
      ? {
          title: `Cancel the conversion of ${name}?`,
          text: "What was converted so far is thrown away. The customer is charged nothing, and keeps the file.",
          yes: "Cancel conversion",
          no: "Keep converting"
        }
      : {
          title: `Convert ${name} again?`,
          text: "It is converted as it was asked for, and costs the customer what the first one would have; that one was not charged. What was free of charge stays so.",
          yes: "Retry",
          no: "Leave it",
          kind: "primary"
        }
  )
  if (!sure) return
  try {
    await ask("POST", `/api/admin/jobs/${encodeURIComponent(job.id)}/${what}`)
    say(what === "cancel" ? `The conversion of ${name} is cancelled.` : `${name} is converted again.`)
    await read()
    await showCounts()
  } catch (failure) {
    showProblem(failure)
  }
}

/** @param {ConversionJobRow} job */
const change = (job) => {
  if (job.status === "failed")
    return button("Retry", { about: nameOf(job), press: () => void act(job, "retry") })
  return ENDED.has(job.status) || job.status === "assembling"
    ? NOTHING
    : button("Cancel", { about: nameOf(job), press: () => void act(job, "cancel") })
}

/** @type {ReadonlyArray<Column<ConversionJobRow>>} */
const columns = [
  {
    head: "Document",
    kind: "free",
    cell: (job) =>
      el(
        "div",
        {},
        el(
          "p",
          {},
          el("a", { href: `/admin/jobs/documents/${encodeURIComponent(job.fileId)}` }, nameOf(job))
        ),
        job.customerEmail === null ? undefined : el("p", { class: "facts" }, job.customerEmail),
        el(
          "details",
          {},
          el("summary", {}, "Ids"),
          idLine("Job", job.id),
          idLine("File", job.fileId),
          idLine("Customer", job.customerId),
          idLine("Bulk", job.bulkId)
        )
      )
  },
  { head: "Status", cell: ({ status }) => tag(words.get(status) ?? status, JOB_MOODS[status]) },
  { head: "Error", kind: "free", cell: ({ error }) => error ?? NOTHING },
  {
    head: "Began, ended",
    kind: "short",
    cell: ({ createdAt, finishedAt }) =>
      el("div", {}, el("p", {}, time(createdAt)), el("p", {}, time(finishedAt)))
  },
  {
    head: "Pages",
    kind: "number",
    cell: ({ doneChunks, totalChunks, totalPages }) =>
      el(
        "div",
        {},
        el("p", {}, count(totalPages)),
        el("p", { class: "facts" }, `${count(doneChunks)} of ${count(totalChunks)} chunks`)
      )
  },
  { head: "Cost", kind: "number", cell: ({ totalCostUsd }) => usd(totalCostUsd) },
  {
    head: "Mode",
    kind: "short",
    cell: ({ options }) => (options["highFidelity"] === true ? "High fidelity" : "Standard")
  },
  { head: "Batch", cell: ({ batch }) => batchCell(batch) }
]

const read = showList({
  path: "/api/admin/jobs",
  names: ["status"],
  none: wanted === "" ? "No jobs yet." : `No job of the status “${words.get(wanted) ?? wanted}”.`,
  columns: mayWrite() ? [...columns, { head: "Change", cell: change }] : columns
})
void showOthers()
// The list says what is wrong where the API does not answer.
showCounts().catch(() => undefined)
