import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"

import { examineQueue } from "../../../src/adapters/sqs/examination.ts"
import { sqsCredentials, sqsRegion, startSqs } from "../../support/vendors/sqs.ts"

describe("the queue at Amazon SQS, over the wire", () => {
  it.live("its redrive policy, its visibility time, and the dead letters that wait", () =>
    Effect.gen(function* () {
      const sqs = yield* startSqs
      const ask = (queueUrl: string) =>
        examineQueue({
          queueUrl,
          lookAgainAfter: "1 millis",
          region: sqsRegion,
          endpoint: sqs.endpoint,
          credentials: sqsCredentials
        })
      const { deadLetterUrl = "", url } = yield* sqs.createQueue("mail", 3)
      yield* sqs.send(deadLetterUrl, "a dead letter")
      const facts = yield* ask(url)
      assert.strictEqual(facts._tag, "Sqs")
      if (facts._tag !== "Sqs") return
      assert.deepStrictEqual(facts.redrive, { maxReceives: 3, deadLetterQueue: "mail-dead", deadLetters: 1 })
      assert.strictEqual(facts.visibilitySeconds, 30)
      assert.strictEqual(facts.due, 0)
      yield* sqs.send(url, "a message that nobody takes")
      assert.deepInclude(yield* ask(url), { due: 1 })
      const bare = yield* sqs.createQueue("bare")
      assert.deepInclude(yield* ask(bare.url), { _tag: "Sqs", redrive: undefined })
      const gone = yield* ask(`${url}-gone`)
      assert.strictEqual(gone._tag, "Unreachable")
      assert.match(gone._tag === "Unreachable" ? gone.why : "", /exist/i)
    })
  )
})
