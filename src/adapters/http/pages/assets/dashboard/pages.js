import { ask } from "../api.js"
import { sayAway } from "../away.js"
import { byId, el, say, time, warn } from "../dom.js"
import { makeCommands } from "./commands.js"
import { startCompare } from "./compare.js"
import { priceIn, showFunds } from "./funds.js"
import { resultName } from "./offers.js"
import { hidePreview, showPreview } from "./preview.js"
import { showReport } from "./report.js"
import { Row } from "./row.js"
import { hasLayout, isRunning, madeText, span } from "./state.js"
import { makeStreams } from "./streams.js"

/** @import { File as FileView, FileShare, FlyerJob, FundsHold, FundsMove, Operations } from "#api" */

const id = byId("conversion", HTMLElement).dataset["file"] ?? ""
const path = `/api/v1/files/${encodeURIComponent(id)}`

/** How often the document is read while it is converted without a stream, and otherwise, milliseconds. */
const SOON = 2_000
const LATER = 20_000

/** What is known besides the file. @typedef {{ readonly layouts: ReadonlyArray<FlyerJob>, readonly moves: ReadonlyArray<FundsMove>, readonly holds: ReadonlyArray<FundsHold>, readonly shares: ReadonlyArray<FileShare> }} Around */

/** Counts the user's actions: the answer to a request made before the newest one is out of date. */
let actionCount = 0
/** @type {Row | undefined} */
let row
/** When the result that is compared was made. */
let shown = ""
/** @type {ReturnType<typeof setTimeout> | undefined} */
let timer

/** How the newest conversion ended. @type {ReadonlyMap<string, string>} */
const ENDS = new Map([
  ["completed", "Converted."],
  ["failed", "Could not be converted. Nothing was charged."],
  ["cancelled", "The conversion was cancelled. Nothing was charged."]
])

/** @param {FlyerJob} job */
const layoutText = ({ status }) =>
  status === "completed"
    ? "Keeping the layout was asked for, and is done."
    : status === "failed"
      ? "Keeping the layout was asked for, and did not work out. Nothing was charged."
      : "Keeping the layout was asked for."

/** @param {FundsHold | FundsMove} amount */
const amountOf = ({ credits, freePages }) => (freePages > 0 ? freePages : credits)

/** All that happened with the document, the oldest first. @param {FileView} file @param {Around} around */
const eventsOf = (file, { holds, layouts, moves, shares }) => {
  const { lastJob, made } = file
  const ended = lastJob === null ? undefined : ENDS.get(lastJob.status)
  /** @type {Array<readonly [at: string, text: string]>} */
  const events = [[file.createdAt, "Uploaded."]]
  for (const job of layouts) events.push([job.createdAt, layoutText(job)])
  for (const hold of holds)
    events.push([hold.createdAt, `Conversion ordered: ${priceIn(amountOf(hold))} set aside.`])
  for (const move of moves) events.push([move.createdAt, `${priceIn(amountOf(move))} charged.`])
  if (made !== null) events.push([made.at, `Result made ${madeText(made)}.`])
  if (ended !== undefined && typeof lastJob?.endedAt === "string") events.push([lastJob.endedAt, ended])
  for (const one of shares) events.push([one.sharedAt, `Shared with ${one.email}.`])
  return events.toSorted(([one], [other]) => Date.parse(one) - Date.parse(other))
}

/** @param {string} name @param {...(Node | string)} value */
const fact = (name, ...value) => el("div", {}, el("dt", {}, name), el("dd", {}, ...value))

/** A time so many seconds from now. @param {number} seconds */
const from = (seconds) => time(new Date(Date.now() + seconds * 1000).toISOString())

/** What it waits for, since when, and until when at the latest. @param {FileView} file @returns {ReadonlyArray<Node>} */
const waitingOf = ({ price, waitsFor }) => {
  if (waitsFor === undefined || waitsFor.cause === "page") return []
  const { cause, seconds, within } = waitsFor
  return [
    cause === "retry"
      ? fact("Tried again at", from(seconds))
      : fact("Waiting since", from(-seconds), ` (${span(seconds)})`),
    ...(typeof within === "number" ? [fact("Goes on by", from(within), " at the latest")] : []),
    ...(cause === "batch"
      ? [
          fact(
            "Why wait",
            `In a batch the model costs half, which spares the budget of the day. Your price is the same either way: ${priceIn(price)}.`
          )
        ]
      : [])
  ]
}

/** @param {FileView} file @param {Around} around */
const factsOf = (file, { moves, shares }) => [
  ...waitingOf(file),
  ...(file.made === null ? [] : [fact("How it was made", madeText(file.made))]),
  fact(
    "Charged so far",
    moves.length === 0 ? "nothing" : priceIn(moves.reduce((sum, move) => sum + amountOf(move), 0))
  ),
  ...(shares.length === 0
    ? []
    : [
        fact(
          "Shared with",
          el(
            "ul",
            {},
            ...shares.map(({ email, expiresAt }) => el("li", {}, `${email}, until `, time(expiresAt)))
          )
        )
      ]),
  ...(file.reference === null ? [] : [fact("Reference", file.reference)])
]

/** What each way to convert costs, and what is free. @param {FileView} file @param {ReadonlyArray<FlyerJob>} layouts */
const costsOf = (file, layouts) => {
  const newest = layouts[0]
  const price = priceIn(file.price)
  return [
    fact(file.hasResult ? "Standard, again" : "Standard", price),
    fact("High fidelity", price),
    ...(hasLayout(file.name) ? [fact("Keep the layout", price)] : []),
    ...(newest?.status === "completed" && newest.compConversionId === null
      ? [fact("Reflow instead", "free, once")]
      : []),
    fact(
      "Charged",
      "when the result is there. Nothing after a failure or a cancel, nor for pages that cannot be read."
    )
  ]
}

/** What cannot be read is left out of the page. @template A @param {Promise<A>} asked @param {A} otherwise @returns {Promise<A>} */
const or = (asked, otherwise) => asked.catch(() => otherwise)

/** @returns {Promise<Around>} */
const readAround = async () => {
  /** @type {Promise<Operations["flyers.listFlyerJobs"]["success"]>} */
  const layouts = ask("GET", `${path}/flyer-jobs`)
  /** @type {Promise<Operations["account.listCharges"]["success"]>} */
  const charges = ask("GET", "/api/v1/account/charges?limit=100")
  /** @type {Promise<Operations["sharing.listAllShares"]["success"]>} */
  const sharing = ask("GET", "/api/v1/shares")
  const [{ flyerJobs }, { holds, rows }, { shares }] = await Promise.all([
    or(layouts, { flyerJobs: [] }),
    or(charges, { rows: [], holds: [], nextCursor: null }),
    or(sharing, { shares: [] })
  ])
  return {
    layouts: flyerJobs,
    moves: rows.filter((move) => move.fileId === id),
    holds: holds.filter((hold) => hold.fileId === id),
    shares: shares.filter((one) => one.fileId === id)
  }
}

/** @param {FileView} file @param {Around} around */
const draw = (file, around) => {
  byId("name", HTMLElement).textContent = file.name
  document.title = `${file.name} – Postlane`
  byId("facts", HTMLElement).replaceChildren(...factsOf(file, around))
  byId("events", HTMLElement).replaceChildren(
    ...eventsOf(file, around).map(([at, text]) => el("li", {}, time(at), el("p", {}, text)))
  )
  byId("costs", HTMLElement).replaceChildren(...costsOf(file, around.layouts))
}

/** The pages next to their result, and the check of it: of each result once. @param {FileView} file */
const showResult = async (file) => {
  const made = file.made?.at ?? (file.hasResult ? file.id : "")
  if (made === shown) return
  shown = made
  byId("report", HTMLElement).hidden = true
  const download = byId("download", HTMLAnchorElement)
  download.href = `${path}/result`
  download.download = resultName(file.name)
  await startCompare(path, made !== "")
  if (made !== "") await showReport(path).catch(() => undefined)
}

/** Says an end that the user may be waiting for. @param {FileView} before @param {FileView} after */
const announce = (before, after) => {
  if (!isRunning(before) || isRunning(after)) return
  void showFunds()
  if (after.status === "completed") say(`${after.name} is converted. Its result can be opened.`)
  if (after.status === "failed") warn(`The conversion of ${after.name} failed. ${after.error ?? ""}`)
}

const refresh = async () => {
  const asked = actionCount
  clearTimeout(timer)
  try {
    /** @type {Promise<Operations["files.getFile"]["success"]>} */
    const reading = ask("GET", path)
    const [{ file }, around] = await Promise.all([reading, readAround()])
    sayAway(byId("problem", HTMLElement))
    if (asked === actionCount) {
      if (row === undefined) begin(file)
      else {
        announce(row.file, file)
        row.update(file)
      }
      draw(file, around)
      byId("document", HTMLElement).hidden = false
      if (isRunning(file))
        showPreview(path, {
          jobId: file.jobId,
          readyPages: file.readyPages ?? [],
          total: file.progress.total
        })
      else hidePreview()
      void showResult(file)
    }
  } catch (failure) {
    sayAway(byId("problem", HTMLElement), failure)
  }
  byId("loading", HTMLElement).hidden = true
  const runs = row !== undefined && isRunning(row.file)
  streams.set(runs ? [id] : [])
  if (!document.hidden) timer = setTimeout(refresh, runs && !streams.follows(id) ? SOON : LATER)
}

const commands = makeCommands({
  touched: () => {
    actionCount += 1
  },
  refresh,
  near: () => undefined,
  gone: () => location.assign("/dashboard")
})

const streams = makeStreams({
  moved: (_, progress) => {
    if (row === undefined || !isRunning(row.file)) return
    row.moved(progress)
    showPreview(path, progress)
  },
  ended: () => void refresh()
})

/** @param {FileView} file */
const begin = (file) => {
  row = new Row(file, commands)
  byId("rows", HTMLElement).append(row.element)
  if (hasLayout(file.name)) void row.layout.look()
}

byId("share-result", HTMLElement).addEventListener("click", () => {
  if (row !== undefined) void commands.share(row)
})
document.addEventListener("visibilitychange", () => {
  if (document.hidden) streams.set([])
  else void refresh()
})
await showFunds()
void refresh()
