import { explain, newKey, offline, refusalOf, Refused } from "../api.js"
import { button, byId, el, say, warn } from "../dom.js"
import { size } from "./state.js"

/** Refusals of an upload that another try may get past. */
const AGAIN = new Set([
  "OFFLINE",
  "UNAVAILABLE",
  "RATE_LIMITED",
  "REQUEST_TIMEOUT",
  "READER_CRASHED",
  "IDEMPOTENCY_IN_PROGRESS",
  "INTERNAL",
  "UNKNOWN"
])

/**
 * Sends one file, by XMLHttpRequest: `fetch` reports no progress.
 * @param {File} file
 * @param {{ readonly key: string, readonly progress: (done: number) => void, readonly signal: AbortSignal }} options
 * @returns {Promise<void>}
 */
const send = (file, { key, progress, signal }) =>
  new Promise((resolve, reject) => {
    const request = new XMLHttpRequest()
    request.open("POST", `/api/v1/files?name=${encodeURIComponent(file.name)}`)
    request.setRequestHeader("accept", "application/json")
    request.setRequestHeader("content-type", "application/octet-stream")
    request.setRequestHeader("idempotency-key", key)
    request.upload.addEventListener("progress", ({ loaded }) => progress(loaded))
    request.addEventListener("load", () => {
      if (request.status === 201) resolve()
      else reject(refusalOf(request.status, request.responseText))
    })
    request.addEventListener("error", () => reject(offline()))
    request.addEventListener("abort", () => reject(signal.reason))
    signal.addEventListener("abort", () => request.abort(), { once: true })
    request.send(file)
  })

/**
 * One line of the uploads under way: removed when the file has arrived, kept with the reason when it is refused.
 * @param {File} file
 * @param {{
 *   readonly arrived: () => Promise<void>, readonly queue: (run: () => Promise<void>) => void, readonly moved: () => void
 * }} options `moved`: it began, ended or left.
 */
const makeLine = (file, { arrived, moved, queue }) => {
  let stopping = new AbortController()
  // Of every try: one that arrived without an answer is not stored twice.
  const key = newKey()
  const bar = el("progress", {
    max: Math.max(1, file.size),
    value: 0,
    "aria-label": `Upload of ${file.name}`
  })
  const status = el("p", { class: "help" }, `Queued · ${size(file.size)}`)
  const actions = el("div", { class: "buttons" })
  const line = el("li", {}, el("p", { class: "name" }, file.name), bar, status, actions)
  const leave = () => {
    const held = line.contains(document.activeElement)
    line.remove()
    if (held) byId("files", HTMLInputElement).focus()
    moved()
  }
  let begun = false
  let over = false
  const halt = () => {
    if (over) return
    stopping.abort()
    if (!begun) leave()
  }
  const stop = button("Stop", { about: `the upload of ${file.name}`, press: halt })
  actions.append(stop)

  /** Shows why it failed, and offers another try where that can help. @param {string} text @param {boolean} mayHelp */
  const failed = (text, mayHelp) => {
    over = true
    moved()
    bar.hidden = true
    status.className = "problem"
    status.textContent = text
    warn(`${file.name}: ${text}`)
    const held = line.contains(document.activeElement)
    const dismiss = button("Dismiss", { about: `the message about ${file.name}`, press: leave })
    const again = button("Try again", { about: `to upload ${file.name}`, kind: "primary", press: retry })
    actions.replaceChildren(...(mayHelp ? [again, dismiss] : [dismiss]))
    if (held) (mayHelp ? again : dismiss).focus()
  }

  const retry = () => {
    stopping = new AbortController()
    begun = false
    over = false
    moved()
    bar.hidden = false
    bar.value = 0
    status.className = "help"
    status.textContent = `Queued · ${size(file.size)}`
    actions.replaceChildren(stop)
    stop.focus()
    queue(run)
  }

  const run = async () => {
    if (stopping.signal.aborted) return
    begun = true
    try {
      await send(file, {
        key,
        signal: stopping.signal,
        progress: (done) => {
          bar.value = done
          status.textContent = done >= file.size ? "Checking…" : `${size(done)} of ${size(file.size)}`
        }
      })
      await arrived()
      say(`${file.name} is uploaded and ready to convert.`)
      leave()
    } catch (failure) {
      if (stopping.signal.aborted) {
        say(`The upload of ${file.name} was stopped.`)
        return leave()
      }
      failed(explain(failure), !(failure instanceof Refused) || AGAIN.has(failure.code))
    }
  }
  return { halt, line, run, isOver: () => over }
}

/**
 * Uploads what is chosen or dropped, one file after the other.
 * @param {{ readonly arrived: () => Promise<void> }} options
 */
export const startUploads = ({ arrived }) => {
  const zone = byId("drop", HTMLElement)
  const input = byId("files", HTMLInputElement)
  const list = byId("uploads", HTMLElement)
  const all = byId("uploads-all", HTMLElement)
  let last = Promise.resolve()
  /** @type {ReadonlyArray<ReturnType<typeof makeLine>>} */
  let lines = []

  /** Says how many are left, where there are several. */
  const moved = () => {
    lines = lines.filter(({ line }) => line.isConnected)
    const left = lines.filter((one) => !one.isOver()).length
    const held = all.contains(document.activeElement)
    all.hidden = left < 2
    byId("uploads-count", HTMLElement).textContent = `${left} uploads left`
    if (all.hidden && held) input.focus()
  }

  /** @param {Iterable<File>} files */
  const add = (files) => {
    for (const file of files) {
      const made = makeLine(file, { arrived, moved, queue: (retried) => void (last = last.then(retried)) })
      list.append(made.line)
      lines = [...lines, made]
      last = last.then(made.run)
    }
    moved()
  }

  input.addEventListener("change", () => {
    add(input.files ?? [])
    input.value = ""
  })
  byId("stop-all", HTMLButtonElement).addEventListener("click", () => {
    const stopped = lines.filter((one) => !one.isOver())
    for (const { halt } of stopped) halt()
    say(`${stopped.length} uploads were stopped.`)
    input.focus()
  })
  let inside = 0
  /** @param {number} change */
  const drag = (change) => {
    inside = Math.max(0, inside + change)
    zone.classList.toggle("over", inside > 0)
  }
  zone.addEventListener("dragenter", () => drag(1))
  zone.addEventListener("dragleave", () => drag(-1))
  // A file dropped outside the zone would replace the page.
  document.addEventListener("dragover", (event) => event.preventDefault())
  document.addEventListener("drop", (event) => {
    event.preventDefault()
    inside = 0
    drag(0)
    add(event.dataTransfer?.files ?? [])
  })
}
