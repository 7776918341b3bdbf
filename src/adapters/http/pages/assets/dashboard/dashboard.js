import { ask } from "../api.js"
import { sayAway } from "../away.js"
import { byId, say, warn } from "../dom.js"
import { startBooks } from "./books.js"
import { startChosen } from "./chosen.js"
import { makeCommands } from "./commands.js"
import { showFunds } from "./funds.js"
import { showMails } from "./mails.js"
import { Row } from "./row.js"
import { hasLayout, isRunning } from "./state.js"
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

/** Shows that the list cannot be read, and that what is shown may be old. @param {unknown} [failure] */
const away = (failure) => {
  list.toggleAttribute("data-old", failure !== undefined)
  sayAway(byId("list-problem", HTMLElement), failure)
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
      away()
    }
  } catch (failure) {
    away(failure)
  }
  byId("loading", HTMLElement).hidden = true
  streams.set(running())
  clearTimeout(timer)
  if (!document.hidden)
    timer = setTimeout(refresh, running().some((id) => !streams.follows(id)) ? SOON : LATER)
}

const { draw: drawChosen } = startChosen({
  rows: () => [...rows.values()],
  changed: async () => {
    actionCount += 1
    await refresh()
  }
})

const commands = makeCommands({
  touched: () => {
    actionCount += 1
  },
  refresh,
  near: ({ element }) =>
    (element.nextElementSibling ?? element.previousElementSibling)?.querySelector("h3") ?? undefined,
  gone: (near) => (near ?? byId("files-title", HTMLElement)).focus()
})

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
