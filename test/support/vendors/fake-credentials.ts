import { FakeHttp, type Reply } from "./fake-http.ts"

const inAnHour = () => new Date(Date.now() + 3_600_000).toISOString()

const xml = (status: number, body: string): Reply => ({
  status,
  headers: { "content-type": "text/xml" },
  body: `<?xml version="1.0"?>\n${body}`
})

/** AWS STS: exchanges a token, which is known here, for keys of the role that it may take. */
export const fakeSts = (roles: Readonly<Record<string, string>>): FakeHttp => {
  let generation = 0
  return new FakeHttp({
    scripted: () => true,
    error: (status) => xml(status, "<ErrorResponse/>"),
    handle: ({ body }) => {
      const asked = new URLSearchParams(body)
      if (asked.get("Action") !== "AssumeRoleWithWebIdentity") return { status: 400 }
      if (roles[asked.get("WebIdentityToken") ?? ""] !== asked.get("RoleArn")) {
        return xml(
          403,
          "<ErrorResponse><Error><Type>Sender</Type><Code>AccessDenied</Code><Message>Not authorized to perform sts:AssumeRoleWithWebIdentity</Message></Error></ErrorResponse>"
        )
      }
      generation += 1
      return xml(
        200,
        `<AssumeRoleWithWebIdentityResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><AssumeRoleWithWebIdentityResult><Credentials><AccessKeyId>ASIAPOD${generation}</AccessKeyId><SecretAccessKey>sts-secret</SecretAccessKey><SessionToken>sts-session-token</SessionToken><Expiration>${inAnHour()}</Expiration></Credentials></AssumeRoleWithWebIdentityResult></AssumeRoleWithWebIdentityResponse>`
      )
    }
  })
}

/** The endpoint that a task (ECS) or a pod (EKS pod identity) has its role's keys from. */
export const fakeContainer = (token: string): FakeHttp =>
  new FakeHttp({
    scripted: () => true,
    error: (status) => ({ status, body: {} }),
    handle: ({ headers, path }) => {
      if (path !== "/v1/credentials") return undefined
      if (headers.authorization !== token)
        return { status: 403, body: { Code: "AccessDenied", Message: "no" } }
      return {
        status: 200,
        body: {
          AccessKeyId: "ASIACONTAINER",
          SecretAccessKey: "container-secret",
          Token: "container-session-token",
          Expiration: inAnHour()
        }
      }
    }
  })
