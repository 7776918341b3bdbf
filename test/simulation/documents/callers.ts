import { Effect, Stream } from "effect"

import type { Call } from "../../../src/application/accounts/repeatable-calls.ts"
import type { CustomerId } from "../../../src/domain/ids.ts"
import { anyId } from "../../support/any-id.ts"
import { bytesOf, drawPaper } from "./papers.ts"
import { asked, front, OPTIONS } from "./people.ts"
import type { DocumentsWorld, RepeatedCall } from "./setting.ts"

type Front = ReturnType<typeof front>

/** Calls until there is an answer, and sometimes once more, or twice at once. */
const repeated = <A, E, R extends string>(
  world: DocumentsWorld,
  customerId: CustomerId,
  name: string,
  run: (process: Front, call: Call) => Effect.Effect<A, E | R>,
  idOf: (answer: A) => string
) =>
  Effect.gen(function* () {
    const { calm, chance, chronicle, repeats } = world
    const seen: RepeatedCall = { name, ids: new Set(), answers: new Set() }
    repeats.push(seen)
    const request = { customerId, keyHash: anyId(name), requestHash: name }
    let last: A | undefined
    const attempt = Effect.gen(function* () {
      const process = front(world)
      const answer = yield* asked(
        process,
        process.calls.once(request, {
          run: (call) => {
            seen.ids.add(call.id)
            return run(process, call)
          },
          changedNothing: (error) => typeof error === "string"
        })
      )
      chronicle.note(() => `${name} at ${process.id}: ${answer === undefined ? "no answer" : idOf(answer)}`)
      chronicle.saw(`repeated call: ${answer === undefined ? "no answer" : "answer"}`)
      if (answer === undefined) return
      seen.answers.add(idOf(answer))
      last = answer
    })
    for (let tries = 0; tries < 8 && !calm.now; tries++) {
      yield* chance.bool(0.2) ? Effect.all([attempt, attempt], { concurrency: 2 }) : attempt
      if (last !== undefined && chance.bool(0.6)) break
      yield* Effect.sleep(chance.bool(0.5) ? chance.int(100, 5_000) : chance.int(5_000, 300_000))
    }
    return last
  })

/** A program of an owner: it uploads a document and has it converted, each under a key, and cancels now and then. */
export const caller = (world: DocumentsWorld, n: number, roughMs: number) =>
  Effect.gen(function* () {
    const { chance, owners } = world
    const paper = drawPaper(chance, `call-${n}`, 0.1)
    const customerId = chance.pick(owners)
    yield* Effect.sleep(chance.int(0, roughMs / 4))
    const file = yield* repeated(
      world,
      customerId,
      `upload of ${paper.name}`,
      ({ uploads }, call) => {
        const body = Stream.make(bytesOf(paper))
        const upload = { id: call.id, sameContent: call.sameContent(paper.name) }
        return uploads.add({ customerId, name: paper.name, body, call: upload })
      },
      ({ id }) => id
    )
    if (file === undefined) return
    const options = chance.pick(OPTIONS)
    for (let order = 0; order < 2; order++) {
      yield* repeated(
        world,
        customerId,
        `conversion ${order} of ${paper.name}`,
        ({ conversions }, { id: callId }) =>
          Effect.flatMap(conversions.convert({ callId, customerId, fileId: file.id, options }), (started) =>
            started.answer === "queued" ? Effect.succeed(started.id) : Effect.fail(started.answer)
          ),
        (id) => id
      )
      yield* Effect.sleep(chance.int(1_000, roughMs / 8))
      const process = front(world)
      if (chance.bool(0.5)) yield* asked(process, process.conversions.cancel({ customerId, fileId: file.id }))
    }
  })

/** Whether each call under a key has made one thing, at one price, and was answered with that (HTTP-16). */
export const wrongCalls = ({ db, repeats }: DocumentsWorld): ReadonlyArray<string> =>
  repeats.flatMap(({ answers, ids, name }) => {
    const made = [...ids].filter((id) => db.holds.get(id) !== undefined || db.files.get(id) !== undefined)
    return [
      ...(made.length > 1 ? [`HTTP-16: the ${name} was made ${made.length} times under one key`] : []),
      ...(answers.size > 1 ? [`HTTP-16: the ${name} has ${answers.size} answers under one key`] : []),
      ...[...answers].filter((id) => !made.includes(id)).map((id) => `HTTP-16: the ${name} is not ${id}`)
    ]
  })
