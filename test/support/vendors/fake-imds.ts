import { FakeHttp, type FakeOptions, type Reply } from "./fake-http.ts"

const ROLE_PATH = "/latest/meta-data/iam/security-credentials/"

/** What the metadata service has to give. */
export interface ImdsState {
  /** `undefined`: no role is attached. */
  role: string | undefined
  /** ISO 8601. */
  expiration: string
  /** Goes up with every set of credentials given out; part of their key id. */
  generation: number
  /** Status that the token request is answered with. */
  tokenStatus: number
}

/** The instance metadata service, version 2: without a token it gives nothing. */
export const fakeImds = (state: ImdsState, options: FakeOptions = {}): FakeHttp => {
  const text = (body: string): Reply => ({ status: 200, headers: { "content-type": "text/plain" }, body })
  return new FakeHttp(
    {
      scripted: () => true,
      error: (status) => ({ status, body: "" }),
      handle: ({ method, path, headers }) => {
        if (path === "/latest/api/token") {
          if (method !== "PUT" || headers["x-aws-ec2-metadata-token-ttl-seconds"] === undefined)
            return { status: 400 }
          return state.tokenStatus === 200 ? text("TOKEN") : { status: state.tokenStatus }
        }
        if (headers["x-aws-ec2-metadata-token"] !== "TOKEN") return { status: 401 }
        if (state.role === undefined) return { status: 404 }
        if (path === ROLE_PATH) return text(state.role)
        if (path !== ROLE_PATH + state.role) return { status: 404 }
        state.generation += 1
        return {
          status: 200,
          body: {
            Code: "Success",
            LastUpdated: "2026-01-01T00:00:00Z",
            Type: "AWS-HMAC",
            AccessKeyId: `ASIAEXAMPLE${state.generation}`,
            SecretAccessKey: "imds-secret",
            Token: "imds-session-token",
            Expiration: state.expiration
          }
        }
      }
    },
    options
  )
}
