/** @import { Progress } from "./state.js" */

/**
 * Most streams of one page at once: over HTTP/1.1 a browser opens six connections to a server for all tabs together.
 * Conversions without a stream are polled.
 */
const MOST = 2

/**
 * Follows conversions by their streams, while the page is visible.
 * @param {{ readonly moved: (fileId: string, progress: Progress) => void, readonly ended: (fileId: string) => void }} listeners
 */
export const makeStreams = ({ ended, moved }) => {
  /** @type {Map<string, EventSource>} */
  const open = new Map()
  /** Conversions without a stream, which was refused: they are polled. @type {Set<string>} */
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
      // The browser reopens a lost connection, but not after an answer that is no stream.
      if (source.readyState !== EventSource.CLOSED) return
      close(fileId)
      refused.add(fileId)
    })
  }

  return {
    /** Whether the stream of a file is open. @param {string} fileId */
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
