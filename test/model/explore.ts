/** A step from one state to another, in words. */
export interface Step<S> {
  readonly label: string
  readonly state: S
  /** The invariant that it breaks, and how. */
  readonly broken?: string | undefined
}

/** What a walk found. */
export interface Walk {
  readonly states: number
  /** The longest of the shortest ways to a state. */
  readonly depth: number
  readonly milliseconds: number
  /** Whether every state was walked: false where the walk ended at a violation or at its bound. */
  readonly isWhole: boolean
  readonly violation: { readonly text: string; readonly trace: ReadonlyArray<string> } | undefined
}

export interface Model<S> {
  readonly initial: S
  readonly steps: (state: S) => ReadonlyArray<Step<S>>
  /** What does not hold in a state. */
  readonly violated: (state: S) => string | undefined
  readonly textOf: (state: S) => string
  /** Whether it is an end: given, an end has to be within reach of every state. */
  readonly ends?: (state: S) => boolean
}

/** The names of what is worded anew. */
export const namesOf = <L extends string>(literal: Readonly<Partial<Record<L, unknown>>>): ReadonlyArray<L> =>
  Object.keys(literal) as Array<L>

/** 53 bits of a text: two states that differ share them once in some thousand walks of a million states. */
const fingerprint = (text: string): number => {
  let a = 0x811c9dc5
  let b = 0x1b873593
  for (let n = 0; n < text.length; n++) {
    const code = text.charCodeAt(n)
    a = Math.imul(a ^ code, 0x01000193)
    b = Math.imul(b ^ code, 0x85ebca6b)
    b ^= b >>> 13
  }
  return (a >>> 0) * 2 ** 21 + (b & 0x1fffff)
}

/** The first state from which no step after step leads to an end. */
const withoutEnd = (
  states: number,
  edges: ReadonlyArray<number>,
  ended: ReadonlyArray<number>
): number | undefined => {
  // The steps by the state that they lead to: those to `n` are from `offsets[n]` on.
  const offsets = new Uint32Array(states + 1)
  for (let at = 1; at < edges.length; at += 2) offsets[edges[at]! + 1]!++
  for (let n = 0; n < states; n++) offsets[n + 1]! += offsets[n]!
  const places = offsets.slice()
  const before = new Uint32Array(edges.length / 2)
  for (let at = 0; at < edges.length; at += 2) before[places[edges[at + 1]!]!++] = edges[at]!
  const reaches = new Uint8Array(states)
  const open = [...ended]
  for (const n of ended) reaches[n] = 1
  for (let n = open.pop(); n !== undefined; n = open.pop())
    for (let at = offsets[n]!; at < offsets[n + 1]!; at++) {
      const from = before[at]!
      if (reaches[from] === 1) continue
      reaches[from] = 1
      open.push(from)
    }
  const stuck = reaches.indexOf(0)
  return stuck === -1 ? undefined : stuck
}

/** Walks every state breadth-first, so that the trace of what it finds is a shortest one. */
export const explore = <S>(model: Model<S>, maxStates = Infinity): Walk => {
  const started = process.hrtime.bigint()
  const seen = new Map<number, number>([[fingerprint(model.textOf(model.initial)), 0]])
  // Of each state the one before it, and which of that one's steps leads to it: a trace is walked again.
  const parents: Array<number> = [-1]
  const turns: Array<number> = [0]
  let level: Array<readonly [S, number]> = [[model.initial, 0]]
  let depth = 0
  const traceTo = (id: number): ReadonlyArray<string> => {
    const way: Array<number> = []
    for (let at = id; at > 0; at = parents[at]!) way.push(turns[at]!)
    let state = model.initial
    return way.reverse().map((turn) => {
      const { label, state: then } = model.steps(state)[turn]!
      state = then
      return label
    })
  }
  // Where it is asked for: each step, by its two states, and the states that are an end.
  const edges: Array<number> = []
  const ended: Array<number> = []
  const walk = (isWhole: boolean, violation?: Walk["violation"]): Walk => ({
    states: parents.length,
    depth,
    milliseconds: Number(process.hrtime.bigint() - started) / 1e6,
    isWhole,
    violation
  })
  while (level.length > 0) {
    const next: Array<readonly [S, number]> = []
    for (const [state, id] of level) {
      if (model.ends?.(state) === true) ended.push(id)
      for (const [turn, { broken, state: then }] of model.steps(state).entries()) {
        const mark = fingerprint(model.textOf(then))
        const known = seen.get(mark)
        if (model.ends !== undefined) edges.push(id, known ?? parents.length)
        if (broken === undefined && known !== undefined) continue
        const child = parents.push(id) - 1
        seen.set(mark, child)
        turns.push(turn)
        const text = broken ?? model.violated(then)
        if (text !== undefined) return walk(false, { text, trace: traceTo(child) })
        if (parents.length >= maxStates) return walk(false)
        next.push([then, child])
      }
    }
    if (next.length > 0) depth++
    level = next
  }
  const stuck = model.ends === undefined ? undefined : withoutEnd(parents.length, edges, ended)
  return stuck === undefined
    ? walk(true)
    : walk(false, { text: "no end is within reach", trace: traceTo(stuck) })
}
