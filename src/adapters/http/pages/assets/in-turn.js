/**
 * Settles when the previous dialog is closed. Its close event comes a moment late, and would otherwise answer the next one.
 * @type {Promise<unknown>}
 */
let before = Promise.resolve()

/**
 * Opens a dialog once the previous one has reported that it is closed.
 * @template A
 * @param {() => Promise<A>} open
 * @returns {Promise<A>}
 */
export const inTurn = (open) => {
  const answer = before.then(open)
  // The caller gets the failure; it does not block the next dialog.
  before = answer.catch(() => undefined)
  return answer
}
