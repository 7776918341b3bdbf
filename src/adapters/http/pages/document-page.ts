import { Effect } from "effect"

import { FileId } from "../../../domain/ids.ts"
import { pathTo } from "../../../domain/pages.ts"
import {
  type DocumentReport,
  JobReport,
  type JobRow,
  MAX_DOCUMENT_ROWS
} from "../../../ports/conversion/job-report.ts"
import { isUuid } from "../server/endpoint.ts"
import { type Html, html } from "./html.ts"
import { type Columns, fact, moment, mono, moodOf, NOTHING, table, tag, usd, words } from "./ui.ts"

/** Most pages that are named. */
const NAMED = 30

const noDocument = {
  title: "No such document",
  main: html`<h1>There is no such document</h1>
<p>It was never here, or was erased. <a href="${pathTo.adminScreen("jobs")}">Go to the jobs</a></p>`,
  status: 404
}

const away = {
  title: "Not available",
  main: html`<h1>Documents cannot be read now</h1>
<p>Reload the page in a minute. <a href="${pathTo.adminScreen("jobs")}">Go to the jobs</a></p>`,
  status: 503
}

const STATES: Readonly<Record<DocumentReport["status"], string>> = {
  uploaded: "uploaded, not converted yet",
  processing: "being converted",
  chunked_processing: "being converted",
  completed: "converted",
  failed: "could not be converted"
}

const size = (bytes: number): string =>
  bytes < 1_000_000 ? `${Math.ceil(bytes / 1000)} kB` : `${(bytes / 1_000_000).toFixed(1)} MB`

const JOBS: Columns<JobRow> = [
  ["Status", ({ status }) => tag(words(status), moodOf(status))],
  ["Error", ({ error }) => error ?? NOTHING],
  ["Began", ({ createdAt }) => moment(createdAt)],
  ["Ended", ({ finishedAt }) => (finishedAt === null ? NOTHING : moment(finishedAt))],
  ["Chunks", ({ doneChunks, totalChunks }) => `${doneChunks} of ${totalChunks}`],
  ["Models cost", ({ totalCostUsd }) => usd(totalCostUsd)],
  [
    "Mode",
    ({ batch, options }) =>
      `${options.highFidelity === true ? "High fidelity" : "Standard"}${batch === null ? "" : `, batch ${batch.outcome ?? batch.state}`}`
  ],
  ["Job", ({ id }) => mono(id)]
]

const CHUNKS: Columns<DocumentReport["chunks"][number]> = [
  [
    "Pages",
    ({ firstPage, lastPage }) => (firstPage === lastPage ? `${firstPage}` : `${firstPage}–${lastPage}`)
  ],
  ["Status", ({ status }) => tag(words(status), moodOf(status))],
  ["Attempts", ({ attempts }) => String(attempts)],
  ["Error", ({ error }) => error ?? NOTHING]
]

const unreadable = (pages: ReadonlyArray<number>): string | undefined =>
  pages.length === 0
    ? undefined
    : `${pages.slice(0, NAMED).join(", ")}${pages.length > NAMED ? `, and ${pages.length - NAMED} more` : ""}`

const facts = (
  report: DocumentReport
): Html => html`<section aria-labelledby="facts"><h2 id="facts">The document</h2>
<dl class="facts-list">
${fact("State", tag(report.deletedAt === null ? STATES[report.status] : "deleted by its owner", moodOf(report.status)))}
${fact("Why", report.error ?? undefined)}
${fact("Owner", report.customerEmail ?? undefined)}
${fact("Uploaded", moment(report.createdAt))}
${fact("Deleted", report.deletedAt === null ? undefined : moment(report.deletedAt))}
${fact("Size", `${report.pages} ${report.pages === 1 ? "page" : "pages"}, ${size(report.sizeBytes)}, ${report.kind.toUpperCase()}`)}
${fact("Result", report.hasResult ? "there" : "none yet")}
${fact("Pages that could not be read", unreadable(report.unreadablePages))}
${fact("Shared with", report.shares === 0 ? undefined : `${report.shares} ${report.shares === 1 ? "address" : "addresses"}`)}
${fact("Models cost", usd(report.jobs.reduce((sum, { totalCostUsd }) => sum + totalCostUsd, 0)))}
${fact("File", mono(report.id))}
${fact("Customer", mono(report.customerId))}
</dl>
<p class="help">Its words are its owner’s: they are not shown here.</p></section>`

/** The page of one document for admins: what it is, its conversions, and what of the newest is left (DOC-26). Complete without a script. */
const documentMain = (
  report: DocumentReport
): Html => html`<p><a href="${pathTo.adminScreen("jobs")}">Jobs</a></p>
<h1 class="subject">${report.name}</h1>
${facts(report)}
<h2>Conversions</h2>
${
  report.jobs.length === 0
    ? html`<p class="empty">It has not been converted${report.kind === "pdf" ? "" : " page by page: Word documents and pictures are converted in one go, without a job"}.</p>`
    : table(
        {
          id: "jobs",
          caption:
            report.jobs.length === MAX_DOCUMENT_ROWS ? `The newest ${MAX_DOCUMENT_ROWS}` : "Newest first"
        },
        JOBS,
        report.jobs
      )
}
${
  report.chunks.length === 0
    ? undefined
    : html`<h2>Chunks left</h2>
${table(
  { id: "chunks", caption: "Of the newest conversion: what is not done, and what took several attempts" },
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
