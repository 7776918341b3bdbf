import { Clock, Effect, Exit, Stream } from "effect"

import type { ConversionOptions } from "../../../src/domain/conversion/job.ts"
import type { CustomerId, FileId } from "../../../src/domain/ids.ts"
import { rawOf } from "./mails.ts"
import { bytesOf, drawPaper, type Paper } from "./papers.ts"
import type { DocumentsProcess, DocumentsWorld } from "./setting.ts"

/** How long a browser waits for an answer. */
const PATIENCE = "40 seconds"

/** A process of the front, alive. */
export const front = ({ chance, processes }: DocumentsWorld) =>
  chance.pick(
    processes.flatMap(({ dead, front: services, here, id }) =>
      services === undefined || dead ? [] : [{ ...services, here, id }]
    )
  )

/** Asks a process for something, as a browser does: nobody knows whether what got no answer happened. */
export const asked = <A, E>(
  process: Pick<DocumentsProcess, "here">,
  work: Effect.Effect<A, E>
): Effect.Effect<A | undefined> =>
  process.here(work).pipe(
    Effect.timeoutOrElse({ duration: PATIENCE, orElse: () => Effect.undefined }),
    Effect.exit,
    Effect.map((exit) => (Exit.isSuccess(exit) ? exit.value : undefined))
  )

/** Uploads the document until it is there, some times. */
const uploaded = (world: DocumentsWorld, paper: Paper, customerId: CustomerId) =>
  Effect.gen(function* () {
    const { chance, db } = world
    for (let attempt = 0; attempt < 4; attempt++) {
      const process = front(world)
      const body = Stream.make(bytesOf(paper))
      yield* asked(process, process.uploads.add({ customerId, name: paper.name, body }))
      const file = db.files.find(({ name }) => name === paper.name)
      if (file !== undefined) return file.id
      yield* Effect.sleep(chance.int(1_000, 60_000))
    }
    return undefined
  })

export const OPTIONS: ReadonlyArray<ConversionOptions> = [
  { highFidelity: true },
  { highFidelity: true },
  { highFidelity: true },
  {},
  { highFidelity: true, mathOcr: true }
]

/** One thing that an owner does with a file of theirs. */
const act = (world: DocumentsWorld, fileId: FileId, customerId: CustomerId) =>
  Effect.gen(function* () {
    const { chance, chronicle, db } = world
    const { note, saw } = chronicle
    const process = front(world)
    const { controls, conversions } = process
    const file = { fileId, customerId }
    const done = (what: string, answer: string | undefined) => {
      saw(`${what}: ${answer ?? "no answer"}`)
      note(() => `${what} of ${db.files.get(fileId)?.name} at ${process.id}: ${answer ?? "no answer"}`)
    }
    const draw = chance.next()
    if (draw < 0.42) {
      const answer = yield* asked(process, conversions.convert({ ...file, options: chance.pick(OPTIONS) }))
      done("convert", answer?.answer)
    } else if (draw < 0.57) {
      const answer = yield* asked(
        process,
        Effect.tap(conversions.cancel(file), (ended) =>
          ended.answer === "cancelled" ? controls.stopBatchJob(ended.jobId) : Effect.void
        )
      )
      done("cancel", answer?.answer)
    } else if (draw < 0.7) {
      done("process now", (yield* asked(process, controls.processNow(file)))?.answer)
    } else if (draw < 0.8) {
      done("preserve formatting", (yield* asked(process, conversions.preserveFormatting(file)))?.answer)
    } else if (draw < 0.95) {
      const flyer = db.flyers.find((one) => one.fileId === fileId)
      if (flyer !== undefined)
        done("reflow", (yield* asked(process, conversions.reflow({ flyerId: flyer.id, customerId })))?.answer)
    } else done("delete", yield* asked(process, process.deleteFile(fileId, customerId)))
  })

/** An admin has a job tried again, as the admin's list does it. */
const retry = (world: DocumentsWorld) =>
  Effect.gen(function* () {
    const { chance, chronicle, db, ledger, retriedFree } = world
    const jobs = db.jobs.where(({ status }) => status === "failed" || status === "cancelled")
    const free = jobs.filter(({ options }) => options._compedFlyerJobId !== undefined)
    if (jobs.length === 0) return
    const { customerId, fileId, id, options, status } = chance.pick(free.length > 0 ? free : jobs)
    const process = front(world)
    const work = process.conversions.retry({ jobId: id, fileId, customerId, options, status })
    const answer = yield* asked(process, work)
    chronicle.saw(`retry: ${answer?.answer ?? "no answer"}`)
    if (answer?.answer !== "queued") return
    if (status === "cancelled") ledger.violations.push("X1: what somebody had cancelled was tried again")
    if (options._compedFlyerJobId === undefined) return
    chronicle.saw("retry of what is free of charge")
    retriedFree.add(answer.id)
  })

/** An admin gives credits, or takes some back: again and again under one reference, until there is an answer. */
const moveCredits = (world: DocumentsWorld, n: number) =>
  Effect.gen(function* () {
    const { chance, chronicle, owners } = world
    const what = chance.bool(0.5) ? "grant" : "debit"
    const move = {
      customerId: chance.pick(owners),
      credits: chance.int(1, 12),
      reference: `${what} ${n}`,
      note: undefined,
      actor: "an admin"
    }
    for (let attempt = 0; attempt < 5; attempt++) {
      const process = front(world)
      const answer = yield* asked(process, process.customers[what](move))
      chronicle.note(() => `${what} ${move.credits} of ${move.customerId}: ${answer ?? "no answer"}`)
      chronicle.saw(`${what}: ${answer ?? "no answer"}`)
      // Some are asked for again although they were answered.
      if (answer !== undefined && chance.bool(0.8)) return
    }
  })

/** An admin of the installation, at the lists of jobs and of customers. */
export const admin = (world: DocumentsWorld, roughMs: number) =>
  Effect.gen(function* () {
    const { calm, chance, happens } = world
    for (let n = 0; !calm.now; n++) {
      yield* Effect.sleep(chance.int(1_000, roughMs / 5))
      if (chance.bool(0.5) && happens("admins retry")) yield* retry(world)
      else if (happens("admins give and take credits")) yield* moveCredits(world, n)
    }
  })

/** The owner of a document: uploads it, has it converted, and does this and that. Others may do so at the same time. */
export const owner = (world: DocumentsWorld, n: number, roughMs: number) =>
  Effect.gen(function* () {
    const { calm, chance, chronicle, owners } = world
    const paper = drawPaper(chance, `doc-${n}`, 0.1)
    const customerId = chance.pick(owners)
    yield* Effect.sleep(chance.int(0, roughMs / 2))
    chronicle.note(() => `${customerId} uploads ${paper.name}: ${paper.kind}, ${paper.pages.join(" ")}`)
    const fileId = yield* uploaded(world, paper, customerId)
    if (fileId === undefined) return chronicle.saw("an upload was given up")
    const process = front(world)
    const options = chance.pick(OPTIONS)
    const file = { fileId, customerId }
    yield* chance.bool(0.3)
      ? asked(process, process.conversions.preserveFormatting(file))
      : asked(process, process.conversions.convert({ ...file, options }))
    const acts = chance.int(0, 7)
    for (let m = 0; m < acts && !calm.now; m++) {
      yield* Effect.sleep(chance.bool(0.3) ? chance.int(1, 5_000) : chance.int(5_000, roughMs / 6))
      const again = act(world, fileId, customerId)
      yield* chance.bool(0.2)
        ? Effect.all([again, act(world, fileId, customerId)], { concurrency: 2 })
        : again
    }
  })

/** Sends a mail, and as a server does, again; each delivery until it is accepted. */
const sendMail = (world: DocumentsWorld, from: string, name: string, roughMs: number) =>
  Effect.gen(function* () {
    const { accepted, chance, chronicle, processes, sentMails } = world
    const paper = { ...drawPaper(chance, `%PDF-${name}`), kind: "pdf" as const }
    const mail = { from, messageId: `<${name}@x.test>`, paper: chance.bool(0.1) ? undefined : paper }
    sentMails.push(mail)
    const deliver = Effect.gen(function* () {
      yield* Effect.sleep(chance.bool(0.5) ? 1 : chance.int(1, roughMs / 4))
      for (;;) {
        const process = chance.pick(
          processes.flatMap(({ accept, dead, here, id }) =>
            accept === undefined || dead ? [] : [{ accept, here, id }]
          )
        )
        const raw = Stream.make(rawOf(mail))
        const id = yield* asked(process, process.accept({ envelopeFrom: from, peerTrusted: true, raw }))
        if (id !== undefined) {
          accepted.add(id)
          chronicle.note(() => `${process.id} accepts ${mail.messageId} as ${id.slice(0, 8)}`)
          return chronicle.saw("mail accepted")
        }
        chronicle.saw("mail sent again")
        yield* Effect.sleep(chance.int(10_000, 300_000))
      }
    })
    yield* Effect.all(
      Array.from({ length: chance.pick([1, 1, 2, 3, 5]) }, () => deliver),
      {
        concurrency: "unbounded",
        discard: true
      }
    )
  })

/** Somebody who sends a mail, or several at once. */
export const correspondent = (world: DocumentsWorld, n: number, roughMs: number) =>
  Effect.gen(function* () {
    const { chance, owners } = world
    const from = chance.bool(0.1) ? "stranger@x.test" : `${chance.pick(owners)}@x.test`
    // Many write at the same hour.
    yield* Effect.sleep(chance.bool(0.5) ? roughMs / 4 : chance.int(0, roughMs / 2))
    const names = Array.from({ length: chance.pick([1, 1, 1, 1, 4]) }, (_, at) => `mail-${n}-${at}`)
    yield* Effect.all(
      names.map((name) => sendMail(world, from, name, roughMs)),
      { concurrency: "unbounded", discard: true }
    )
  })

/** Kills, freezes and stops processes, and does what operators do, while things go wrong. */
export const nemesis = (world: DocumentsWorld, roughMs: number) =>
  Effect.gen(function* () {
    const { budget, calm, chance, chronicle, db, happens, ledger, models, owners, processes } = world
    const { note, saw } = chronicle
    for (let n = 0; n < 10 && !calm.now; n++) {
      yield* Effect.sleep(chance.int(1_000, roughMs / 6))
      if (calm.now) return
      const process = chance.pick(processes.filter(({ dead }) => !dead))
      const draw = chance.next()
      if (draw < 0.3 && happens("kill")) {
        saw("SIGKILL")
        note(() => `${process.id} is killed`)
        yield* world.kill(process)
      } else if (draw < 0.6 && happens("freeze")) {
        saw("SIGSTOP")
        const millis = chance.int(1_000, 300_000)
        note(() => `${process.id} freezes for ${Math.round(millis / 1000)} s`)
        process.frozenUntil = (yield* Clock.currentTimeMillis) + millis
      } else if (draw < 0.75 && happens("stop")) {
        saw("SIGTERM")
        yield* world.spawn(process.role)
        yield* Effect.forkDetach(process.stop)
      }
      switch (chance.int(0, 8)) {
        case 0:
          if (happens("budget is spent")) {
            saw("budget is spent")
            budget.usd = 0
          }
          break
        case 1:
        case 2:
          budget.usd = undefined
          break
        case 3: {
          const id = chance.pick(owners)
          const customer = db.customers.get(id)
          if (customer?.plan !== "paid") break
          saw("credits bought")
          ledger.grant(id, 5)
          db.customers.update(id, { credits: customer.credits + 5 })
          break
        }
        case 4: {
          const id = chance.pick(owners)
          if (!chance.bool(0.2) || db.customers.get(id)?.deletedAt !== null) break
          saw("account closed")
          db.customers.update(id, { deletedAt: db.moment() })
          break
        }
        case 5:
          if (!happens("no model answers")) break
          models.all = chance.pick(["refuse", "throttle"])
          saw(`every model: ${models.all}`)
          break
        case 6:
          models.all = "answer"
          break
        default:
      }
    }
  })

/** Nothing fails any more; some processes are started anew, others are those that lived through it all. */
export const heal = (world: DocumentsWorld) =>
  Effect.gen(function* () {
    const { budget, calm, chance, models, processes } = world
    calm.now = true
    budget.usd = undefined
    models.all = "answer"
    // The worker that has the batch store may be about to stop.
    yield* world.spawn("worker")
    if (chance.bool(0.5)) return
    for (const old of processes.filter(({ dead }) => !dead)) yield* world.kill(old)
  })
