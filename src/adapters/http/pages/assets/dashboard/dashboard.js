import { ask, explain } from "../api.js"
import { confirmed } from "../dialogs.js"
import { byId, say, show, warn } from "../dom.js"
import { startBooks } from "./books.js"
import { startChosen } from "./chosen.js"
import { priceIn, showFunds } from "./funds.js"
import { showMails } from "./mails.js"
import { hasLayout, Row } from "./row.js"
import { share } from "./share.js"
import { isRunning } from "./state.js"
import { makeStreams } from "./streams.js"
import { startUploads } from "./upload.js"

/** @import { File as FileView, Operations } from "#api" */

/** How often the list is read, milliseconds: while something without a stream runs, and otherwise. */
const SOON = 2_000
const LATER = 20_000

const list = byId("rows", HTMLElement)
/** @type {Map<string, Row>} */
const rows = new Map()
/** Counts the user's actions: the answer to a request made before the newest one is out of date. */
let actionCount = 0
/** The newest reading of the list; the result of an older one is dropped. */
let reading = 0
/** @type {ReturnType<typeof setTimeout> | undefined} */
let timer

const running = () => [...rows.values()].filter(({ file }) => isRunning(file)).map(({ file }) => file.id)

const streams = makeStreams({
  moved: (fileId, progress) => {
    const row = rows.get(fileId)
    if (row === undefined || !isRunning(row.file)) return
    const before = row.kind
    row.moved(progress)
    announceWaiting(row, before)
  },
  ended: () => void refresh()
})

/** Asks for a file's layout-true results when its row is first seen: there may be many files. */
const seen = new IntersectionObserver((entries) => {
  for (const { isIntersecting, target } of entries) {
    if (!isIntersecting) continue
    seen.unobserve(target)
    void rows.get(target.getAttribute("data-file") ?? "")?.layout.look()
  }
})

/** Announces that a conversion is parked. @param {Row} row @param {string} before */
const announceWaiting = (row, before) => {
  if (row.kind === "waiting" && before !== "waiting") say(`${row.file.name} waits for the batch.`)
}

/** Announces an end that the user may be waiting for. @param {FileView} before @param {FileView} after */
const announceEnd = (before, after) => {
  if (!isRunning(before) || isRunning(after)) return
  void showFunds()
  if (after.status === "completed") say(`${after.name} is converted. Its result can be opened.`)
  if (after.status === "failed") warn(`The conversion of ${after.name} failed. ${after.error ?? ""}`)
}

/** @param {ReadonlyArray<FileView>} files */
const draw = (files) => {
  const there = new Set(files.map(({ id }) => id))
  for (const [id, row] of rows) {
    if (there.has(id)) continue
    if (row.element.contains(document.activeElement)) byId("files-title", HTMLElement).focus()
    row.element.remove()
    rows.delete(id)
  }
  /** @type {Element | null} */
  let at = list.firstElementChild
  for (const file of files) {
    const known = rows.get(file.id)
    const row = known ?? new Row(file, commands)
    if (known === undefined) {
      rows.set(file.id, row)
      if (hasLayout(file.name)) seen.observe(row.element)
    } else {
      announceEnd(known.file, file)
      const before = known.kind
      known.update(file)
      announceWaiting(known, before)
    }
    // A row already in its place is not moved: moving it would lose the focus.
    if (row.element === at) at = at.nextElementSibling
    else list.insertBefore(row.element, at)
  }
  byId("empty", HTMLElement).hidden = files.length > 0
  drawChosen()
}

/** Shows that the list cannot be read, and that what is shown may be old. @param {string | undefined} text */
const away = (text) => {
  const place = byId("list-problem", HTMLElement)
  list.toggleAttribute("data-old", text !== undefined)
  if (text !== undefined && place.hidden) warn(text)
  show(
    place,
    text === undefined ? undefined : `${text} What is shown here may be old; it is asked for again by itself.`
  )
}

/** Reads the list, and schedules the next reading. */
const refresh = async () => {
  const asked = actionCount
  reading += 1
  const mine = reading
  try {
    /** @type {Operations["files.listFiles"]["success"]} */
    const { files } = await ask("GET", "/api/files")
    if (asked === actionCount && mine === reading) {
      draw(files)
      away(undefined)
    }
  } catch (failure) {
    away(explain(failure))
  }
  byId("loading", HTMLElement).hidden = true
  streams.set(running())
  clearTimeout(timer)
  if (!document.hidden)
    timer = setTimeout(refresh, running().some((id) => !streams.follows(id)) ? SOON : LATER)
}

/**
 * Does something with a row's file; a refusal of the API is shown in the row.
 * @param {Row} row
 * @param {() => Promise<string>} what
 * @returns {Promise<boolean>}
 */
const act = async (row, what) => {
  row.report({})
  row.busy(true)
  actionCount += 1
  try {
    const note = await what()
    say(`${row.file.name}: ${note}`)
    return true
  } catch (failure) {
    const text = explain(failure)
    row.report({ problem: text })
    warn(`${row.file.name}: ${text}`)
    return false
  } finally {
    actionCount += 1
    void showFunds()
    await refresh()
    row.busy(false)
  }
}

/** @param {Row} row @param {string} path */
const pathOf = (row, path) => `/api/v1/files/${encodeURIComponent(row.file.id)}${path}`

/**
 * Whether the user agrees to the price: asked where a result of this way already exists.
 * @param {Row} row @param {import("./row.js").Way} way @returns {Promise<boolean>}
 */
const agreed = async ({ file, layout }, way) => {
  const keeps = way === "layout"
  if (!(keeps ? layout.hasResult : file.hasResult)) return true
  return confirmed({
    title: keeps ? `Keep the layout of ${file.name} again?` : `Convert ${file.name} again?`,
    text: `It costs ${priceIn(file.price)} again, charged when the new result is there. The result that you have stays until then, and is replaced by the new one.`,
    yes: `Convert for ${priceIn(file.price)}`,
    no: "Keep what is there",
    kind: "primary"
  })
}

const { draw: drawChosen } = startChosen({
  rows: () => [...rows.values()],
  changed: async () => {
    actionCount += 1
    await refresh()
  }
})

/** @type {import("./row.js").Commands} */
const commands = {
  // Nothing that was pressed: where it is not known, the row says less.
  why: async (row) => {
    if (document.hidden) return undefined
    try {
      /** @type {Operations["files.getFile"]["success"]} */
      const { file } = await ask("GET", pathOf(row, ""))
      return file.waitsFor
    } catch {
      return undefined
    }
  },

  convert: async (row, way) => {
    if (!(await agreed(row, way))) return
    await act(row, async () => {
      if (way === "layout") {
        await ask("POST", pathOf(row, "/preserve-formatting"))
        return "The result that keeps the layout is being made."
      }
      await ask("POST", pathOf(row, "/convert"), { options: { highFidelity: way === "highFidelity" } })
      return "The conversion has begun."
    })
    if (way === "layout") await row.layout.look()
  },

  reflow: async (row, job) => {
    await act(row, async () => {
      await ask("POST", `/api/v1/flyer-jobs/${encodeURIComponent(job.id)}/reflow`)
      return "The conversion to flowing text has begun, free of charge."
    })
    await row.layout.look()
  },

  stop: async (row, job) => {
    const sure = await confirmed({
      title: `Cancel keeping the layout of ${row.file.name}?`,
      text: "What was made so far is thrown away. Nothing is charged, and the file stays.",
      yes: "Cancel conversion",
      no: "Keep converting"
    })
    if (!sure) return
    const done = await act(row, async () => {
      /** @type {Operations["flyers.cancelFlyer"]["success"]} */
      const { flyerJob } = await ask("POST", `/api/v1/flyer-jobs/${encodeURIComponent(job.id)}/cancel`)
      row.layout.took(flyerJob)
      return "The conversion is cancelled. Nothing was charged."
    })
    if (done) row.focusConvert()
    else await row.layout.look()
  },

  cancel: async (row) => {
    const sure = await confirmed({
      title: `Cancel the conversion of ${row.file.name}?`,
      text: `What was converted so far is thrown away. Nothing is charged, and the file ${row.file.hasResult ? "and its earlier result stay" : "stays"}.`,
      yes: "Cancel conversion",
      no: "Keep converting"
    })
    if (!sure) return
    const done = await act(row, async () => {
      await ask("POST", pathOf(row, "/cancel"))
      // Updated at once: the list may be requested twice now, and the first answer is dropped.
      row.update({ ...row.file, status: "uploaded", phase: null, batchWaiting: false })
      return "The conversion is cancelled. Nothing was charged."
    })
    if (done) row.focusConvert()
  },

  processNow: async (row) => {
    await act(row, async () => {
      await ask("POST", pathOf(row, "/process-now"))
      return "It is processed now."
    })
  },

  share: async (row) => {
    row.report({})
    const outcome = await share(row.file)
    if (outcome === undefined) return
    row.report({ note: outcome })
    say(outcome)
  },

  remove: async (row) => {
    const sure = await confirmed({
      title: `Delete ${row.file.name}?`,
      text: isRunning(row.file)
        ? `Its conversion is cancelled, nothing is charged, and the file ${row.file.hasResult ? "and its earlier result are" : "is"} gone for good.`
        : "The file and its result are gone for good, and shared links stop working.",
      yes: "Delete",
      no: "Keep the file"
    })
    if (!sure) return
    const { nextElementSibling: next, previousElementSibling: previous } = row.element
    const near = next ?? previous
    const gone = await act(row, async () => {
      await ask("DELETE", pathOf(row, ""))
      return "Deleted."
    })
    if (!gone) return
    const title = near?.querySelector("h3") ?? byId("files-title", HTMLElement)
    title.focus()
  }
}

/** Mails are secondary: where they cannot be read, the old list stays. */
const readMails = () => void showMails().catch(() => undefined)

document.addEventListener("visibilitychange", () => {
  if (document.hidden) {
    streams.set([])
    return
  }
  void showFunds()
  readMails()
  void refresh()
})
startUploads({
  arrived: async () => {
    actionCount += 1
    await refresh()
  }
})
startBooks()
void showFunds()
void refresh()
readMails()
