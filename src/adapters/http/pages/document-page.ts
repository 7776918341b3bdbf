import { Effect } from "effect"

import { FileId } from "../../../domain/ids.ts"
import {
  type DocumentReport,
  JobReport,
  type JobRow,
  MAX_DOCUMENT_ROWS
} from "../../../ports/conversion/job-report.ts"
import { isUuid } from "../server/endpoint.ts"
import { words } from "./admin.ts"
import { escape } from "./html-page.ts"
import { fact, moment, tag } from "./mail-page.ts"

/** Most pages that are named. */
const NAMED = 30

const noDocument = {
  title: "No such document",
  main: `<h1>There is no such document</h1>
<p>It was never here, or was erased. <a href="/admin/jobs">Go to the jobs</a></p>`,
  status: 404
}

const away = {
  title: "Not available",
  main: `<h1>Documents cannot be read now</h1>
<p>Reload the page in a minute. <a href="/admin/jobs">Go to the jobs</a></p>`,
  status: 503
}

const MOODS: ReadonlyMap<string, string> = new Map([
  ["completed", "good"],
  ["failed", "bad"],
  ["waiting_batch", "wait"],
  ["paused_budget", "wait"]
])

const STATES: Readonly<Record<DocumentReport["status"], string>> = {
  uploaded: "uploaded, not converted yet",
  processing: "being converted",
  chunked_processing: "being converted",
  completed: "converted",
  failed: "could not be converted"
}

const size = (bytes: number): string =>
  bytes < 1_000_000 ? `${Math.ceil(bytes / 1000)} kB` : `${(bytes / 1_000_000).toFixed(1)} MB`

const usd = (amount: number): string => `$${amount.toFixed(amount !== 0 && amount < 0.01 ? 6 : 2)}`

/** The columns of a table: heading, and cell. */
type Columns<R> = ReadonlyArray<readonly [head: string, cell: (row: R) => string]>

/** Roles are set explicitly: in some browsers, CSS that lays a table out as blocks removes them. */
const table = <R>(id: string, caption: string, columns: Columns<R>, rows: ReadonlyArray<R>): string => {
  const heads = columns.map(([head]) => `<th scope="col" role="columnheader">${head}</th>`)
  const row = (one: R) =>
    columns
      .map(([head, cell], at) =>
        at === 0
          ? `<th scope="row" role="rowheader">${cell(one)}</th>`
          : `<td role="cell" data-label="${head}">${cell(one)}</td>`
      )
      .join("")
  return `<div class="table" role="region" aria-labelledby="${id}" tabindex="0"><table role="table"><caption id="${id}">${caption}</caption>
<thead role="rowgroup"><tr role="row">${heads.join("")}</tr></thead>
<tbody role="rowgroup">${rows.map((one) => `<tr role="row">${row(one)}</tr>`).join("\n")}</tbody></table></div>`
}

const JOBS: Columns<JobRow> = [
  ["Status", ({ status }) => tag(words(status), MOODS.get(status) ?? "")],
  ["Error", ({ error }) => escape(error ?? "–")],
  ["Began", ({ createdAt }) => moment(createdAt)],
  ["Ended", ({ finishedAt }) => (finishedAt === null ? "–" : moment(finishedAt))],
  ["Chunks", ({ doneChunks, totalChunks }) => `${doneChunks} of ${totalChunks}`],
  ["Models cost", ({ totalCostUsd }) => usd(totalCostUsd)],
  [
    "Way",
    ({ batch, options }) =>
      `${options.highFidelity === true ? "High fidelity" : "Standard"}${batch === null ? "" : `, batch ${escape(batch.outcome ?? batch.state)}`}`
  ],
  ["Job", ({ id }) => `<span class="id">${escape(id)}</span>`]
]

const CHUNKS: Columns<DocumentReport["chunks"][number]> = [
  [
    "Pages",
    ({ firstPage, lastPage }) => (firstPage === lastPage ? `${firstPage}` : `${firstPage}–${lastPage}`)
  ],
  ["Status", ({ status }) => tag(words(status), MOODS.get(status) ?? "")],
  ["Attempts", ({ attempts }) => String(attempts)],
  ["Error", ({ error }) => escape(error ?? "–")]
]

const unreadable = (pages: ReadonlyArray<number>): string | undefined =>
  pages.length === 0
    ? undefined
    : `${pages.slice(0, NAMED).join(", ")}${pages.length > NAMED ? `, and ${pages.length - NAMED} more` : ""}`

const facts = (
  report: DocumentReport
): string => `<section aria-labelledby="facts"><h2 id="facts">The document</h2>
<dl class="facts-list">
${fact("State", tag(report.deletedAt === null ? STATES[report.status] : "deleted by its owner", MOODS.get(report.status) ?? ""))}
${fact("Why", report.error === null ? undefined : escape(report.error))}
${fact("Owner", report.customerEmail === null ? undefined : escape(report.customerEmail))}
${fact("Uploaded", moment(report.createdAt))}
${fact("Deleted", report.deletedAt === null ? undefined : moment(report.deletedAt))}
${fact("Size", `${report.pages} ${report.pages === 1 ? "page" : "pages"}, ${size(report.sizeBytes)}, ${report.kind.toUpperCase()}`)}
${fact("Result", report.hasResult ? "there" : "none yet")}
${fact("Pages that could not be read", unreadable(report.unreadablePages))}
${fact("Shared with", report.shares === 0 ? undefined : `${report.shares} ${report.shares === 1 ? "address" : "addresses"}`)}
${fact("Models cost", usd(report.jobs.reduce((sum, { totalCostUsd }) => sum + totalCostUsd, 0)))}
${fact("File", `<span class="id">${escape(report.id)}</span>`)}
${fact("Customer", `<span class="id">${escape(report.customerId)}</span>`)}
</dl>
<p class="help">Its words are its owner’s: they are not shown here.</p></section>`

/** The page of one document for admins: what it is, its conversions, and what of the newest is left (DOC-26). Complete without a script. */
const documentMain = (report: DocumentReport): string => `<p><a href="/admin/jobs">Jobs</a></p>
<h1 class="subject">${escape(report.name)}</h1>
${facts(report)}
<h2>Conversions</h2>
${
  report.jobs.length === 0
    ? `<p class="empty">It has not been converted${report.kind === "pdf" ? "" : " page by page: Word documents and pictures are converted in one go, without a job"}.</p>`
    : table(
        "jobs",
        report.jobs.length === MAX_DOCUMENT_ROWS ? `The newest ${MAX_DOCUMENT_ROWS}` : "Newest first",
        JOBS,
        report.jobs
      )
}
${
  report.chunks.length === 0
    ? ""
    : `<h2>Parts to look at</h2>
${table(
  "chunks",
  "Of the newest conversion: what is not done, and what took several attempts",
  CHUNKS,
  report.chunks
)}`
}`

/** Makes the page of a customer's document. */
export const makeDocumentPages = Effect.map(JobReport, (reports) =>
  Effect.fnUntraced(
    function* (fileId: string) {
      const report = isUuid(fileId) ? yield* reports.document(FileId.make(fileId)) : undefined
      return report === undefined ? noDocument : { title: report.name, main: documentMain(report) }
    },
    Effect.catch((error) => Effect.as(Effect.logWarning("a document's page cannot be made", error), away))
  )
)
