/** When something began and ended, on one counter for all connections. */
export interface Timed {
  readonly begun: number
  readonly ended: number
}

/** Whether another call was under way at some moment of this one. */
export const overlapsAny = (call: Timed, calls: ReadonlyArray<Timed>): boolean =>
  calls.some((other) => other !== call && other.begun < call.ended && call.begun < other.ended)

/** What decides as PostgreSQL should, one call after another. */
export interface Model<C> {
  /** Runs the call; what differs from the answer that PostgreSQL gave, if anything does. */
  readonly apply: (call: C) => string | undefined
}

/** No serial order gives the answers: the longest part of one that does, and why each call that could come next does not fit. */
export interface Unexplained<C> {
  readonly order: ReadonlyArray<C>
  readonly next: ReadonlyArray<{ readonly call: C; readonly why: string }>
}

/** Most models that are built for one history: what is not explained by then is taken for unexplained. */
const MAX_MODELS = 2_000

/** Calls that may come next: no other one that is left had ended before they began. In the order in which they ended. */
const candidates = <C extends Timed>(left: ReadonlyArray<C>): ReadonlyArray<C> => {
  const firstEnd = Math.min(...left.map(({ ended }) => ended))
  return left.filter(({ begun }) => begun < firstEnd).sort((a, b) => a.ended - b.ended)
}

/**
 * Searches an order of the calls, which keeps to real time, in which the model gives every answer (Wing and Gong). Undefined: there
 * is one. A model is never copied: each other order is played anew from the start.
 */
export const unexplained = <C extends Timed>(
  calls: ReadonlyArray<C>,
  fresh: () => Model<C>
): Unexplained<C> | undefined => {
  let longest: Unexplained<C> = { order: [], next: [] }
  let models = 0
  const replayed = (order: ReadonlyArray<C>): Model<C> => {
    models += 1
    const model = fresh()
    for (const call of order) model.apply(call)
    return model
  }
  const fits = (order: ReadonlyArray<C>, left: ReadonlyArray<C>, known: Model<C>): boolean => {
    if (left.length === 0) return true
    let model: Model<C> | undefined = known
    const next: Array<{ readonly call: C; readonly why: string }> = []
    for (const call of models > MAX_MODELS ? [] : candidates(left)) {
      const here: Model<C> = model ?? replayed(order)
      model = undefined
      const why = here.apply(call)
      if (why !== undefined) next.push({ call, why })
      else if (
        fits(
          [...order, call],
          left.filter((one) => one !== call),
          here
        )
      )
        return true
    }
    if (order.length >= longest.order.length && next.length > 0) longest = { order, next }
    return false
  }
  return fits([], calls, replayed([])) ? undefined : longest
}
