import { DEFAULT_MODEL } from "../../adapters/bedrock/models.ts"
import { area, open } from "./setting.ts"
import { batchFaults, bucket, decimal, flag, integer, languages, oneOf, text } from "./shapes.ts"

export const conversion = area("Conversion", {
  filesBucket: open("FILES_BUCKET", bucket, { otherwise: "a folder on disk" })`
    Object storage of uploaded files and of results.`,
  heartbeatIntervalMs: open("CHUNK_HEARTBEAT_INTERVAL_MS", integer(10), {
    fallback: "10000",
    unit: "milliseconds"
  })`
    How often a running chunk renews its lease.`,
  modelId: open("HIFI_MODEL_ID", text, { fallback: DEFAULT_MODEL })`
    The high-fidelity model on Bedrock: the id of a model or of an inference profile.`,
  temperature: open("HIFI_TEMPERATURE", decimal, { otherwise: "none is sent" })`
    Temperature of its calls. Newer models refuse any.`,
  withoutModel: open("HIFI_UNAVAILABLE", oneOf(["fail", "standard"]), { fallback: "fail" })`
    What becomes of a conversion that asked for high fidelity and got it on no page. fail: it fails, free of charge, and says so.
    standard: it is completed without it and charged as a standard one. Where only some pages lack it, the result says which.`,
  inputUsdPerMtok: open("HIFI_INPUT_USD_PER_MTOK", decimal, {
    otherwise: "the list price of the model and its profile",
    unit: "USD a million tokens"
  })`
    Price of the model's input. The list prices that are known are those of Claude 4.5 to Opus 4.7 (aws.amazon.com/bedrock/pricing).`,
  outputUsdPerMtok: open("HIFI_OUTPUT_USD_PER_MTOK", decimal, {
    otherwise: "the list price of the model and its profile",
    unit: "USD a million tokens"
  })`
    Price of the model's output. The list prices that are known are those of Claude 4.5 to Opus 4.7 (aws.amazon.com/bedrock/pricing).`,
  ocr: open("OCR", oneOf(["auto", "off"]), { fallback: "auto" })`
    auto: pages whose text layer cannot be used are read from their pictures, on this machine (Tesseract), where no model reads
    them. off: they stay pictures.`,
  ocrLanguages: open("OCR_LANGUAGES", languages, { fallback: "eng,deu,fra,spa" })`
    Languages that scans are read in, the commonest first, by Tesseract's codes. Any other than the four needs its package
    ${"`@tesseract.js-data/CODE`"} installed.`,
  ocrWorkers: open("OCR_WORKERS", integer(1, 64), {
    otherwise: "one less than the processors, 4 at most",
    unit: "threads"
  })`
    Pages that are read at once in a process, each in a thread of some 350 MB that ends when there is nothing to read.`,
  ocrMaxPages: open("OCR_MAX_PAGES", integer(1), { fallback: "2000", unit: "pages" })`
    Scans of a document that are read: those on its first pages. Later ones stay pictures, and say so.`,
  ocrPageSeconds: open("OCR_PAGE_SECONDS", integer(1, 3600), { fallback: "60", unit: "seconds" })`
    Time of a processor (before Node 24.6, by the clock) that a page may take; then it stays a picture. Most take five seconds.`,
  perOwner: open("CONVERSIONS_PER_OWNER", integer(1), { otherwise: "no limit", unit: "pieces of work" })`
    Chunks of one owner that are in progress at once, in all processes together, and as many layout-true results. Owners take turns in
    any case; Word documents and pictures are one at a time.`,
  dailyBudgetUsd: open("MODEL_DAILY_BUDGET_USD", decimal, { otherwise: "no limit", unit: "USD" })`
    What models may cost a day (UTC). Past it, jobs that use a model are paused until the next day, or until it is raised.`
})

export const batch = area("Batch lane", {
  enabled: open("BATCH_CONVERSION_ENABLED", flag, { fallback: "0" })`
    Master switch of the batch lane; read when a job is created and when the driver starts.`,
  bucket: open("BATCH_CONVERSION_S3_BUCKET", bucket)`
    Bucket of batch inputs and outputs; the lane stays off without it.`,
  roleArn: open("BATCH_CONVERSION_ROLE_ARN", text)`
    Service role of the batch jobs; the lane stays off without it.`,
  minPages: open("BATCH_CONVERSION_MIN_PAGES", integer(1), { fallback: "600", unit: "pages" })`
    Fewest pages of a job that is not a bulk item.`,
  minRecords: open("BATCH_CONVERSION_MIN_RECORDS", integer(1), { fallback: "100", unit: "records" })`
    Below this many records a job runs on demand; set it to the account's quota.`,
  maxRecords: open("BATCH_CONVERSION_MAX_RECORDS", integer(1), { fallback: "50000", unit: "records" })`
    Above this many records a job runs on demand; set it to the account's quota.`,
  timeoutHours: open("BATCH_CONVERSION_TIMEOUT_HOURS", integer(0), { fallback: "24", unit: "hours" })`
    Time-out of a batch job, taken as 24 at least and 168 at most; the driver gives up 2 hours after it.`,
  maxFileMb: open("BATCH_CONVERSION_MAX_FILE_MB", integer(1, 1024), { fallback: "200", unit: "MB" })`
    Largest input shard; the provider takes files of 1 GB.`,
  pollSeconds: open("BATCH_CONVERSION_POLL_SECONDS", integer(1), { fallback: "300", unit: "seconds" })`
    How often submitted jobs are polled.`,
  driverTickSeconds: open("BATCH_DRIVER_TICK_SECONDS", integer(1), { fallback: "60", unit: "seconds" })`
    How often the driver looks for work.`,
  localDelaySeconds: open("LOCAL_BATCH_DELAY_SECONDS", decimal, { fallback: "5", unit: "seconds" })`
    Embedded: how long a job of the local batch service waits before it runs.`,
  localFaults: open("LOCAL_BATCH_FAULTS", batchFaults, { otherwise: "nothing" })`
    Embedded, for drills: what goes wrong at the local batch service, such as ${"`failed=0.1 unfinished=0.2 stop=60`"} (shares
    of the records, seconds that a stop takes), ${"`expires`"}, ${"`stops`"} (with ${"`unfinished`"} after the other records)
    or ${"`fails`"}.`
})
