import * as Value from "./readers.ts"
import { hidden, open, vendor } from "./setting.ts"

/** Settings of convert-by-email, of conversion and of the batch lane. */
export const CONVERSION_SETTINGS = {
  SMTP_PORT: open("intake", "Port of the SMTP intake.", Value.port, { fallback: "2525" }),
  SMTP_TLS_CERT: open(
    "intake",
    "File of the certificate (PEM, with its chain) of the SMTP intake. Unset, STARTTLS is not offered.",
    Value.text
  ),
  SMTP_TLS_KEY: open("intake", "File of that certificate's private key (PEM).", Value.text),
  TRUSTED_MAIL_HOPS: open(
    "intake",
    "Names of the mail servers whose Authentication-Results are believed, separated by commas.",
    Value.words,
    { otherwise: "none; embedded on loopback, the peer is trusted; on the edge, mx.cloudflare.net" }
  ),
  TRUSTED_MAIL_PEERS: open(
    "intake",
    "Addresses and networks (such as 10.0.0.0/8) that hand over the mails of the trusted hops, separated by commas, besides this " +
      "machine, the hops' own addresses and what their names lead to.",
    Value.networks,
    { otherwise: "none" }
  ),
  CONVERT_REPLY_CHANNEL: open(
    "intake",
    "How replies go out: workspace (the workspace mail API) or library (the mailer).",
    Value.oneOf(["workspace", "library"]),
    { otherwise: "workspace where MAILAPI_SERVICE_ACCOUNT_KEY is set, else library" }
  ),
  CONVERT_EMAIL_BUCKET: open(
    "intake",
    "Object storage of mails under way. On the edge, the name of an R2 bucket's binding.",
    Value.bucket,
    { fallback: "convert-email-files" }
  ),
  REGISTER_URL: open(
    "intake",
    "Where the reply to an unregistered sender leads to. Unset, a page that says whom to ask.",
    Value.httpUrl,
    { otherwise: "{BASE_URL}/register" }
  ),
  BUY_CREDITS_URL: open(
    "intake",
    "Where the reply to a sender without enough credits leads to. Unset, a page that says whom to ask.",
    Value.httpUrl,
    { otherwise: "{BASE_URL}/credits" }
  ),
  MAILAPI_SERVICE_ACCOUNT_KEY: hidden(
    "intake",
    "Whole JSON of the service-account key with domain-wide delegation.",
    Value.serviceAccountKey
  ),
  MAIL_SENDER: open("intake", "The mailbox that the workspace mail API sends as.", Value.mailbox),
  MAILAPI_BASE_URL: open("intake", "Address of the workspace mail API.", Value.httpUrl, vendor),
  AUTH_URL: open("intake", "Token endpoint of the workspace mail API.", Value.httpUrl, vendor),

  FILES_BUCKET: open("conversion", "Object storage of uploaded files and of results.", Value.bucket, {
    otherwise: "a folder on disk"
  }),
  CHUNK_HEARTBEAT_INTERVAL_MS: open(
    "conversion",
    "How often a running chunk renews its lease.",
    Value.integer(10),
    {
      fallback: "10000",
      unit: "milliseconds"
    }
  ),
  HIFI_MODEL_ID: open("conversion", "The high-fidelity model on Bedrock.", Value.text, {
    fallback: "us.anthropic.claude-sonnet-4-5-20250929-v1:0"
  }),
  HIFI_INPUT_USD_PER_MTOK: open(
    "conversion",
    "Price of the model's input. The default is the model's list price (aws.amazon.com/bedrock/pricing).",
    Value.decimal,
    { fallback: "3", unit: "USD a million tokens" }
  ),
  HIFI_OUTPUT_USD_PER_MTOK: open(
    "conversion",
    "Price of the model's output. The default is the model's list price (aws.amazon.com/bedrock/pricing).",
    Value.decimal,
    { fallback: "15", unit: "USD a million tokens" }
  ),

  MODEL_DAILY_BUDGET_USD: open(
    "conversion",
    "What models may cost a day (UTC). Past it, jobs that use a model are paused until the next day, or until it is raised.",
    Value.decimal,
    { otherwise: "no limit", unit: "USD" }
  ),

  BATCH_CONVERSION_ENABLED: open(
    "batch",
    "Master switch of the batch lane; read when a job is created and when the driver starts.",
    Value.flag,
    { fallback: "0" }
  ),
  BATCH_CONVERSION_S3_BUCKET: open(
    "batch",
    "Bucket of batch inputs and outputs; the lane stays off without it.",
    Value.bucket
  ),
  BATCH_CONVERSION_ROLE_ARN: open(
    "batch",
    "Service role of the batch jobs; the lane stays off without it.",
    Value.text
  ),
  BATCH_CONVERSION_MIN_PAGES: open(
    "batch",
    "Fewest pages of a job that is not a bulk item.",
    Value.integer(1),
    {
      fallback: "600",
      unit: "pages"
    }
  ),
  BATCH_CONVERSION_MIN_RECORDS: open(
    "batch",
    "Below this many records a job runs on demand; set it to the account's quota.",
    Value.integer(1),
    { fallback: "100", unit: "records" }
  ),
  BATCH_CONVERSION_MAX_RECORDS: open(
    "batch",
    "Above this many records a job runs on demand; set it to the account's quota.",
    Value.integer(1),
    { fallback: "50000", unit: "records" }
  ),
  BATCH_CONVERSION_TIMEOUT_HOURS: open(
    "batch",
    "Time-out of a batch job, taken as 24 at least and 168 at most; the driver gives up 2 hours after it.",
    Value.integer(0),
    { fallback: "24", unit: "hours" }
  ),
  BATCH_CONVERSION_MAX_FILE_MB: open(
    "batch",
    "Largest input shard; the provider takes files of 1 GB.",
    Value.integer(1, 1024),
    { fallback: "200", unit: "MB" }
  ),
  BATCH_CONVERSION_POLL_SECONDS: open("batch", "How often submitted jobs are polled.", Value.integer(1), {
    fallback: "300",
    unit: "seconds"
  }),
  BATCH_DRIVER_TICK_SECONDS: open("batch", "How often the driver looks for work.", Value.integer(1), {
    fallback: "60",
    unit: "seconds"
  }),
  LOCAL_BATCH_DELAY_SECONDS: open(
    "batch",
    "Embedded: how long a job of the local batch service waits before it runs.",
    Value.decimal,
    { fallback: "5", unit: "seconds" }
  ),
  LOCAL_BATCH_FAULTS: open(
    "batch",
    "Embedded, for drills: what goes wrong at the local batch service, such as `failed=0.1 unfinished=0.2 stop=60` (shares " +
      "of the records, seconds that a stop takes), `expires`, `stops` (with `unfinished` after the other records) or `fails`.",
    Value.batchFaults,
    { otherwise: "nothing" }
  )
} as const
