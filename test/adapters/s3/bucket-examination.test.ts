import { createServer } from "node:http"
import type { AddressInfo } from "node:net"

import { Effect } from "effect"
import { assert, describe, it } from "vitest"

import { examineBucket } from "../../../src/adapters/s3/bucket-examination.ts"
import { type BucketFacts, bucketVerdicts } from "../../../src/domain/doctor/buckets.ts"

/** Answers by the part of the query that names what is asked for; anything else is forbidden. */
type Answers = Readonly<Record<string, readonly [status: number, body: string]>>

const error = (status: number, code: string) =>
  [status, `<Error><Code>${code}</Code><Message>m</Message></Error>`] as const

const GOOD: Answers = {
  encryption: [
    200,
    "<ServerSideEncryptionConfiguration><Rule><ApplyServerSideEncryptionByDefault><SSEAlgorithm>AES256</SSEAlgorithm></ApplyServerSideEncryptionByDefault></Rule></ServerSideEncryptionConfiguration>"
  ],
  publicAccessBlock: [
    200,
    `<PublicAccessBlockConfiguration>${["BlockPublicAcls", "IgnorePublicAcls", "BlockPublicPolicy", "RestrictPublicBuckets"].map((name) => `<${name}>true</${name}>`).join("")}</PublicAccessBlockConfiguration>`
  ],
  policy: [
    200,
    JSON.stringify({
      Statement: [{ Effect: "Deny", Principal: "*", Condition: { Bool: { "aws:SecureTransport": "false" } } }]
    })
  ],
  lifecycle: [
    200,
    "<LifecycleConfiguration><Rule><Status>Enabled</Status><Expiration><Days>14</Days></Expiration></Rule><Rule><Status>Disabled</Status><Expiration><Days>1</Days></Expiration></Rule></LifecycleConfiguration>"
  ]
}

const NOTHING: Answers = {
  encryption: error(404, "ServerSideEncryptionConfigurationNotFoundError"),
  publicAccessBlock: error(404, "NoSuchPublicAccessBlockConfiguration"),
  policy: error(404, "NoSuchBucketPolicy"),
  lifecycle: error(404, "NoSuchLifecycleConfiguration")
}

const examined = async (answers: Answers, keeps: BucketFacts["keeps"] = "short-lived") => {
  const server = createServer((request, response) => {
    const asked = [...new URL(request.url ?? "", "http://x").searchParams.keys()]
    const [status, body] = answers[asked.find((name) => name in answers) ?? ""] ?? error(403, "AccessDenied")
    response.writeHead(status, { "content-type": "application/xml" }).end(body)
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  try {
    return await Effect.runPromise(
      examineBucket(
        {
          bucket: "documents",
          region: "us-east-1",
          endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
          credentials: { accessKeyId: "AKIA", secretAccessKey: "s" }
        },
        keeps
      )
    )
  } finally {
    server.closeAllConnections()
    server.close()
  }
}

const complaints = (facts: BucketFacts) =>
  bucketVerdicts([facts]).map(({ status, what }) => `${status} ${what}`)

describe("a bucket of the cloud side", () => {
  it("is seen as it was applied", async () => {
    const facts = await examined(GOOD)
    assert.deepStrictEqual(facts, {
      name: "documents",
      keeps: "short-lived",
      encrypted: "good",
      closed: "good",
      tlsOnly: "good",
      expiresAfterDays: 14
    })
    assert.deepStrictEqual(complaints(facts), [
      "ok documents is encrypted, closed to the public and reached over TLS only"
    ])
  })

  it("is complained of where nothing of it is set", async () => {
    assert.deepStrictEqual(complaints(await examined(NOTHING)), [
      "fail public access to documents is not blocked",
      "warn documents is not encrypted by default",
      "warn documents can be reached without TLS",
      "warn objects of documents never end"
    ])
  })

  it("is not judged by what these credentials may not see", async () => {
    assert.deepStrictEqual(complaints(await examined({})), [
      "warn not everything about documents can be seen"
    ])
    const half = { ...GOOD, publicAccessBlock: error(403, "AccessDenied") }
    assert.deepStrictEqual(complaints(await examined(half)), [
      "warn not everything about documents can be seen"
    ])
  })

  it("keeps owners' files, and what is under way for long enough", async () => {
    assert.deepStrictEqual(complaints(await examined(GOOD, "files")), [
      "fail objects of documents end after 14 days"
    ])
    const lasting = { ...GOOD, lifecycle: NOTHING["lifecycle"]! }
    assert.match(complaints(await examined(lasting, "files"))[0]!, /^ok /)
    const short = await examined(GOOD)
    assert.deepStrictEqual(complaints({ ...short, expiresAfterDays: 3 }), [
      "fail objects of documents end after 3 days"
    ])
  })

  it("is open while one of four blocks is off, and its policy is read whatever it holds", async () => {
    const open = [200, GOOD["publicAccessBlock"]![1].replace("true", "false")] as const
    assert.strictEqual((await examined({ ...GOOD, publicAccessBlock: open })).closed, "bad")
    for (const policy of [
      "",
      "[]",
      "{}",
      '{"Statement":[{"Effect":"Allow","Condition":{"Bool":{"aws:SecureTransport":"false"}}}]}'
    ]) {
      assert.strictEqual((await examined({ ...GOOD, policy: [200, policy] })).tlsOnly, "bad", policy)
    }
    for (const policy of [
      '{"Statement":{"Effect":"Deny","Condition":{"Bool":{"aws:SecureTransport":"false"}}}}',
      '{"Statement":[{"Effect":"Deny","Condition":{"Bool":{"aws:SecureTransport":["false"]}}}]}',
      '{"Statement":[{"Effect":"Deny","Condition":{"Bool":{"aws:securetransport":false}}}]}'
    ]) {
      assert.strictEqual((await examined({ ...GOOD, policy: [200, policy] })).tlsOnly, "good", policy)
    }
  })
})
