import { readFileSync, renameSync, writeSync } from "node:fs"

import { Effect, Schema, Stream } from "effect"

import type { ObjectStoreService } from "../../src/ports/object-store.ts"

/** Where a leader is hurt: at the `nth` time that it comes to a step. */
export const Arm = Schema.Struct({
  id: Schema.Int,
  /** `<service> <call>`, for objects `put shard`, `get output` and so on; see {@link STEPS}. */
  step: Schema.String,
  when: Schema.Literals(["before", "within", "after"]),
  nth: Schema.Int,
  how: Schema.Literals(["SIGKILL", "SIGSTOP"])
})
export type Arm = typeof Arm.Type

const decode = Schema.decodeUnknownSync(Schema.fromJsonString(Arm))

/** What a hurt process says last. */
export const HURT = "hurt"

/** A process that crashes or freezes itself where an armed file says so; the first one there takes the file. */
export const makeGate = (file: string) => {
  let armed: Arm | undefined
  let passed = 0
  const look = (step: string, when: Arm["when"]) => {
    let text: string
    try {
      text = readFileSync(file, "utf8")
    } catch {
      return
    }
    const found = decode(text)
    if (armed?.id !== found.id) passed = 0
    armed = found
    if (found.step !== step || found.when !== when) return
    passed += 1
    if (passed !== found.nth) return
    try {
      renameSync(file, `${file}.${found.id}`)
    } catch {
      return
    }
    writeSync(1, `${HURT}\n`)
    process.kill(process.pid, found.how)
  }
  return (step: string, when: Arm["when"]): Effect.Effect<void> => Effect.sync(() => look(step, when))
}
export type Gate = ReturnType<typeof makeGate>

/** Every call of a port passes the gate, before and after. */
export const gated = <S extends object>(name: string, service: S, gate: Gate): S => {
  const through = (step: string, value: unknown): unknown =>
    Effect.isEffect(value)
      ? gate(step, "before").pipe(Effect.andThen(value), Effect.tap(gate(step, "after")))
      : value
  return new Proxy(service, {
    get: (target, member) => {
      const value: unknown = Reflect.get(target, member)
      const step = `${name} ${String(member)}`
      return typeof value === "function"
        ? (...parameters: ReadonlyArray<unknown>) => through(step, Reflect.apply(value, target, parameters))
        : through(step, value)
    }
  })
}

const KINDS = [
  ["shard", /\/input\/shard-/],
  ["manifest", /\/manifest\.jsonl$/],
  ["output", /\/output\//],
  ["results", /\/results\//]
] as const

const kindOf = (key: string): string => KINDS.find(([, pattern]) => pattern.test(key))?.[0] ?? "other"

/** An object store whose calls pass the gate by the kind of object; `within` is after the first bytes. */
export const gatedObjects = (objects: ObjectStoreService, gate: Gate): ObjectStoreService => {
  const within = (step: string) => {
    let begun = false
    return Effect.suspend(() => {
      if (begun) return Effect.void
      begun = true
      return gate(step, "within")
    })
  }
  return {
    ...objects,
    put: (key, body, options) => {
      const step = `put ${kindOf(key)}`
      return gate(step, "before").pipe(
        Effect.andThen(
          objects.put(
            key,
            Stream.tap(body, () => within(step)),
            options
          )
        ),
        Effect.tap(gate(step, "after"))
      )
    },
    get: (key, options) => {
      const step = `get ${kindOf(key)}`
      return Stream.unwrap(
        Effect.as(
          gate(step, "before"),
          Stream.tap(objects.get(key, options), () => within(step))
        )
      )
    }
  }
}
