import { FILE_ENDINGS } from "../words.js"

/** @import { File as FileView, LeftOut, PageRange, ResultMaking, WaitsFor } from "#api" */

/**
 * An event of the progress stream.
 * @typedef {{
 *   readonly fileId: string, readonly jobId: string | null, readonly status: string, readonly phase: string | null,
 *   readonly done: number, readonly total: number, readonly readyPages: ReadonlyArray<PageRange>
 * }} Progress
 */

/**
 * The state of a file, in words.
 * @typedef {{
 *   readonly kind: "ready" | "waiting" | "working" | "done" | "failed", readonly text: string,
 *   readonly more: string | undefined, readonly progress: { readonly done: number, readonly total: number } | undefined
 * }} State
 */

/** The file extensions that are named. */
const KINDS = new Set(FILE_ENDINGS)

/** The kind of a file, judging by its name. @param {string} name */
export const kindOf = (name) => {
  const ending = name.slice(name.lastIndexOf(".") + 1).toLowerCase()
  return KINDS.has(ending) ? ending : "file"
}

/** Whether a layout can be kept, judging by the name: the API judges by the content. @param {string} name */
export const hasLayout = (name) => ["pdf", "file"].includes(kindOf(name))

/** Whether a conversion of the file is under way. @param {FileView} file */
export const isRunning = ({ status }) => status === "processing" || status === "chunked_processing"

/** @param {number} count @param {string} one */
const counted = (count, one) => `${count.toLocaleString("en-GB")} ${one}${count === 1 ? "" : "s"}`

/** @param {number} count */
export const pages = (count) => counted(count, "page")

/** @param {number} bytes */
export const size = (bytes) => {
  if (bytes < 1000) return counted(bytes, "byte")
  const [amount, unit] =
    bytes < 1e6 ? [bytes / 1e3, "kB"] : bytes < 1e9 ? [bytes / 1e6, "MB"] : [bytes / 1e9, "GB"]
  return `${amount < 10 ? amount.toFixed(1) : Math.round(amount)} ${unit}`
}

/** What is said where no page was finished for a while. */
const STILL = "No page was finished for a while."

/** @param {WaitsFor} [waits] */
const overBudget = (waits) =>
  `The day’s budget for models is spent; it goes on by itself${waits?.cause === "budget" && typeof waits.within === "number" ? `, within ${span(waits.within)}` : ""}.`

/** While the cause is not known. */
const MAYBE =
  "Some take long; and after a restart of the server, those that it worked on are taken over within a minute."

/** @param {number} seconds */
export const span = (seconds) => {
  if (seconds < 90) return counted(Math.max(1, Math.round(seconds)), "second")
  return seconds < 5400
    ? counted(Math.round(seconds / 60), "minute")
    : counted(Math.round(seconds / 3600), "hour")
}

/** @type {Readonly<Record<WaitsFor["cause"], (waits: WaitsFor) => string>>} */
const REASONS = {
  page: () => "Its pages are being worked on: some take long.",
  turn: ({ others }) =>
    others === 0
      ? "It is next."
      : `It waits for its turn: ${counted(others, "other conversion")} ${others === 1 ? "is" : "are"} waiting or under way.`,
  worker: ({ seconds }) =>
    `Nothing converts at the moment: it has waited for ${span(seconds)}, and goes on by itself when the people who run this have it back.`,
  takeover: ({ seconds }) =>
    `The process that worked on it was last heard of ${span(seconds)} ago. Another one takes over by itself.`,
  retry: ({ seconds }) => `A part of it failed, and is tried again in ${span(seconds)}.`,
  budget: overBudget,
  batch: ({ seconds, within }) =>
    `It has waited for the batch for ${span(seconds)}${typeof within !== "number" ? "" : `, and goes on without it within ${span(within)}`}.`
}

/** Why it has stalled, in words. @param {WaitsFor} waits */
export const reasonOf = (waits) => REASONS[waits.cause](waits)

/** @param {boolean} queued @param {WaitsFor | undefined} waits */
const stillText = (queued, waits) => {
  const reason = waits && reasonOf(waits)
  return queued ? reason : `${STILL} ${reason ?? MAYBE}`
}

/** @param {FileView} file @param {Progress | undefined} live @param {boolean} still @param {WaitsFor | undefined} waits @returns {State} */
const running = (file, live, still, waits) => {
  const { done, total } = live ?? file.progress
  const phase = live?.phase ?? file.phase ?? ""
  if (live === undefined ? file.batchWaiting : live.status === "waiting_batch") {
    return {
      kind: "waiting",
      text: "Waiting for batch",
      more: `${waits?.cause === "batch" ? `${REASONS.batch(waits)} ` : ""}It is converted together with others, usually within hours. Process now does not wait.`,
      progress: undefined
    }
  }
  const progress = { done, total }
  if (live?.status === "paused_budget") {
    return {
      kind: "working",
      text: "Paused",
      more: overBudget(waits),
      progress
    }
  }
  if (live?.status === "assembling") {
    return { kind: "working", text: "Putting the result together", more: undefined, progress }
  }
  const queued = done === 0 && (live?.status === "pending" || phase.startsWith("Queued"))
  const text = queued ? "Queued" : total > 0 ? `Converting: ${done} of ${pages(total)}` : "Converting"
  return { kind: "working", text, more: still ? stillText(queued, waits) : undefined, progress }
}

/** Most page numbers that are written out. */
const MOST_NUMBERS = 20

/** @param {ReadonlyArray<number>} numbers */
const listed = (numbers) => {
  const more = numbers.length - MOST_NUMBERS
  return `${numbers.slice(0, MOST_NUMBERS).join(", ")}${more > 0 ? ` and ${more} more` : ""}`
}

/** How a page was converted, in words. @type {Readonly<Record<string, string>>} */
export const TIERS = {
  blank: "blank",
  layout: "from the layout",
  "table-of-contents": "a table of contents",
  recognised: "read from a picture",
  "poorly-recognised": "read from a picture, not well",
  "hifi-single-pass": "by the model",
  "coverage-retry": "by the model, asked again",
  agentic: "by the model, then mended",
  "math-ocr": "by the model for formulas",
  harness: "by the model for whole documents",
  unreadable: "could not be read"
}

/** What a result was made with, in words. @param {ResultMaking} made */
export const madeText = ({ models, options, tiers }) => {
  const asked =
    options.highFidelity === true || options.mathOcr === true || options.parser === "harness"
      ? "in high fidelity"
      : "in the standard way"
  const ways = Object.entries(tiers).map(([tier, count]) => `${pages(count)} ${TIERS[tier] ?? tier}`)
  const by = models.length === 0 ? "" : ` (${models.join(", ")})`
  return `${asked}${by}${ways.length < 2 ? "" : `: ${ways.join(", ")}`}`
}

/** What of the PDF is not converted, a sentence each. @param {LeftOut | null | undefined} leftOut @returns {ReadonlyArray<string>} */
const leftOutNotes = (leftOut) => {
  if (leftOut === null || leftOut === undefined) return []
  const { fileCount, files, portfolio, remarks } = leftOut
  const more = fileCount - files.length
  const names = `${files.join(", ")}${more > 0 ? ` and ${more} more` : ""}`
  return [
    portfolio ? "A portfolio: only its cover sheet is converted." : "",
    fileCount === 0
      ? ""
      : `${counted(fileCount, "file")} in it ${fileCount === 1 ? "is" : "are"} not converted: ${names}.`,
    remarks === 0 ? "" : `${counted(remarks, "remark")} in it ${remarks === 1 ? "is" : "are"} not converted.`
  ].filter((one) => one !== "")
}

/** Sentences, undefined for none. @param {ReadonlyArray<string>} sentences @returns {string | undefined} */
const joined = (sentences) => (sentences.length === 0 ? undefined : sentences.join(" "))

/** What the result lacks, if anything. @param {FileView} file @returns {string | undefined} */
const shortcomings = ({ hasText, leftOut, noModelPages, unreadablePages }) => {
  const lost = unreadablePages.length
  const without = noModelPages.length
  return joined(
    [
      lost === 0 ? "" : `${pages(lost)} could not be read and cost nothing: ${listed(unreadablePages)}.`,
      without === 0 ? "" : `High fidelity was not available for ${pages(without)}: ${listed(noModelPages)}.`,
      hasText === false ? "There is no word of text in the result." : "",
      ...leftOutNotes(leftOut)
    ].filter((one) => one !== "")
  )
}

/**
 * The state of a file: from the list, or newer from its stream.
 * @param {FileView} file
 * @param {Progress | undefined} live
 * @param {boolean} [still] No page was finished for a while.
 * @param {WaitsFor} [waits] Why.
 * @returns {State}
 */
export const stateOf = (file, live, still = false, waits) => {
  switch (file.status) {
    case "uploaded": {
      const cancelled = file.lastJob?.status === "cancelled"
      return {
        kind: "ready",
        text: cancelled ? "Cancelled" : "Ready to convert",
        more: joined([
          ...(cancelled ? ["Nothing was charged."] : []),
          ...(file.hasResult ? ["The result from before is still there."] : []),
          ...leftOutNotes(file.leftOut)
        ]),
        progress: undefined
      }
    }
    case "completed":
      return { kind: "done", text: "Converted", more: shortcomings(file), progress: undefined }
    case "failed":
      return { kind: "failed", text: "Failed", more: file.error ?? undefined, progress: undefined }
    default:
      return running(file, live, still, waits)
  }
}
