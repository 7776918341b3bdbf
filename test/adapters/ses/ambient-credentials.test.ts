import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

import { afterEach, assert, beforeEach, describe, it, vi } from "@effect/vitest"
import { Effect } from "effect"

import { ambientCredentials } from "../../../src/adapters/ses/ambient-credentials.ts"
import { makeSesProvider } from "../../../src/adapters/ses/ses-provider.ts"
import { keyOf, mail } from "../../support/files/mail-message.ts"
import { fakeContainer, fakeSts } from "../../support/vendors/fake-credentials.ts"
import { fakeImds, type ImdsState } from "../../support/vendors/fake-imds.ts"
import { listening } from "../../support/vendors/fake-peers.ts"
import { fakeSes } from "../../support/vendors/fake-ses.ts"

const MINUTE = 60_000

const state = (): ImdsState => ({
  role: "mail-role",
  expiration: new Date(Date.now() + 6 * 60 * MINUTE).toISOString(),
  generation: 0,
  tokenStatus: 200
})

let folder = ""
const file = (name: string, text: string) => {
  writeFileSync(join(folder, name), text)
  return join(folder, name)
}
const set = (variables: Readonly<Record<string, string>>) => {
  for (const [name, value] of Object.entries(variables)) vi.stubEnv(name, value)
}

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "postlane-credentials-"))
  for (const name of Object.keys(process.env))
    if (name.startsWith("AWS_") && !name.endsWith("_FILE")) vi.stubEnv(name, undefined)
})
afterEach(() => {
  vi.unstubAllEnvs()
  rmSync(folder, { recursive: true })
})

/** An instance whose node has a role, with STS and the container's endpoint beside it; SES shows who signed. */
const machine = Effect.gen(function* () {
  const imds = yield* listening(() => fakeImds(state()))
  const sts = yield* listening(() => fakeSts({ "the service account's token": "arn:aws:iam::1:role/pod" }))
  const container = yield* listening(() => fakeContainer("container-token"))
  const ses = yield* listening(() => fakeSes())
  const region = "eu-west-1"
  const fresh = () =>
    ambientCredentials({ region, stsEndpoint: sts.url, imdsEndpoint: imds.url, now: Date.now })
  const provider = yield* makeSesProvider({ region, endpoint: ses.url, credentials: fresh() })
  const send = provider.send(provider.prepare(mail(), keyOf("k")))
  /** Whose key signed the newest request, and the session token with it. */
  const signed = () => {
    const { authorization = "", "x-amz-security-token": token } = ses.requests.at(-1)!.headers
    return [/Credential=([^/]+)\/\d+\/([^/]+)/.exec(authorization)?.slice(1).join(" "), token]
  }
  return { imds, sts, container, ses, fresh, send, signed }
})

const podIdentity = (url: string) => ({
  AWS_CONTAINER_CREDENTIALS_FULL_URI: `${url}/v1/credentials`,
  AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE: file("eks-pod-identity-token", "container-token")
})
const webIdentity = () => ({
  AWS_ROLE_ARN: "arn:aws:iam::1:role/pod",
  AWS_WEB_IDENTITY_TOKEN_FILE: file("token", "the service account's token")
})
const SHARED = "AWS_SHARED_CREDENTIALS_FILE"
const shared = (text: string) => ({ [SHARED]: file("credentials", text) })
const KEYS = "aws_access_key_id = AKIAPROFILE\naws_secret_access_key = s\n"

describe("the credentials that a machine gives", () => {
  it.effect("in a function: its role's keys in the environment, as they are renewed in place", () =>
    Effect.gen(function* () {
      const { imds, send, signed } = yield* machine
      set({ AWS_ACCESS_KEY_ID: "ASIAFUNCTION1", AWS_SECRET_ACCESS_KEY: "s", AWS_SESSION_TOKEN: "token-1" })
      yield* send
      assert.deepStrictEqual(signed(), ["ASIAFUNCTION1 eu-west-1", "token-1"])
      set({ AWS_ACCESS_KEY_ID: "ASIAFUNCTION2", AWS_SESSION_TOKEN: "token-2" })
      yield* send
      assert.deepStrictEqual(signed(), ["ASIAFUNCTION2 eu-west-1", "token-2"])
      assert.strictEqual(imds.received, 0)
    })
  )

  it.effect("in a pod with a service account: the pod's role by STS, never the node's", () =>
    Effect.gen(function* () {
      const { imds, send, signed, sts } = yield* machine
      set(webIdentity())
      yield* send
      yield* send
      assert.deepStrictEqual(signed(), ["ASIAPOD1 eu-west-1", "sts-session-token"])
      assert.deepStrictEqual([sts.received, imds.received], [1, 0])
    })
  )

  it.effect("refused by STS: unavailable, in its own words, and the node's role is not tried", () =>
    Effect.gen(function* () {
      const { imds, send, ses } = yield* machine
      set({ ...webIdentity(), AWS_ROLE_ARN: "arn:aws:iam::1:role/another" })
      const failure = yield* Effect.flip(send)
      assert.strictEqual(failure.kind, "unavailable")
      assert.include(failure.message, "AWS_WEB_IDENTITY_TOKEN_FILE gives no credentials: AccessDenied")
      assert.deepStrictEqual([ses.received, imds.received], [0, 0])
    })
  )

  it.effect("in a pod with pod identity, and in a task: the container's endpoint", () =>
    Effect.gen(function* () {
      const { container, imds, send, signed } = yield* machine
      set(podIdentity(container.url))
      yield* send
      assert.deepStrictEqual(signed(), ["ASIACONTAINER eu-west-1", "container-session-token"])
      assert.strictEqual(imds.received, 0)
    })
  )

  it.effect("an endpoint that refuses its token: unavailable, and the node's role is not tried", () =>
    Effect.gen(function* () {
      const { container, imds, send } = yield* machine
      set({ ...podIdentity(container.url), AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE: file("t", "stolen") })
      const failure = yield* Effect.flip(send)
      assert.strictEqual(failure.kind, "unavailable")
      assert.include(failure.message, "container credentials endpoint gives no credentials")
      assert.strictEqual(imds.received, 0)
    })
  )

  it.effect("on a developer's machine: the named profile, its program's answer included", () =>
    Effect.gen(function* () {
      const { send, signed } = yield* machine
      const answer = JSON.stringify({ Version: 1, AccessKeyId: "ASIAPROGRAM", SecretAccessKey: "s" })
      set({
        ...shared(`[default]\n${KEYS}`),
        AWS_CONFIG_FILE: file(
          "config",
          `[profile mail]\ncredential_process = cat ${file("answer", answer)}\n`
        ),
        AWS_PROFILE: "mail"
      })
      yield* send
      assert.deepStrictEqual(signed(), ["ASIAPROGRAM eu-west-1", undefined])
    })
  )

  it.effect("a named profile that is not there: unavailable, and nothing else is tried", () =>
    Effect.gen(function* () {
      const { imds, send } = yield* machine
      set({ ...shared(`[default]\n${KEYS}`), AWS_PROFILE: "mistyped" })
      const failure = yield* Effect.flip(send)
      assert.strictEqual(failure.kind, "unavailable")
      assert.include(failure.message, "profile mistyped of the shared files gives no credentials")
      assert.strictEqual(imds.received, 0)
    })
  )

  it.effect("the words of a profile's program, which may hold a secret, stay out of the failure", () =>
    Effect.gen(function* () {
      const { send } = yield* machine
      set({ AWS_CONFIG_FILE: file("config", "[default]\ncredential_process = false --token s3cret\n") })
      const failure = yield* Effect.flip(send)
      assert.strictEqual(failure.kind, "unavailable")
      assert.notInclude(failure.message, "s3cret")
    })
  )

  it.effect("each before the next: environment, web identity, shared files, container, instance", () =>
    Effect.gen(function* () {
      const all = yield* machine
      const sources = [
        ["ASIAFUNCTION", { AWS_ACCESS_KEY_ID: "ASIAFUNCTION", AWS_SECRET_ACCESS_KEY: "s" }],
        ["ASIAPOD1", webIdentity()],
        ["AKIAPROFILE", shared(`[default]\n${KEYS}`)],
        ["ASIACONTAINER", podIdentity(all.container.url)]
      ] as const
      for (const [, variables] of sources) set(variables)
      // As `aws configure set region` leaves it: a profile without credentials.
      set({ AWS_CONFIG_FILE: file("config", "[default]\nregion = eu-west-1\n") })
      for (const [key, variables] of sources) {
        assert.strictEqual((yield* Effect.promise(all.fresh())).accessKeyId, key)
        for (const name of Object.keys(variables)) vi.stubEnv(name, name === SHARED ? "/dev/null" : "")
      }
      yield* all.send
      assert.strictEqual(all.signed()[0], "ASIAEXAMPLE1 eu-west-1")
    })
  )

  it.effect("AWS_ENDPOINT_URL and its fellows lead no mail elsewhere", () =>
    Effect.gen(function* () {
      const elsewhere = yield* listening(() => fakeSes())
      set({
        AWS_ACCESS_KEY_ID: "AKIA",
        AWS_SECRET_ACCESS_KEY: "s",
        AWS_ENDPOINT_URL: elsewhere.url,
        AWS_ENDPOINT_URL_SESV2: elsewhere.url
      })
      const provider = yield* makeSesProvider({
        // The label of a name that leads nowhere.
        region: "nowhere-test-1",
        credentials: ambientCredentials({ region: "nowhere-test-1", now: Date.now })
      })
      yield* Effect.flip(provider.send(provider.prepare(mail(), keyOf("k"))))
      assert.strictEqual(elsewhere.received, 0)
    })
  )
})

describe("instance role (IMDSv2)", () => {
  const start = Date.parse("2026-11-21T12:00:00Z")
  const sendWith = (imdsState: ImdsState, script?: "hang" | "500") =>
    Effect.gen(function* () {
      const imds = yield* listening(() => fakeImds(imdsState))
      if (script !== undefined) yield* Effect.promise(() => imds.always(script))
      const ses = yield* listening(() => fakeSes())
      const provider = yield* makeSesProvider({
        region: "us-east-1",
        endpoint: ses.url,
        credentials: ambientCredentials({ region: "us-east-1", imdsEndpoint: imds.url, now: Date.now })
      })
      const send = provider.send(provider.prepare(mail(), keyOf("k")))
      return { imds, ses, send }
    })

  it.effect("signs with the role's credentials, asked for once", () =>
    Effect.gen(function* () {
      const { imds, ses, send } = yield* sendWith(state())
      yield* Effect.all([send, send, send], { concurrency: "unbounded" })
      yield* send
      const { headers } = ses.requests[0]!
      assert.include(headers.authorization, "Credential=ASIAEXAMPLE1/")
      assert.strictEqual(headers["x-amz-security-token"], "imds-session-token")
      assert.deepStrictEqual(
        imds.requests.map(({ method }) => method),
        ["PUT", "GET", "GET"]
      )
    })
  )

  it.effect("renews when they near their end", () =>
    Effect.gen(function* () {
      let now = start
      const imdsState = { ...state(), expiration: new Date(Date.now() + 60 * MINUTE).toISOString() }
      const imds = yield* listening(() => fakeImds(imdsState))
      const source = ambientCredentials({ region: "us-east-1", imdsEndpoint: imds.url, now: () => now })
      now = Date.now()
      assert.strictEqual((yield* Effect.promise(source)).accessKeyId, "ASIAEXAMPLE1")
      now += 56 * MINUTE
      imdsState.expiration = new Date(now + 60 * MINUTE).toISOString()
      assert.strictEqual((yield* Effect.promise(source)).accessKeyId, "ASIAEXAMPLE2")
    })
  )

  const NONE: ReadonlyArray<readonly [string, Partial<ImdsState>, "hang" | "500" | undefined]> = [
    ["no role is attached", { role: undefined }, undefined],
    ["the token is refused (no fallback to version 1)", { tokenStatus: 403 }, undefined],
    ["it gives expired credentials", { expiration: "2020-01-01T00:00:00Z" }, undefined],
    ["it fails", {}, "500"],
    ["it does not answer", {}, "hang"]
  ]

  it.effect.each(NONE)("%s: unavailable, and no request to the provider", ([, change, script]) =>
    Effect.gen(function* () {
      const { ses, send } = yield* sendWith({ ...state(), ...change }, script)
      const failure = yield* Effect.flip(send)
      assert.strictEqual(failure.kind, "unavailable")
      assert.strictEqual(ses.received, 0)
    })
  )

  it.effect("a refused token does not stick: the next send asks anew", () =>
    Effect.gen(function* () {
      const imdsState = { ...state(), tokenStatus: 403 }
      const { imds, ses, send } = yield* sendWith(imdsState)
      yield* Effect.flip(send)
      assert.deepStrictEqual(
        imds.requests.map(({ method }) => method),
        ["PUT"]
      )
      imdsState.tokenStatus = 200
      yield* send
      assert.strictEqual(ses.acceptedCount, 1)
    })
  )

  it.effect("switched off: unavailable, and it is not asked", () =>
    Effect.gen(function* () {
      vi.stubEnv("AWS_EC2_METADATA_DISABLED", "true")
      const { imds, send } = yield* sendWith(state())
      assert.strictEqual((yield* Effect.flip(send)).kind, "unavailable")
      assert.strictEqual(imds.received, 0)
    })
  )
})
