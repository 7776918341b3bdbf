/**
 * Events in the shapes that AWS documents: "Working with AWS Lambda proxy integrations for HTTP APIs" (payload format 2.0),
 * "Invoking Lambda function URLs", "Using Lambda with Amazon SQS", "Scheduled events".
 */

interface HttpParts {
  readonly method?: string
  readonly path?: string
  readonly query?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly cookies?: ReadonlyArray<string>
  readonly body?: string
  readonly base64?: boolean
  readonly stage?: string
  /** Through an HTTP API, which hands the path over decoded; else through a function URL, which does not. */
  readonly isApi?: boolean
  readonly sourceIp?: string
}

/** A request through a function URL, or through an HTTP API. */
export const httpEvent = (parts: HttpParts = {}) => {
  const { base64 = false, body, cookies, headers = {}, method = "GET", path = "/", query = "" } = parts
  const { sourceIp = "198.51.100.7", stage = "$default", isApi = false } = parts
  const domainName = isApi
    ? "abcdefgh.execute-api.us-east-1.amazonaws.com"
    : "abcdefgh.lambda-url.us-east-1.on.aws"
  return {
    version: "2.0",
    routeKey: "$default",
    rawPath: path,
    rawQueryString: query,
    ...(cookies === undefined ? {} : { cookies }),
    headers: {
      accept: "*/*",
      "content-length": String(body?.length ?? 0),
      host: domainName,
      "user-agent": "curl/8.9.1",
      "x-amzn-trace-id": "Root=1-5e6722a7-cc56xmpl46db7ae02d4da47e",
      "x-forwarded-for": "198.51.100.7",
      "x-forwarded-port": "443",
      "x-forwarded-proto": "https",
      ...headers
    },
    requestContext: {
      accountId: "anonymous",
      apiId: "abcdefgh",
      domainName,
      domainPrefix: "abcdefgh",
      http: { method, path, protocol: "HTTP/1.1", sourceIp, userAgent: "curl/8.9.1" },
      requestId: "id",
      routeKey: "$default",
      stage,
      time: "12/Mar/2026:19:03:58 +0000",
      timeEpoch: 1_773_342_238_000
    },
    ...(body === undefined ? {} : { body }),
    isBase64Encoded: base64
  }
}

/** Messages as the event source mapping hands them over. */
export const queueEvent = (bodies: ReadonlyArray<string>) => ({
  Records: bodies.map((body, index) => ({
    messageId: `059f36b4-87a3-44ab-83d2-66197597${index}`,
    receiptHandle: "AQEBwJnKyrHigUMZj6rYigCgxlaS3SLy0a…",
    body,
    attributes: {
      ApproximateReceiveCount: "1",
      SentTimestamp: "1773342238000",
      SenderId: "AIDAIENQZJOLO23YVJ4VO",
      ApproximateFirstReceiveTimestamp: "1773342238001"
    },
    messageAttributes: {},
    md5OfBody: "e4e68fb7bd0e697a0ae8f1bb342846b3",
    eventSource: "aws:sqs",
    eventSourceARN: "arn:aws:sqs:us-east-1:210987654321:postlane-email-defer",
    awsRegion: "us-east-1"
  }))
})

/** Of EventBridge Scheduler, and of a rule with a schedule. */
export const scheduleEvents = ["aws.scheduler", "aws.events"].map((source) => ({
  version: "0",
  id: "53dc4d37-cffa-4f76-80c9-8b7d4a4d2eaa",
  "detail-type": "Scheduled Event",
  source,
  account: "210987654321",
  time: "2026-03-12T19:03:58Z",
  region: "us-east-1",
  resources: ["arn:aws:scheduler:us-east-1:210987654321:schedule/default/postlane"],
  detail: source === "aws.scheduler" ? "{}" : {}
}))
