import { Effect, Result } from "effect"

/** Ids that PostgreSQL drew, and those that the model has for them. */
export interface Ids {
  readonly toModel: Map<string, string>
  readonly toReal: Map<string, string>
}

export const makeIds = (): Ids => ({ toModel: new Map(), toReal: new Map() })

/** Moments and what follows from them; the two clocks are not one. */
const MOMENTS: ReadonlySet<string> = new Set([
  "createdAt",
  "jobEndedAt",
  "convertedAt",
  "expiresAt",
  "endedAt",
  "deletedAt"
])

/** The same value with other ids. */
export const translated = (value: unknown, ids: ReadonlyMap<string, string>): unknown => {
  if (typeof value === "string") return ids.get(value) ?? value
  if (Array.isArray(value)) return value.map((one: unknown) => translated(one, ids))
  if (typeof value !== "object" || value === null || Object.getPrototypeOf(value) !== Object.prototype)
    return value
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, translated(one, ids)]))
}

/** Learns which ids are the same, from the `id` of two answers. */
export const learn = (ids: Ids, real: unknown, model: unknown): void => {
  if (typeof real !== "object" || typeof model !== "object" || real === null || model === null) return
  if (Array.isArray(real) && Array.isArray(model)) real.forEach((one, index) => learn(ids, one, model[index]))
  if (!("id" in real) || !("id" in model)) return
  const [a, b] = [String(real.id), String(model.id)]
  if (a === b || ids.toModel.has(a) || ids.toReal.has(b)) return
  ids.toModel.set(a, b)
  ids.toReal.set(b, a)
}

/** An answer without its moments, in one order of keys. */
const comparable = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(comparable)
  if (typeof value !== "object" || value === null || Object.getPrototypeOf(value) !== Object.prototype)
    return value
  return Object.fromEntries(
    Object.entries(value)
      .filter(([key, one]) => !MOMENTS.has(key) && one !== undefined)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, one]) => [key, comparable(one)])
  )
}

export const textOf = (value: unknown): string => JSON.stringify(comparable(value)) ?? "nothing"

type Call = Effect.Effect<unknown, unknown>

/** What the two have answered. */
export interface Seen {
  readonly differences: Array<string>
  /** How often which answer was given; an answer with an `id` counts as one. */
  readonly counts: Map<string, number>
}

/** A store whose every call goes to both; a difference of their answers is noted. PostgreSQL's answer is returned. */
export const paired = <S extends object>(real: S, model: S, ids: Ids, seen: Seen): S => {
  const both = (name: string, first: Call, second: () => Call): Call =>
    Effect.gen(function* () {
      const answer = yield* Effect.result(first)
      const modelled = yield* Effect.result(second())
      if (Result.isSuccess(answer) && Result.isSuccess(modelled)) {
        const { success } = answer
        const isOne = typeof success === "object" && success !== null
        const what = `${name}: ${isOne ? "{}" : textOf(success)}`
        seen.counts.set(what, (seen.counts.get(what) ?? 0) + 1)
        learn(ids, answer.success, modelled.success)
        const [a, b] = [textOf(answer.success), textOf(translated(modelled.success, ids.toReal))]
        if (a !== b) seen.differences.push(`${name}: PostgreSQL answers ${a}, the model ${b}`)
      } else if (Result.isSuccess(answer) !== Result.isSuccess(modelled))
        seen.differences.push(`${name}: one of the two failed: ${textOf([answer._tag, modelled._tag])}`)
      return yield* Effect.fromResult(answer)
    })
  return new Proxy(real, {
    get: (target, name) => {
      const member: unknown = Reflect.get(target, name)
      const other: unknown = Reflect.get(model, name)
      if (Effect.isEffect(member) && Effect.isEffect(other))
        return both(String(name), member as Call, () => other as Call)
      if (typeof member !== "function" || typeof other !== "function") return member
      return (...args: ReadonlyArray<unknown>) =>
        both(
          String(name),
          Effect.suspend(() => Reflect.apply(member, target, args) as Call),
          () =>
            Reflect.apply(
              other,
              model,
              args.map((one) => translated(one, ids.toModel))
            ) as Call
        )
    }
  })
}
