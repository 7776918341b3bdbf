import { explain, offline, Refused } from "./api.js"
import { show, warn } from "./dom.js"

/**
 * What a page that reads again by itself says while it cannot: the same on each, read out once, and gone with the next answer.
 * @param {HTMLElement} place
 * @param {unknown} [failure] Undefined where it was read.
 */
export const sayAway = (place, failure) => {
  if (failure === undefined) return show(place, undefined)
  const isGone = failure instanceof Refused && failure.code === "OFFLINE"
  const text = `${isGone ? `${failure.title}.` : explain(failure)} What is shown here may be old; it is asked for again by itself.`
  if (place.hidden) warn(text)
  show(place, text)
}

/** How long a stream may take to open again, milliseconds: browsers open one that has ended after three to five seconds. */
const PATIENCE = 8000

/**
 * Follows a stream of the server, and says in `place` when the server is gone.
 * @param {string} path
 * @param {HTMLElement} place
 * @param {Readonly<Record<string, (event: MessageEvent) => void>>} heard What to do, by the event's name.
 */
export const follow = (path, place, heard) => {
  const source = new EventSource(path)
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer
  const calm = () => {
    clearTimeout(timer)
    timer = undefined
  }
  source.addEventListener("open", () => {
    calm()
    sayAway(place)
  })
  for (const [name, hear] of Object.entries(heard)) source.addEventListener(name, hear)
  source.addEventListener("error", () => {
    if (source.readyState === EventSource.CLOSED) {
      calm()
      show(place, "This page is not live any more: reload it.")
    } else timer ??= setTimeout(() => sayAway(place, offline()), PATIENCE)
  })
  return {
    close: () => {
      calm()
      source.close()
    }
  }
}
