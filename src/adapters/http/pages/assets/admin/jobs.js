import { el } from "../dom.js"
import { count, NOTHING, showList, tag, time, usd } from "./list.js"

/**
 * @typedef {{
 *   readonly state: string, readonly outcome: string | null, readonly reason: string | null, readonly endState: string | null,
 *   readonly records: number, readonly accepted: number, readonly fallback: number
 * }} Batch
 * @typedef {{
 *   readonly id: string, readonly fileId: string, readonly customerId: string | null, readonly bulkId: string | null,
 *   readonly status: string, readonly options: Readonly<Record<string, unknown>>, readonly totalPages: number,
 *   readonly totalChunks: number, readonly doneChunks: number, readonly totalCostUsd: number, readonly error: string | null,
 *   readonly createdAt: string, readonly finishedAt: string | null, readonly batch: Batch | null
 * }} Job
 */

/** @param {string} status */
const mood = (status) => {
  switch (status) {
    case "completed":
      return "good"
    case "failed":
      return "bad"
    case "waiting_batch":
    case "paused_budget":
      return "wait"
    default:
      return ""
  }
}

/** @param {Batch | null} batch */
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
for (const link of document.querySelectorAll(".statuses a")) {
  const status = link.getAttribute("data-status") ?? ""
  words.set(status, link.textContent)
  if (status === wanted) link.setAttribute("aria-current", "page")
}

showList({
  path: "/api/admin/jobs",
  names: ["status"],
  none: wanted === "" ? "No jobs yet." : `No job of the status “${words.get(wanted) ?? wanted}”.`,
  /** @type {ReadonlyArray<import("./list.js").Column<Job>>} */
  columns: [
    {
      head: "Job",
      kind: "free",
      cell: ({ bulkId, customerId, fileId, id }) =>
        el(
          "div",
          {},
          el("span", { class: "id" }, id),
          el(
            "details",
            {},
            el("summary", {}, "Ids"),
            idLine("File", fileId),
            idLine("Customer", customerId),
            idLine("Bulk", bulkId)
          )
        )
    },
    { head: "Status", cell: ({ status }) => tag(words.get(status) ?? status, mood(status)) },
    { head: "Began", kind: "short", cell: ({ createdAt }) => time(createdAt) },
    { head: "Ended", kind: "short", cell: ({ finishedAt }) => time(finishedAt) },
    { head: "Pages", kind: "number", cell: ({ totalPages }) => count(totalPages) },
    {
      head: "Chunks done",
      kind: "number",
      cell: ({ doneChunks, totalChunks }) => `${count(doneChunks)} of ${count(totalChunks)}`
    },
    { head: "Cost", kind: "number", cell: ({ totalCostUsd }) => usd(totalCostUsd) },
    {
      head: "Way",
      kind: "short",
      cell: ({ options }) => (options["highFidelity"] === true ? "High fidelity" : "Standard")
    },
    { head: "Batch", kind: "free", cell: ({ batch }) => batchCell(batch) },
    { head: "Error", kind: "free", cell: ({ error }) => error ?? NOTHING }
  ]
})
