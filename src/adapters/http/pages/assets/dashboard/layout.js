import { ask, Refused } from "../api.js"
import { button, el, say, warn } from "../dom.js"
import { reasonOf } from "./state.js"

/** @import { Row } from "./row.js" */
/** @import { FlyerJob, Operations } from "#api" */

/** How often one under way is polled, milliseconds. */
const SOON = 2_000

/** The error of one that its owner cancelled, as `failures.ts` has it. */
const STOPPED = "The user stopped the conversion"

/** What it waits for, in words; nothing is said while its pages are worked on. @param {FlyerJob | undefined} job */
const waiting = (job) =>
  job?.waitsFor === undefined || job.waitsFor.cause === "page" ? "" : ` ${reasonOf(job.waitsFor)}`

/** The newest layout-true result of a row's file, looked up when the row is first seen and while it is under way. */
export class Layout {
  /** @type {FlyerJob | undefined} */
  #job = undefined
  /** The newest one that has a result. @type {FlyerJob | undefined} */
  kept = undefined
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #timer = undefined
  /** Counts look-ups and answers of the API: the result of an older look-up is dropped. */
  #look = 0

  /**
   * @param {Row} row
   * @param {{ readonly moved: () => void, readonly stop: (job: FlyerJob) => Promise<void> }} commands
   */
  constructor(row, { moved, stop }) {
    this.row = row
    this.moved = moved
    this.stop = stop
    this.element = el("div", { class: "extra", hidden: true })
  }

  /** Looks it up, and announces an end that the user waited for. */
  async look() {
    clearTimeout(this.#timer)
    this.#look += 1
    const mine = this.#look
    const { id, name } = this.row.file
    try {
      /** @type {Operations["flyers.listFlyerJobs"]["success"]} */
      const { flyerJobs } = await ask("GET", `/api/v1/files/${encodeURIComponent(id)}/flyer-jobs`)
      if (mine !== this.#look) return
      const before = this.#job
      const now = flyerJobs[0]
      this.#job = now
      this.kept = flyerJobs.find(({ status }) => status === "completed")
      const moved =
        before?.status !== now?.status ||
        before?.compConversionId !== now?.compConversionId ||
        waiting(before) !== waiting(now)
      if (moved) this.#draw()
      if (before !== undefined && before.id === now?.id && before.status !== now.status) {
        if (now.status === "completed") say(`The result of ${name} that keeps the layout is ready.`)
        if (now.status === "failed") warn(`Keeping the layout of ${name} failed. ${now.error ?? ""}`)
      }
    } catch (failure) {
      // The file may be gone by now; the list shows that.
      if (!(failure instanceof Refused)) throw failure
      if (mine !== this.#look) return
    }
    const { status } = this.#job ?? {}
    if (status === "pending" || status === "processing") this.#timer = setTimeout(() => this.#again(), SOON)
  }

  /** The newest one, where text that flows after all is still free of charge. @returns {FlyerJob | undefined} */
  get free() {
    return this.#job?.status === "completed" && this.#job.compConversionId === null ? this.#job : undefined
  }

  /** Takes the state that the API has just returned, so that its end is not announced twice. @param {FlyerJob} job */
  took(job) {
    clearTimeout(this.#timer)
    this.#look += 1
    this.#job = job
    this.#draw()
  }

  #again() {
    if (!this.element.isConnected) return
    if (document.hidden) this.#timer = setTimeout(() => this.#again(), SOON)
    else void this.look()
  }

  #draw() {
    const job = this.#job
    const held = this.element.contains(document.activeElement)
    const parts = job === undefined ? [] : this.#parts(job)
    this.element.hidden = parts.length === 0
    this.element.replaceChildren(...parts)
    this.moved()
    const next = this.element.querySelector("button")
    if (held) (next ?? this.row.title).focus()
  }

  /** @param {FlyerJob} job @returns {ReadonlyArray<Node>} */
  #parts(job) {
    const { name } = this.row.file
    switch (job.status) {
      case "completed":
        return []
      case "failed":
        return [
          el(
            "p",
            {},
            job.error === STOPPED
              ? "Keeping the layout was cancelled. Nothing was charged."
              : `Keeping the layout failed. ${job.error ?? ""}`
          )
        ]
      default:
        return [
          el("p", {}, `The result that keeps the layout is being made…${waiting(job)}`),
          button("Cancel", { about: `keeping the layout of ${name}`, press: () => void this.stop(job) })
        ]
    }
  }
}
