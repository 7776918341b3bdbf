/** @import { Progress } from "./state.js" */

/**
 * Streams of one page at once: a browser opens six connections to a server over HTTP/1.1, all of its tabs together, and what
 * is not streamed is polled.
 */
const MOST = 2

/**
 * Follows conversions by their streams, as long as the page is seen.
 * @param {{ readonly moved: (fileId: string, progress: Progress) => void, readonly ended: (fileId: string) => void }} tell
 */
export const makeStreams = ({ ended, moved }) => {
  /** @type {Map<string, EventSource>} */
  const open = new Map()
  /** Those whose stream was refused: they are polled. @type {Set<string>} */
  const refused = new Set()

  /** @param {string} fileId */
  const close = (fileId) => {
    open.get(fileId)?.close()
    open.delete(fileId)
  }

  /** @param {string} fileId */
  const follow = (fileId) => {
    const source = new EventSource(`/api/convert/${encodeURIComponent(fileId)}/stream`)
    open.set(fileId, source)
    source.addEventListener("progress", ({ data }) =>
      moved(fileId, /** @type {Progress} */ (JSON.parse(String(data))))
    )
    for (const name of ["completed", "failed", "cancelled"]) {
      source.addEventListener(name, () => {
        close(fileId)
        ended(fileId)
      })
    }
    source.addEventListener("error", () => {
      // A connection that was cut is opened again by the browser; an answer that is no stream is not.
      if (source.readyState !== EventSource.CLOSED) return
      close(fileId)
      refused.add(fileId)
    })
  }

  return {
    /** Whether the stream of a file is there now. @param {string} fileId */
    follows: (fileId) => open.get(fileId)?.readyState === EventSource.OPEN,
    /** Follows the first of these conversions, and no other. @param {ReadonlyArray<string>} running */
    set: (running) => {
      const wanted = document.hidden ? [] : running.filter((id) => !refused.has(id)).slice(0, MOST)
      for (const fileId of open.keys()) if (!wanted.includes(fileId)) close(fileId)
      for (const fileId of wanted) if (!open.has(fileId)) follow(fileId)
      for (const fileId of refused) if (!running.includes(fileId)) refused.delete(fileId)
    }
  }
}
